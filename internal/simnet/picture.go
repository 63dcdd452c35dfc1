package simnet

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"time"

	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/wire"
)

// picture is what an account or a group shows of itself: two files on the CDN, which are not encrypted.
type picture struct {
	id string
	// paths and hashes are those of the files, by the type that clients ask for: preview or image.
	paths, hashes map[string]string
}

// SetPicture gives the account a picture, in both sizes, and tells everybody. Without any bytes it takes the picture away.
func (p *Phone) SetPicture(full, preview []byte) {
	shown := p.net.cdn.picture(full, preview)
	p.net.mu.Lock()
	defer p.net.mu.Unlock()
	p.account.picture = shown
	name := p.account.pn()
	if p.options.LIDChats {
		name = p.account.lid()
	}
	for _, number := range slices.Sorted(maps.Keys(p.net.byNumber)) {
		for _, d := range p.net.byNumber[number].sorted() {
			p.net.push(d, p.net.pictureNode(name, name, shown))
		}
	}
}

// HidePicture makes the account show its picture to nobody, or to everybody again.
func (p *Phone) HidePicture(hidden bool) {
	p.net.mu.Lock()
	defer p.net.mu.Unlock()
	p.account.privacy["profile"] = "all"
	if hidden {
		p.account.privacy["profile"] = "none"
	}
}

// SetPicture gives the group a picture, in both sizes, and tells its members. Without any bytes it takes the picture away.
func (g *Group) SetPicture(by *Phone, full, preview []byte) {
	shown := g.net.cdn.picture(full, preview)
	g.net.mu.Lock()
	defer g.net.mu.Unlock()
	inside := g.net.groups[g.JID().User]
	inside.picture = shown
	for _, a := range inside.sorted() {
		for _, d := range a.sorted() {
			g.net.push(d, g.net.pictureNode(inside.jid(), by.account.jid(inside.form(), 0), shown))
		}
	}
}

// pictureNode tells that a picture has changed.
func (n *Network) pictureNode(of, author types.JID, shown *picture) Node {
	change := Node{Tag: "delete", Attrs: attrs{"jid": of, "author": author}}
	if shown != nil {
		change.Tag, change.Attrs["id"] = "set", shown.id
	}
	return Node{Tag: "notification", Attrs: attrs{"from": of, "type": "picture", "id": n.nextID(), "t": wire.UnixNow()}, Content: []Node{change}}
}

// answerPicture says where the picture of an account or a group is.
func (n *Network) answerPicture(d *Device, node *Node) wire.Answer {
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
	case wire.Text(request, "id") == shown.id:
		return wire.Result(Node{Tag: "picture", Attrs: attrs{"status": "304"}})
	}
	kind := "image"
	if wire.Text(request, "type") == "preview" {
		kind = "preview"
	}
	direct := shown.paths[kind] + "?ccb=11-4&oh=simulated&oe=simulated&_nc_sid=5e03e0"
	return wire.Result(Node{Tag: "picture", Attrs: attrs{
		"id": shown.id, "type": kind, "url": "https://" + n.Addr() + direct, "direct_path": direct, "hash": shown.hashes[kind],
	}})
}

// pictureOf returns a picture, and whether a device may see it.
func (n *Network) pictureOf(d *Device, jid types.JID) (shown *picture, visible bool) {
	if jid.Server == types.GroupServer {
		g := n.groups[jid.User]
		if g == nil {
			return nil, true
		}
		return g.picture, g.members[d.account] != nil
	}
	a := n.account(jid)
	if a == nil {
		return nil, true
	}
	return a.picture, a == d.account || a.privacy["profile"] != "none"
}

// PictureQueries returns how often clients have asked where a picture is.
func (n *Network) PictureQueries() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.pictureQueries
}

// picture puts the files of a picture on the CDN; nil where there are none.
func (c *CDN) picture(full, preview []byte) *picture {
	if len(full) == 0 {
		return nil
	}
	shown := &picture{id: strconv.FormatInt(time.Now().UnixNano(), 10), paths: map[string]string{}, hashes: map[string]string{}}
	c.mu.Lock()
	defer c.mu.Unlock()
	for kind, data := range map[string][]byte{"image": full, "preview": preview} {
		hash := sha256.Sum256(data)
		path := "/v/t61.24694-24/" + hex.EncodeToString(wire.Random(16)) + "_n.jpg"
		c.blobs[path] = &blob{data: slices.Clone(data), hash: hash, at: time.Now()}
		shown.paths[kind], shown.hashes[kind] = path, base64.StdEncoding.EncodeToString(hash[:])
	}
	return shown
}
