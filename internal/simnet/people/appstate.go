package people

import (
	"slices"
	"strconv"

	"go.mau.fi/whatsmeow/proto/waServerSync"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"bridged/internal/simnet/wire"
)

// AnswerAppState stores new patches of an account's collections and returns the patches that a device lacks.
func (n *Directory) AnswerAppState(d *Device, node *Node) wire.Answer {
	request, ok := wire.Child(node, "sync")
	if !ok {
		return wire.BadRequest
	}
	var collections []Node
	for _, asked := range request.GetChildren() {
		collections = append(collections, n.syncCollection(d, &asked))
	}
	return wire.Result(Node{Tag: "sync", Content: collections})
}

func (n *Directory) syncCollection(d *Device, asked *Node) Node {
	name := wire.Text(asked, "name")
	if d.fetched == nil {
		d.fetched = make(map[string]struct{})
	}
	d.fetched[name] = struct{}{}
	n.Notify()
	known, _ := strconv.Atoi(wire.Text(asked, "version"))
	if wire.Text(asked, "return_snapshot") == "true" {
		// All patches from the first one on serve as well as a snapshot.
		known = 0
	}
	patch, sending := wire.Child(asked, "patch")
	if !sending {
		return n.spoiled(d, name, collectionNode(d.Account, name, known))
	}
	if known != len(d.Account.AppState[name]) {
		conflict := collectionNode(d.Account, name, known)
		conflict.Attrs["type"] = "error"
		conflict.Content = append([]Node{{Tag: "error", Attrs: attrs{"code": "409", "text": "conflict"}}}, conflict.GetChildren()...)
		return conflict
	}
	if err := d.Account.addPatch(name, wire.Bytes(*patch)); err != nil {
		n.Log.Warnf("app state patch not understood: %v", err)
		return Node{Tag: "collection", Attrs: attrs{"name": name, "type": "error"}, Content: []Node{
			{Tag: "error", Attrs: attrs{"code": "400", "text": "bad-request"}},
		}}
	}
	n.announceAppState(d, name)
	return Node{Tag: "collection", Attrs: attrs{"name": name, "version": strconv.Itoa(len(d.Account.AppState[name]))}}
}

// ChangeAppState adds a patch to a collection that has a version, and reports whether it still had it.
func (n *Directory) ChangeAppState(d *Device, name string, version int, patch []byte) (changed bool, err error) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	if len(d.Account.AppState[name]) != version {
		return false, nil
	}
	if err := d.Account.addPatch(name, patch); err != nil {
		return false, err
	}
	n.announceAppState(d, name)
	return true, nil
}

// addPatch stores a patch after writing its version, which the sender leaves to the server.
func (a *Account) addPatch(name string, raw []byte) error {
	var patch waServerSync.SyncdPatch
	if err := proto.Unmarshal(raw, &patch); err != nil {
		return err
	}
	patch.Version = &waServerSync.SyncdVersion{Version: proto.Uint64(uint64(len(a.AppState[name]) + 1))}
	numbered, err := proto.Marshal(&patch)
	if err != nil {
		return err
	}
	a.AppState[name] = append(a.AppState[name], numbered)
	return nil
}

func collectionNode(a *Account, name string, known int) Node {
	all := a.AppState[name]
	out := Node{Tag: "collection", Attrs: attrs{"name": name, "version": strconv.Itoa(len(all))}}
	var patches []Node
	for _, patch := range all[min(max(known, 0), len(all)):] {
		patches = append(patches, Node{Tag: "patch", Content: patch})
	}
	out.Content = []Node{{Tag: "patches", Content: patches}}
	return out
}

// announceAppState notifies the account's other devices that a collection has changed.
func (n *Directory) announceAppState(d *Device, name string) {
	for _, other := range d.Account.Sorted() {
		if other == d || other.Number != 0 && !other.Introduced {
			continue
		}
		n.Push(other, Node{Tag: "notification", Attrs: attrs{
			"from": types.ServerJID, "type": "server_sync", "id": n.NextID(), "t": wire.UnixNow(),
		}, Content: []Node{{Tag: "collection", Attrs: attrs{"name": name, "version": strconv.Itoa(len(d.Account.AppState[name]))}}}})
	}
}

// spoiledPatch is a patch that companions get with a wrong hash of the collection, for the next left times; negative is forever.
type spoiledPatch struct{ version, left int }

// spoiled returns a collection with its spoiled patch replaced, if it has one. The caller holds Directory.Mu.
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
