package people

import (
	"slices"

	"go.mau.fi/whatsmeow/proto/waServerSync"
	"google.golang.org/protobuf/proto"

	"bridged/internal/simnet/wire"
)

// spoiledPatch is a patch that companions get with a wrong hash of the collection.
type spoiledPatch struct{ version, left int }

// spoiled returns a collection with the patch that is spoiled, where it has it. The caller holds Directory.Mu.
func (n *Directory) spoiled(d *Device, name string, collection Node) Node {
	spoiled := d.Account.spoiled[name]
	patches, ok := wire.Child(&collection, "patches")
	if d.Number == 0 || spoiled == nil || spoiled.left == 0 || !ok {
		return collection
	}
	list := slices.Clone(patches.GetChildren())
	for i, node := range list {
		var patch waServerSync.SyncdPatch
		if err := proto.Unmarshal(wire.Bytes(node), &patch); err != nil || int(patch.GetVersion().GetVersion()) != spoiled.version {
			continue
		}
		patch.SnapshotMAC = slices.Clone(patch.GetSnapshotMAC())
		patch.SnapshotMAC[0] ^= 1
		raw, err := proto.Marshal(&patch)
		if err != nil {
			n.Log.Warnf("spoil a patch: %v", err)
			return collection
		}
		list[i] = Node{Tag: "patch", Content: raw}
		spoiled.left--
	}
	collection.Content = []Node{{Tag: "patches", Content: list}}
	return collection
}
