package server

import (
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/media"
	"bridged/internal/simnet/people"
	"bridged/internal/simnet/wire"
)

// answerPicture returns the location of an account's or a group's picture, or changes that of a group or of the device's own account.
func (n *Server) answerPicture(d *people.Device, node *Node, set bool) wire.Answer {
	if set && wire.Text(node, "target") == "" && wire.JID(node, "target").IsEmpty() {
		return n.ChangeOwnPicture(d, node)
	}
	if set {
		g := n.Groups[wire.JID(node, "target").User]
		if g == nil {
			return wire.ItemNotFound
		}
		return n.ChangePicture(d, g, node)
	}
	request, ok := wire.Child(node, "picture")
	if !ok || wire.Text(request, "query") != "url" {
		return wire.BadRequest
	}
	n.pictureQueries++
	shown, visible := n.pictureOf(d, wire.JID(node, "target"))
	switch {
	case !visible:
		return wire.NotAuthorized
	case shown == nil:
		return wire.ItemNotFound
	case wire.Text(request, "id") == shown.ID:
		return wire.Result(Node{Tag: "picture", Attrs: attrs{"status": "304"}})
	}
	kind := "image"
	if wire.Text(request, "type") == "preview" {
		kind = "preview"
	}
	direct := shown.Paths[kind] + "?ccb=11-4&oh=simulated&oe=simulated&_nc_sid=5e03e0"
	return wire.Result(Node{Tag: "picture", Attrs: attrs{
		"id": shown.ID, "type": kind, "url": "https://" + n.Addr() + direct, "direct_path": direct, "hash": shown.Hashes[kind],
	}})
}

// pictureOf returns a picture and whether a device may see it.
func (n *Server) pictureOf(d *people.Device, jid types.JID) (shown *media.Picture, visible bool) {
	if jid.Server == types.GroupServer {
		g := n.Groups[jid.User]
		if g == nil {
			return nil, true
		}
		return g.Picture, g.Members[d.Account] != nil
	}
	a := n.AccountOf(jid)
	if a == nil {
		return nil, true
	}
	return a.Picture, a == d.Account || a.Privacy["profile"] != "none"
}

// PictureQueries returns how often clients have asked for the location of a picture.
func (n *Server) PictureQueries() int {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	return n.pictureQueries
}
