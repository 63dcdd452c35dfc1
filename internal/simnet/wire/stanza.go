package wire

import (
	"crypto/rand"
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
	// Node is a stanza or a part of one, as whatsmeow's codec defines it.
	Node = waBinary.Node
	// Attrs holds the attributes of a Node.
	Attrs = waBinary.Attrs
)

// Bytes returns a node's content, which the codec decodes as a string if it looks like a token or a number.
func Bytes(n Node) []byte {
	switch content := n.Content.(type) {
	case []byte:
		return content
	case string:
		return []byte(content)
	}
	return nil
}

// Text reads an attribute that is not a JID.
func Text(n *Node, key string) string {
	s, _ := n.Attrs[key].(string)
	return s
}

// JID reads an attribute that is a JID.
func JID(n *Node, key string) types.JID {
	jid, _ := n.Attrs[key].(types.JID)
	return jid
}

// Child descends through the first children with these tags. Unlike whatsmeow's own methods, which return the parent, it returns an empty
// node if there is none.
func Child(n *Node, tags ...string) (*Node, bool) {
	if found, ok := n.GetOptionalChildByTag(tags...); ok {
		return &found, true
	}
	return &Node{}, false
}

// ChildBytes returns the content of such a child, or nil.
func ChildBytes(n *Node, tags ...string) []byte {
	found, _ := Child(n, tags...)
	return Bytes(*found)
}

// Set adds an attribute unless its value is empty: the codec does not write empty ones.
func Set(a Attrs, key string, value any) {
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

// With returns a copy of a node with one more attribute.
func With(n Node, key string, value any) Node {
	n.Attrs = maps.Clone(n.Attrs)
	n.Attrs[key] = value
	return n
}

// UnixNow returns the current time in the form of stanzas.
func UnixNow() string { return strconv.FormatInt(time.Now().Unix(), 10) }

// ParticipantHash returns the hash by which both sides check that they mean the same devices.
func ParticipantHash(devices []types.JID) string {
	names := make([]string, len(devices))
	for i, d := range devices {
		names[i] = d.ADString()
	}
	slices.Sort(names)
	sum := sha256.Sum256([]byte(strings.Join(names, "")))
	return "2:" + base64.RawStdEncoding.EncodeToString(sum[:6])
}

// Digits keeps only the digits of a phone number.
func Digits(number string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, number)
}

// MustMarshal marshals a message of plain values, which cannot fail.
func MustMarshal(msg proto.Message) []byte {
	raw, err := proto.Marshal(msg)
	if err != nil {
		panic(fmt.Errorf("marshal %T: %w", msg, err))
	}
	return raw
}

// ECDH returns the secret that two key pairs share.
func ECDH(private, public [32]byte) ([]byte, error) {
	return curve25519.X25519(private[:], public[:])
}

// OtherForm returns the server name of the other form of an address: number for LID, and LID for number.
func OtherForm(form string) string {
	if form == types.HiddenUserServer {
		return types.DefaultUserServer
	}
	return types.HiddenUserServer
}

// ShortForm returns the name of a form of address in attributes.
func ShortForm(form string) string {
	if form == types.HiddenUserServer {
		return "lid"
	}
	return "pn"
}

// Random never fails: crypto/rand ends the program rather than return an error.
func Random(n int) []byte {
	out := make([]byte, n)
	_, _ = rand.Read(out)
	return out
}

// Either returns one of two texts.
func Either(condition bool, yes, no string) string {
	if condition {
		return yes
	}
	return no
}
