package simnet

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
	"golang.org/x/crypto/curve25519"
	"google.golang.org/protobuf/proto"
)

type (
	// Node is a stanza or a part of one, as whatsmeow's codec has it.
	Node  = waBinary.Node
	attrs = waBinary.Attrs
)

// bytesOf returns a node's content, which the codec decodes as a string if it looks like a token or a number.
func bytesOf(n Node) []byte {
	switch content := n.Content.(type) {
	case []byte:
		return content
	case string:
		return []byte(content)
	}
	return nil
}

// text reads an attribute that is not a JID.
func text(n *Node, key string) string {
	s, _ := n.Attrs[key].(string)
	return s
}

// jidOf reads an attribute that is a JID.
func jidOf(n *Node, key string) types.JID {
	jid, _ := n.Attrs[key].(types.JID)
	return jid
}

// child finds the first child with a tag, of the first child with the tag before it. If there is none it is an empty node, where
// whatsmeow's own methods give the parent.
func child(n *Node, tags ...string) (*Node, bool) {
	if found, ok := n.GetOptionalChildByTag(tags...); ok {
		return &found, true
	}
	return &Node{}, false
}

// childBytes returns the content of a child, nil if there is none.
func childBytes(n *Node, tags ...string) []byte {
	found, _ := child(n, tags...)
	return bytesOf(*found)
}

// set adds an attribute unless its value says nothing: the codec does not write empty ones.
func set(a attrs, key string, value any) {
	switch v := value.(type) {
	case types.JID:
		if v.IsEmpty() {
			return
		}
	case string:
		if v == "" {
			return
		}
	case nil:
		return
	}
	a[key] = value
}

// with returns a copy of a node with one more attribute.
func with(n Node, key string, value any) Node {
	n.Attrs = maps.Clone(n.Attrs)
	n.Attrs[key] = value
	return n
}

func unixNow() string { return strconv.FormatInt(time.Now().Unix(), 10) }

// participantHash returns the hash that both sides compare to see whether they mean the same devices.
func participantHash(devices []types.JID) string {
	names := make([]string, len(devices))
	for i, d := range devices {
		names[i] = d.ADString()
	}
	slices.Sort(names)
	sum := sha256.Sum256([]byte(strings.Join(names, "")))
	return "2:" + base64.RawStdEncoding.EncodeToString(sum[:6])
}

// digits keeps only the digits of a phone number.
func digits(number string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, number)
}

// mustMarshal marshals a message made here of plain values, which cannot fail.
func mustMarshal(msg proto.Message) []byte {
	raw, err := proto.Marshal(msg)
	if err != nil {
		panic(fmt.Errorf("marshal %T: %w", msg, err))
	}
	return raw
}

func ecdh(private, public [32]byte) ([]byte, error) {
	return curve25519.X25519(private[:], public[:])
}
