package wa_test

import (
	"sync"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// TestNumbers_AreAskedForOnce: answers are cached, even negative ones, because
// look-ups of many numbers get accounts banned.
func TestNumbers_AreAskedForOnce(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	anna := newPhone(t, network, "15550100201", "Anna")
	const nobody = "15550100299"
	for range 3 {
		var sends sync.WaitGroup
		for range 4 {
			sends.Go(func() {
				if _, err := a.send(bridge.PhoneJID(nobody), "hello?"); bridge.CodeOf(err) != bridge.CodeNotOnNetwork {
					t.Errorf("an unused number: %v", err)
				}
				if _, err := a.send(jidOf(anna), "hello"); err != nil {
					t.Error(err)
				}
			})
		}
		sends.Wait()
	}
	for _, number := range []string{nobody, anna.Number()} {
		if n := network.LookUps(number); n != 1 {
			t.Errorf("asked %d times for one number", n)
		}
	}
}

// TestNumbers_WithTwoSpellings: either spelling leads to one chat, under the
// network's spelling.
func TestNumbers_WithTwoSpellings(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	for name, c := range map[string]struct {
		number, dialled string
		resolves        bool // the network finds the account by both
	}{
		"the network knows both": {"553187654321", "5531987654321", true},
		"it knows its own":       {"5215512345678", "525512345678", false},
	} {
		options := simnet.PhoneOptions{Number: c.number, Name: name}
		if c.resolves {
			options.Dialled = []string{c.dialled}
		}
		phone, err := network.NewPhone(testContext(t), options)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			sent, err := a.send(bridge.PhoneJID(c.dialled), "olá")
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if sent.Chat != jidOf(phone) {
				t.Errorf("%s: the chat is another", name)
			}
			if _, err := phone.ReceivedID(testContext(t), sent.ID); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if n := len(a.messages(jidOf(phone))); n != 2 {
			t.Errorf("%s: %d messages in the chat", name, n)
		}
		if n := network.LookUps(c.dialled); n != 1 {
			t.Errorf("%s: asked %d times", name, n)
		}
	}
}
