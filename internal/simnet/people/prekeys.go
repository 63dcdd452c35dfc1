package people

import (
	"crypto/sha1"
	"encoding/binary"
	"strconv"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/whatsmeow/proto/waCompanionReg"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/util/keys"
	"google.golang.org/protobuf/proto"

	"bridged/internal/simnet/wire"
)

// KeyBundle holds the keys of a device that is offline, so that others can begin a session with it.
type KeyBundle struct {
	registration []byte
	signed       Node
	oneTime      []Node
}

// NewDevice returns a device of the account that runs the phone app, with its uploaded keys.
func (a *Account) NewDevice(number uint16, noise, identity [32]byte, registration uint32, signed *keys.PreKey, stock []*keys.PreKey) *Device {
	d := &Device{
		net: a.net, Account: a, Number: number, KeyIndex: uint32(number), Noise: noise, Identity: identity,
		Props: &waCompanionReg.DeviceProps{Os: proto.String("Android")},
	}
	d.keys = NewKeyBundle(binary.BigEndian.AppendUint32(nil, registration), keyID(signed.KeyID), signed.Pub[:], signed.Signature[:])
	for _, key := range stock {
		d.keys.oneTime = append(d.keys.oneTime, Node{Tag: "key", Content: []Node{
			{Tag: "id", Content: keyID(key.KeyID)}, {Tag: "value", Content: key.Pub[:]},
		}})
	}
	return d
}

// NewCompanion returns a device of the account that is being linked, under a new number. The caller holds Directory.Mu.
func (a *Account) NewCompanion(noise, identity [32]byte, keys KeyBundle, props *waCompanionReg.DeviceProps, display string) *Device {
	a.keyIndex++
	return &Device{
		net: a.net, Account: a, Number: a.freeDevice(), Props: props, display: display,
		Noise: noise, Identity: identity, keys: keys, KeyIndex: a.keyIndex,
	}
}

// LowKeys is the number of one-time keys at which the server asks for more, as whatsmeow expects.
const LowKeys = 5

// AnswerKeys handles queries that count, upload, rotate, digest or fetch pre-keys.
func (n *Directory) AnswerKeys(d *Device, node *Node, setting bool) wire.Answer {
	if setting {
		defer n.Notify()
		if rotation, ok := wire.Child(node, "rotate"); ok {
			return rotateSignedKey(d, rotation)
		}
		return storeKeys(d, node)
	}
	if _, ok := wire.Child(node, "digest"); ok {
		return d.keys.digest(d.Identity)
	}
	if wanted, ok := wire.Child(node, "key"); ok {
		return n.answerKeys(wanted)
	}
	if _, ok := wire.Child(node, "count"); ok {
		count := len(d.keys.oneTime)
		if n.FewKeys {
			count = max(count, 1)
		}
		return wire.Result(Node{Tag: "count", Attrs: attrs{"value": strconv.Itoa(count)}})
	}
	return wire.BadRequest
}

func storeKeys(d *Device, node *Node) wire.Answer {
	identity := wire.ChildBytes(node, "identity")
	signed, ok := wire.Child(node, "skey")
	list, _ := wire.Child(node, "list")
	if len(identity) != 32 || !ok {
		return wire.BadRequest
	}
	// Uploading keys cannot change a device's identity: the account has signed the one it was linked with.
	if [32]byte(identity) != d.Identity {
		return wire.Refuse(409, "conflict")
	}
	d.keys.registration = wire.ChildBytes(node, "registration")
	d.keys.signed = plainKey(signed)
	known := make(map[string]struct{}, len(d.keys.oneTime))
	for i := range d.keys.oneTime {
		known[string(wire.ChildBytes(&d.keys.oneTime[i], "id"))] = struct{}{}
	}
	for _, key := range list.GetChildren() {
		if _, twice := known[string(wire.ChildBytes(&key, "id"))]; !twice {
			d.keys.oneTime = append(d.keys.oneTime, plainKey(&key))
		}
	}
	return wire.Result()
}

