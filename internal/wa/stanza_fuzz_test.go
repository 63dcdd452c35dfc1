package wa_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/fuzzbudget"
	"bridged/internal/longtest"
)

// perStanza bounds the cost of a stanza that is read, acknowledged and, if it is a
// message, stored as a placeholder.
var perStanza = fuzzbudget.Budget{Base: 16 << 20, PerByte: 1 << 10, Time: 2 * time.Second}

// TestStanzas_WithOddParts changes one part of a stanza of each kind at a time: it removes
// an attribute or a child, gives it another type, or nests it deeply. whatsmeow recovers
// no panic in its own parsing, and the network delivers an unacknowledged stanza again, so
// such a stanza would end the process at each start.
func TestStanzas_WithOddParts(t *testing.T) {
	lab, tried := newLab(t), 0
	for _, stanza := range lab.stanzas() {
		lab.receive(t, stanza)
		for at := range flatten(&stanza) {
			for op := range oddities {
				odd := copyNode(stanza)
				if oddities[op](flatten(&odd)[at]) {
					lab.receive(t, odd)
				}
			}
			for name := range flatten(&stanza)[at].Attrs {
				tried++
				for i, value := range oddValues {
					if (i+tried)%longtest.Else(4, 1) != 0 { // each attribute takes others of the values
						continue
					}
					odd := copyNode(stanza)
					setAttr(flatten(&odd)[at], name, value)
					lab.receive(t, odd)
				}
			}
		}
	}
	lab.wantAlive(t)
}

// TestStanzas_PairSuccessWithoutAnID shows that it ends nothing, as whatsmeow panics on it.
func TestStanzas_PairSuccessWithoutAnID(t *testing.T) {
	network := newNetwork(t)
	a := startAccount(t, network, t.TempDir())
	eventually(t, "a QR code", func() bool { return a.shownQR() != "" })
	success := node{Tag: "iq", Attrs: attrs{"from": types.ServerJID, "type": "set"}, Content: nodes{{Tag: "pair-success"}}}
	if err := a.manager.Receive(testContext(t), mustMarshal(success)); err != nil {
		t.Fatal(err)
	}
	a.phone = newPhone(t, network, accountNumber, "Alex")
	a.pair()
}

// FuzzStanzas makes several changes to one stanza.
func FuzzStanzas(f *testing.F) {
	lab := newLab(f)
	seeds := lab.stanzas()
	for i := range seeds {
		f.Add(i, []byte{0, 1, 2, 3})
	}
	f.Fuzz(func(t *testing.T, seed int, program []byte) {
		odd := copyNode(seeds[uint(seed)%uint(len(seeds))])
		for ; len(program) >= 4; program = program[4:] {
			mutate(&odd, [4]byte(program))
		}
		perStanza.Check(t, len(mustMarshal(odd)), func() { lab.receive(t, odd) })
		lab.wantAlive(t)
	})
}

// receive takes a stanza through whatsmeow and the bridge as if it had just been
// decrypted.
func (l *lab) receive(t *testing.T, stanza waBinary.Node) {
	t.Helper()
	defer func() {
		if err := recover(); err != nil {
			t.Fatalf("a panic: %v\nthe stanza: %s", err, &stanza)
		}
	}()
	if err := l.manager.Receive(testContext(t), mustMarshal(stanza)); err != nil {
		t.Fatalf("%v\nthe stanza: %s", err, &stanza)
	}
}

// wantAlive fails the test unless the account is open and receives.
func (l *lab) wantAlive(t *testing.T) {
	t.Helper()
	l.count++
	text := fmt.Sprint("still there? ", l.count)
	if _, err := l.friend.SendText(testContext(t), l.phone.PN(), text); err != nil {
		t.Fatal(err)
	}
	eventually(t, text, func() bool {
		page, err := l.store.Messages(testContext(t), bridge.MessageQuery{Chat: jidOf(l.friend), Order: bridge.OrderDesc, Limit: 1000})
		return err == nil && slices.ContainsFunc(page.Items, func(m bridge.Message) bool { return m.Content == text })
	})
}

// mustMarshal encodes a stanza as the network does.
func mustMarshal(stanza waBinary.Node) []byte {
	frame, err := waBinary.Marshal(stanza)
	if err != nil {
		panic(err)
	}
	return frame
}

// flatten returns a node and all nodes in it.
func flatten(n *waBinary.Node) []*waBinary.Node {
	all := []*waBinary.Node{n}
	children := n.GetChildren()
	for i := range children {
		all = append(all, flatten(&children[i])...)
	}
	return all
}

func copyNode(n waBinary.Node) waBinary.Node {
	n.Attrs = maps.Clone(n.Attrs)
	if children := n.GetChildren(); children != nil {
		n.Content = slices.Clone(children)
		for i := range children {
			n.Content.(nodes)[i] = copyNode(children[i])
		}
	}
	return n
}

// oddValues lists values that no attribute expects; nil removes it.
var oddValues = []any{nil, "", "odd", "-1", "99999999999999999999", "1e9", types.JID{}, types.NewJID("", types.GroupServer), types.NewJID("7", types.HiddenUserServer), types.NewJID("a\x00b", "odd.server")}

func setAttr(n *waBinary.Node, name string, value any) {
	if value == nil {
		delete(n.Attrs, name)
		return
	}
	if n.Attrs == nil {
		n.Attrs = attrs{}
	}
	n.Attrs[name] = value
}

// oddities change a node, and report whether it has what they change.
var oddities = []func(n *waBinary.Node) bool{
	func(n *waBinary.Node) bool { n.Content = nil; return true },
	func(n *waBinary.Node) bool { n.Content = []byte{}; return true },
	func(n *waBinary.Node) bool { n.Content = []byte("odd"); return true },
	func(n *waBinary.Node) bool { n.Content = "read"; return true }, // a token of the codec: decoded as a string
	func(n *waBinary.Node) bool { n.Content = slices.Repeat([]byte{0xff}, 300); return true },
	func(n *waBinary.Node) bool { n.Content = nodes{}; return true },
	func(n *waBinary.Node) bool { n.Content = nodes{{Tag: "odd"}, {Tag: "odd"}}; return true },
	func(n *waBinary.Node) bool { n.Attrs = nil; return true },
	func(n *waBinary.Node) bool {
		children := n.GetChildren()
		n.Content = append(slices.Clone(children), children...)
		return len(children) > 0
	},
	func(n *waBinary.Node) bool { // deep
		for range 2000 {
			*n = waBinary.Node{Tag: n.Tag, Attrs: n.Attrs, Content: nodes{*n}}
		}
		return true
	},
}

// mutate makes the change that four bytes name.
func mutate(n *waBinary.Node, by [4]byte) {
	all := flatten(n)
	at := all[int(by[0])%len(all)]
	if len(all) > 5000 {
		return
	}
	if names := slices.Sorted(maps.Keys(at.Attrs)); by[1]&1 == 0 && len(names) > 0 {
		setAttr(at, names[int(by[2])%len(names)], oddValues[int(by[3])%len(oddValues)])
		return
	}
	oddities[int(by[2])%len(oddities)](at)
}
