package groups

import (
	"bytes"
	"image"
	"image/jpeg"

	"golang.org/x/image/draw"

	"bridged/internal/simnet/media"
	"bridged/internal/simnet/people"
	"bridged/internal/simnet/wire"
)

// Sides of pictures in pixels: what clients upload has to be a square, and the network makes a preview of it.
const (
	minPicture  = 192
	maxPicture  = 640
	previewSide = 96
)

// ChangePicture handles a member's request for a new picture of a group, or for the end of the old one.
func (n *Registry) ChangePicture(d *people.Device, g *Group, node *Node) wire.Answer {
	switch m := g.Members[d.Account]; {
	case m == nil, g.Locked && !m.IsAdmin():
		return wire.NotAuthorized
	}
	request, given := wire.Child(node, "picture")
	if !given {
		if g.Picture == nil {
			return wire.ItemNotFound
		}
		n.SetPicture(g, d.Account, nil)
		return wire.Result()
	}
	shown := n.uploaded(request)
	if shown == nil {
		return wire.NotAcceptable
	}
	n.SetPicture(g, d.Account, shown)
	return wire.Result(Node{Tag: "picture", Attrs: attrs{"id": g.Picture.ID, "type": "image"}})
}

// ChangeOwnPicture handles a device's request for a new picture of its account, or for the end of the old one.
func (n *Registry) ChangeOwnPicture(d *people.Device, node *Node) wire.Answer {
	request, given := wire.Child(node, "picture")
	if !given {
		if d.Account.Picture == nil {
			return wire.ItemNotFound
		}
		n.ShowPicture(d.Account, nil)
		return wire.Result()
	}
	shown := n.uploaded(request)
	if shown == nil {
		return wire.NotAcceptable
	}
	n.ShowPicture(d.Account, shown)
	return wire.Result(Node{Tag: "picture", Attrs: attrs{"id": shown.ID, "type": "image"}})
}

// uploaded stores the picture in a request, or returns nil if the network refuses it.
func (n *Registry) uploaded(request *Node) *media.Picture {
	full := wire.Bytes(*request)
	preview := previewOf(full)
	if preview == nil {
		return nil
	}
	return n.CDN().Picture(full, preview)
}

// previewOf returns a small JPEG of a picture, or nil if the network refuses the picture.
func previewOf(full []byte) []byte {
	picture, err := jpeg.Decode(bytes.NewReader(full))
	if err != nil {
		return nil
	}
	size := picture.Bounds().Size()
	if size.X != size.Y || size.X < minPicture || size.X > maxPicture {
		return nil
	}
	small := image.NewRGBA(image.Rect(0, 0, previewSide, previewSide))
	draw.ApproxBiLinear.Scale(small, small.Rect, picture, picture.Bounds(), draw.Src, nil)
	var out bytes.Buffer
	if jpeg.Encode(&out, small, nil) != nil {
		return nil
	}
	return out.Bytes()
}

// SetPicture changes a group's picture, nil if none, and notifies the members. The caller holds Mu.
func (n *Registry) SetPicture(g *Group, by *people.Account, picture *media.Picture) {
	g.Picture = picture
	for _, who := range g.Sorted() {
		for _, d := range who.Sorted() {
			n.Push(d, n.PictureNode(g.JID(), by.Address(g.Form(), 0), picture))
		}
	}
	n.Notify()
}