// rotateSignedKey replaces the signed key alone. Sessions that others begin from now on use the new one.
func rotateSignedKey(d *Device, rotation *Node) wire.Answer {
	signed, ok := wire.Child(rotation, "skey")
	if !ok || len(wire.ChildBytes(signed, "value")) != 32 || len(wire.ChildBytes(signed, "signature")) != 64 {
		return wire.BadRequest
	}
	d.keys.signed = plainKey(signed)
	return wire.Result()
}

// digest returns a hash of the stored keys for the device to compare with its own. The fields that it covers are a guess.
func (b *KeyBundle) digest(identity [32]byte) wire.Answer {
	if b.signed.Tag == "" {
		return wire.ItemNotFound
	}
	hash := sha1.New()
	hash.Write(identity[:])
	hash.Write(wire.ChildBytes(&b.signed, "value"))
	hash.Write(wire.ChildBytes(&b.signed, "signature"))
	ids := make([]Node, len(b.oneTime))
	for i := range b.oneTime {
		ids[i] = Node{Tag: "id", Content: wire.ChildBytes(&b.oneTime[i], "id")}
		hash.Write(wire.ChildBytes(&b.oneTime[i], "value"))
	}
	return wire.Result(Node{Tag: "digest", Content: []Node{
		{Tag: "registration", Content: b.registration},
		{Tag: "type", Content: []byte{ecc.DjbType}},
		{Tag: "identity", Content: identity[:]},
		b.signed,
		{Tag: "list", Content: ids},
		{Tag: "hash", Content: hash.Sum(nil)},
	}})
}

// plainKey returns a copy of a key with all of its parts as bytes, which the codec may have decoded as tokens.
func plainKey(key *Node) Node {
	out := Node{Tag: key.Tag}
	var parts []Node
	for _, part := range key.GetChildren() {
		parts = append(parts, Node{Tag: part.Tag, Content: wire.Bytes(part)})
	}
	out.Content = parts
	return out
}

// answerKeys answers with key bundles and gives every one-time key away only once.
func (n *Directory) answerKeys(wanted *Node) wire.Answer {
	var users []Node
	for _, user := range wanted.GetChildren() {
		jid := wire.JID(&user, "jid")
		d := n.DeviceOf(jid)
		if d == nil || d.keys.signed.Tag == "" {
			users = append(users, Node{Tag: "user", Attrs: attrs{"jid": jid}, Content: []Node{
				{Tag: "error", Attrs: attrs{"code": "404", "text": "item-not-found"}},
			}})
			continue
		}
		users = append(users, n.bundleNode(jid, d))
	}
	return wire.Result(Node{Tag: "list", Content: users})
}

func (n *Directory) bundleNode(asked types.JID, d *Device) Node {
	content := []Node{
		{Tag: "registration", Content: d.keys.registration},
		{Tag: "type", Content: []byte{ecc.DjbType}},
		{Tag: "identity", Content: append([]byte(nil), d.Identity[:]...)},
		d.keys.signed,
	}
	if len(d.keys.oneTime) > 0 {
		content = append(content, d.keys.oneTime[0])
		d.keys.oneTime = d.keys.oneTime[1:]
		d.Count.KeysTaken++
		if len(d.keys.oneTime) < LowKeys {
			n.askForKeys(d)
		}
	}
	return Node{Tag: "user", Attrs: attrs{"jid": asked, "t": wire.UnixNow()}, Content: content}
}

func (n *Directory) askForKeys(d *Device) {
	n.Push(d, Node{Tag: "notification", Attrs: attrs{
		"from": types.ServerJID, "type": "encrypt", "id": n.NextID(), "t": wire.UnixNow(),
	}, Content: []Node{{Tag: "count", Attrs: attrs{"value": strconv.Itoa(len(d.keys.oneTime))}}}})
}

// NewKeyBundle returns a bundle without one-time keys.
func NewKeyBundle(registration, id, value, signature []byte) KeyBundle {
	return KeyBundle{registration: registration, signed: Node{Tag: "skey", Content: []Node{
		{Tag: "id", Content: id}, {Tag: "value", Content: value}, {Tag: "signature", Content: signature},
	}}}
}

// keyID encodes a key's number in three bytes, as on the wire.
func keyID(id uint32) []byte {
	var four [4]byte
	binary.BigEndian.PutUint32(four[:], id)
	return four[1:]
}
