package harness

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// NewNetwork returns a network that is closed after the test. New devices upload few keys.
func NewNetwork(t testing.TB, options ...simnet.Options) *simnet.Network {
	t.Helper()
	with := append(options, simnet.Options{})[0]
	with.FewKeys = true
	n, err := simnet.New(t.Context(), with)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n
}

// NewPhone adds a person to the network.
func NewPhone(t testing.TB, n *simnet.Network, options simnet.PhoneOptions) *simnet.Phone {
	t.Helper()
	phone, err := n.NewPhone(Within(t), options)
	if err != nil {
		t.Fatal(err)
	}
	return phone
}

// NewGroup creates a group owned by by.
func NewGroup(t testing.TB, by *simnet.Phone, options simnet.GroupOptions) *simnet.Group {
	t.Helper()
	group, err := by.CreateGroup(Within(t), options)
	if err != nil {
		t.Fatal(err)
	}
	return group
}

// Within returns a context with the tests' time limit.
func Within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), TestTimeout)
	t.Cleanup(cancel)
	return ctx
}

// Must returns the result of a phone's action, or fails the test.
func Must[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// Path inserts escaped JIDs into a path.
func Path(format string, jids ...simnet.JID) string {
	escaped := make([]any, len(jids))
	for i, jid := range jids {
		escaped[i] = bridge.JID(jid.String()).Escaped()
	}
	return fmt.Sprintf(format, escaped...)
}

// Cast is the usual scene: a paired account and the people who write to it.
type Cast struct {
	Network *simnet.Network
	Bridge  *Process
	Device  *simnet.Device // the bridge's, on the network
	Owner   *simnet.Phone  // owns the bridge's account
	Anna    *simnet.Phone  // appears under her LID
	Ben     *simnet.Phone  // appears under his number
	Carla   *simnet.Phone
}

// NewCast creates the cast on a new network, before pairing. Anna is in the
// account's address book.
func NewCast(t testing.TB, settings ...string) *Cast {
	t.Helper()
	n := NewNetwork(t)
	c := &Cast{
		Network: n,
		Owner:   NewPhone(t, n, simnet.PhoneOptions{Number: "491510000001", Name: "Olga"}),
		Anna:    NewPhone(t, n, simnet.PhoneOptions{Number: "491510000002", Name: "Anna", LIDChats: true}),
		Ben:     NewPhone(t, n, simnet.PhoneOptions{Number: "491510000003", Name: "Ben"}),
		Carla:   NewPhone(t, n, simnet.PhoneOptions{Number: "491510000004", Name: "Carla"}),
		Bridge:  StartBridge(t, n, settings...),
	}
	if err := c.Owner.SetContact(Within(t), c.Anna.Number(), "Anna Amsel", "Anna"); err != nil {
		t.Fatal(err)
	}
	return c
}

// others counts the people of [Cast.WithOthers].
var others atomic.Uint32

// WithOthers returns the scene with other people of the same names, whom the account has not met. Anna is in its address book.
func (c *Cast) WithOthers(t testing.TB) *Cast {
	t.Helper()
	number := func() string { return fmt.Sprintf("4915101%05d", others.Add(1)) }
	with := *c
	with.Anna = NewPhone(t, c.Network, simnet.PhoneOptions{Number: number(), Name: "Anna", LIDChats: true})
	with.Ben = NewPhone(t, c.Network, simnet.PhoneOptions{Number: number(), Name: "Ben"})
	with.Carla = NewPhone(t, c.Network, simnet.PhoneOptions{Number: number(), Name: "Carla"})
	if err := c.Owner.SetContact(Within(t), with.Anna.Number(), "Anna Amsel", "Anna"); err != nil {
		t.Fatal(err)
	}
	return &with
}

// PairedCast returns the cast with the account paired.
func PairedCast(t testing.TB, settings ...string) *Cast {
	t.Helper()
	c := NewCast(t, settings...)
	c.Device = Pair(t, c.Bridge, c.Owner)
	return c
}

// Say sends a text and returns its id.
func Say(t testing.TB, by *simnet.Phone, to simnet.JID, text string, options ...simnet.SendOption) simnet.MessageID {
	t.Helper()
	return Must(by.SendText(Within(t), to, text, options...))(t)
}

// NewOwner returns an account's phone on a new network.
func NewOwner(t *testing.T, options simnet.PhoneOptions, network ...simnet.Options) (*simnet.Network, *simnet.Phone) {
	t.Helper()
	n := NewNetwork(t, network...)
	options.Number, options.Name = "491510000001", "Olga"
	return n, NewPhone(t, n, options)
}

// WithoutSecret returns a QR code without its secret: its ref and the keys.
func WithoutSecret(code string) string {
	parts := strings.Split(code, ",")
	parts[3] = ""
	return strings.Join(parts, ",")
}

// Stored waits until messages are stored.
func (c *Cast) Stored(t *testing.T, ids ...simnet.MessageID) {
	t.Helper()
	if err := c.Device.WaitAcknowledged(Within(t), ids...); err != nil {
		t.Fatal(err)
	}
}
