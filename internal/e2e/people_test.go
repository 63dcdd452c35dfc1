package e2e

import (
	"context"
	"fmt"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// newNetwork returns a network that ends with the test.
func newNetwork(t testing.TB, options ...simnet.Options) *simnet.Network {
	t.Helper()
	n, err := simnet.New(t.Context(), append(options, simnet.Options{})[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n
}

// newPhone brings a person onto the network.
func newPhone(t testing.TB, n *simnet.Network, options simnet.PhoneOptions) *simnet.Phone {
	t.Helper()
	phone, err := n.NewPhone(within(t), options)
	if err != nil {
		t.Fatal(err)
	}
	return phone
}

// newGroup makes a group of which by is the owner.
func newGroup(t testing.TB, by *simnet.Phone, options simnet.GroupOptions) *simnet.Group {
	t.Helper()
	group, err := by.CreateGroup(within(t), options)
	if err != nil {
		t.Fatal(err)
	}
	return group
}

// within returns a context with the time that anything may take.
func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), testPatience)
	t.Cleanup(cancel)
	return ctx
}

// must fails the test if a phone could not do what it was told, and
// returns the result.
func must[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// path puts JIDs, escaped, into a path.
func path(format string, jids ...simnet.JID) string {
	escaped := make([]any, len(jids))
	for i, jid := range jids {
		escaped[i] = bridge.JID(jid.String()).Escaped()
	}
	return fmt.Sprintf(format, escaped...)
}

// cast is the usual company: a paired account and the people who write to it.
type cast struct {
	network *simnet.Network
	bridge  *process
	device  *simnet.Device // the bridge's, as the network knows it
	owner   *simnet.Phone  // whose account the bridge has
	anna    *simnet.Phone  // shows herself under her LID
	ben     *simnet.Phone  // shows himself under his number
	carla   *simnet.Phone
}

// newCast brings the cast onto a new network, before pairing. Anna
// is in the account's address book.
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

// say sends a text and answers its id.
func say(t testing.TB, by *simnet.Phone, to simnet.JID, text string, options ...simnet.SendOption) simnet.MessageID {
	t.Helper()
	return must(by.SendText(within(t), to, text, options...))(t)
}
