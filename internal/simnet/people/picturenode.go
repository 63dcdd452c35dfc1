package people

import (
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/media"
	"bridged/internal/simnet/wire"
)

// PictureNode tells that a picture has changed.
func (n *Directory) PictureNode(of, author types.JID, shown *media.Picture) Node {
	change := Node{Tag: "delete", Attrs: attrs{"jid": of, "author": author}}
	if shown != nil {
		change.Tag, change.Attrs["id"] = "set", shown.ID
	}
	return Node{Tag: "notification", Attrs: attrs{"from": of, "type": "picture", "id": n.NextID(), "t": wire.UnixNow()}, Content: []Node{change}}
}
