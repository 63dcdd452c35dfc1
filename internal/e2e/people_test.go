package e2e

import (
	"context"
	"fmt"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// newNetwork returns a network that is closed after the test.
func newNetwork(t testing.TB, options ...simnet.Options) *simnet.Network {
	t.Helper()
	n, err := simnet.New(t.Context(), append(options, simnet.Options{})[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n
}

// newPhone adds a person to the network.
func newPhone(t testing.TB, n *simnet.Network, options simnet.PhoneOptions) *simnet.Phone {
	t.Helper()
	phone, err := n.NewPhone(within(t), options)
	if err != nil {
		t.Fatal(err)
	}
	return phone
}

// newGroup creates a group owned by by.
func newGroup(t testing.TB, by *simnet.Phone, options simnet.GroupOptions) *simnet.Group {
	t.Helper()
	group, err := by.CreateGroup(within(t), options)
	if err != nil {
		t.Fatal(err)
	}
	return group
}

// within returns a context with the tests' time limit.
func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), testPatience)
	t.Cleanup(cancel)
	return ctx
}

// must returns the result of a phone's action, or fails the test.
func must[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// path inserts escaped JIDs into a path.
func path(format string, jids ...simnet.JID) string {
	escaped := make([]any, len(jids))
	for i, jid := range jids {
		escaped[i] = bridge.JID(jid.String()).Escaped()
	}
	return fmt.Sprintf(format, escaped...)
}

// cast is the usual scene: a paired account and the people who write to it.
type cast struct {
	network *simnet.Network
	bridge  *process
	device  *simnet.Device // the bridge's, on the network
	owner   *simnet.Phone  // owns the bridge's account
	anna    *simnet.Phone  // appears under her LID
	ben     *simnet.Phone  // appears under his number
	carla   *simnet.Phone
}

// newCast creates the cast on a new network, before pairing. Anna is in the
// account's address book.
func newCast(t testing.TB, settings ...string) *cast {
	t.Helper()
	n := newNetwork(t)
	c := &cast{
		network: n,
		owner:   newPhone(t, n, simnet.PhoneOptions{Number: "491510000001", Name: "Olga"}),
		anna:    newPhone(t, n, simnet.PhoneOptions{Number: "491510000002", Name: "Anna", LIDChats: true}),
		ben:     newPhone(t, n, simnet.PhoneOptions{Number: "491510000003", Name: "Ben"}),
		carla:   newPhone(t, n, simnet.PhoneOptions{Number: "491510000004", Name: "Carla"}),
		bridge:  startBridge(t, n, settings...),
	}
	if err := c.owner.SetContact(within(t), c.anna.Number(), "Anna Amsel", "Anna"); err != nil {
		t.Fatal(err)
	}
	return c
}

// pairedCast returns the cast with the account paired.
func pairedCast(t testing.TB, settings ...string) *cast {
	t.Helper()
	c := newCast(t, settings...)
	c.device = pair(t, c.bridge, c.owner)
	return c
}

// say sends a text and returns its id.
func say(t testing.TB, by *simnet.Phone, to simnet.JID, text string, options ...simnet.SendOption) simnet.MessageID {
	t.Helper()
	return must(by.SendText(within(t), to, text, options...))(t)
}
