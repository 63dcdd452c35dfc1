package simnet

import (
	"crypto/sha1"
	"strconv"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/whatsmeow/types"
)

// keyBundle is what the server keeps so that others can begin a session with a device that is away.
type keyBundle struct {
	registration []byte
	signed       Node
	oneTime      []Node
}

// lowKeys is the number of one-time keys below which the server asks for more, as whatsmeow expects.
const lowKeys = 5

// answerKeys counts, stores, replaces, describes and hands out pre-keys.
func (n *Network) answerKeys(d *Device, node *Node, setting bool) answer {
	if setting {
		defer n.notify()
		if rotation, ok := child(node, "rotate"); ok {
			return rotateSignedKey(d, rotation)
		}
		return storeKeys(d, node)
	}
	if _, ok := child(node, "digest"); ok {
		return d.keys.digest(d.identity)
	}
	if wanted, ok := child(node, "key"); ok {
		return n.handKeys(wanted)
	}
	if _, ok := child(node, "count"); ok {
		return result(Node{Tag: "count", Attrs: attrs{"value": strconv.Itoa(len(d.keys.oneTime))}})
	}
	return badRequest
}

func storeKeys(d *Device, node *Node) answer {
	identity := childBytes(node, "identity")
	signed, ok := child(node, "skey")
	list, _ := child(node, "list")
	if len(identity) != 32 || !ok {
		return badRequest
	}
	// A device cannot change its identity by uploading keys: its account signed the one it was linked with.
	if [32]byte(identity) != d.identity {
		return refuse(409, "conflict")
	}
	d.keys.registration = childBytes(node, "registration")
	d.keys.signed = plainKey(signed)
	known := make(map[string]struct{}, len(d.keys.oneTime))
	for i := range d.keys.oneTime {
		known[string(childBytes(&d.keys.oneTime[i], "id"))] = struct{}{}
	}
	for _, key := range list.GetChildren() {
		if _, twice := known[string(childBytes(&key, "id"))]; !twice {
			d.keys.oneTime = append(d.keys.oneTime, plainKey(&key))
		}
	}
	return result()
}

// rotateSignedKey replaces the signed key alone. Sessions that others begin from now on use the new one.
func rotateSignedKey(d *Device, rotation *Node) answer {
	signed, ok := child(rotation, "skey")
	if !ok || len(childBytes(signed, "value")) != 32 || len(childBytes(signed, "signature")) != 64 {
		return badRequest
	}
	d.keys.signed = plainKey(signed)
	return result()
}

// digest describes the stored keys, so that their device can see whether it has the same ones. What the hash covers is a guess.
func (b *keyBundle) digest(identity [32]byte) answer {
	if b.signed.Tag == "" {
		return itemNotFound
	}
	hash := sha1.New()
	hash.Write(identity[:])
	hash.Write(childBytes(&b.signed, "value"))
	hash.Write(childBytes(&b.signed, "signature"))
	ids := make([]Node, len(b.oneTime))
	for i := range b.oneTime {
		ids[i] = Node{Tag: "id", Content: childBytes(&b.oneTime[i], "id")}
		hash.Write(childBytes(&b.oneTime[i], "value"))
	}
	return result(Node{Tag: "digest", Content: []Node{
		{Tag: "registration", Content: b.registration},
		{Tag: "type", Content: []byte{ecc.DjbType}},
		{Tag: "identity", Content: identity[:]},
		b.signed,
		{Tag: "list", Content: ids},
		{Tag: "hash", Content: hash.Sum(nil)},
	}})
}

// plainKey copies a key with all of its parts as bytes: parts may have been decoded as tokens.
func plainKey(key *Node) Node {
	out := Node{Tag: key.Tag}
	var parts []Node
	for _, part := range key.GetChildren() {
		parts = append(parts, Node{Tag: part.Tag, Content: bytesOf(part)})
	}
	out.Content = parts
	return out
}

// handKeys gives every one-time key away only once.
func (n *Network) handKeys(wanted *Node) answer {
	var users []Node
	for _, user := range wanted.GetChildren() {
		jid := jidOf(&user, "jid")
		d := n.device(jid)
		if d == nil || d.keys.signed.Tag == "" {
			users = append(users, Node{Tag: "user", Attrs: attrs{"jid": jid}, Content: []Node{
				{Tag: "error", Attrs: attrs{"code": "404", "text": "item-not-found"}},
			}})
			continue
		}
		users = append(users, n.bundleNode(jid, d))
	}
	return result(Node{Tag: "list", Content: users})
}

func (n *Network) bundleNode(asked types.JID, d *Device) Node {
	content := []Node{
		{Tag: "registration", Content: d.keys.registration},
		{Tag: "type", Content: []byte{ecc.DjbType}},
		{Tag: "identity", Content: append([]byte(nil), d.identity[:]...)},
		d.keys.signed,
	}
	if len(d.keys.oneTime) > 0 {
		content = append(content, d.keys.oneTime[0])
		d.keys.oneTime = d.keys.oneTime[1:]
		d.counters.KeysTaken++
		if len(d.keys.oneTime) < lowKeys {
			n.askForKeys(d)
		}
	}
	return Node{Tag: "user", Attrs: attrs{"jid": asked, "t": unixNow()}, Content: content}
}

func (n *Network) askForKeys(d *Device) {
	n.push(d, Node{Tag: "notification", Attrs: attrs{
		"from": types.ServerJID, "type": "encrypt", "id": n.nextID(), "t": unixNow(),
	}, Content: []Node{{Tag: "count", Attrs: attrs{"value": strconv.Itoa(len(d.keys.oneTime))}}}})
}
