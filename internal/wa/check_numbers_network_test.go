package wa_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// check looks numbers up and fails the test if that is refused.
func (a *account) check(numbers ...string) []bridge.NumberCheck {
	a.t.Helper()
	checks, err := a.manager.CheckNumbers(testContext(a.t), numbers)
	if err != nil {
		a.t.Fatal(err)
	}
	return checks
}

func TestCheckNumbers_FindTheirAccounts(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	phone := func(o simnet.PhoneOptions) *simnet.Phone {
		t.Helper()
		p, err := network.NewPhone(testContext(t), o)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	anna := phone(simnet.PhoneOptions{Number: "15550100201", Name: "Anna"})
	shop := phone(simnet.PhoneOptions{Number: "15550100202", Name: "Flowers Ltd", Business: true})
	own := phone(simnet.PhoneOptions{Number: "5215512345678", Name: "Xochitl"})
	const nobody, dialled = "15550100299", "525512345678"
	want := []bridge.NumberCheck{
		{Phone: anna.Number(), JID: jidOf(anna)},
		{Phone: nobody},
		{Phone: shop.Number(), JID: jidOf(shop), IsBusiness: true},
		{Phone: dialled, JID: jidOf(own)},
		{Phone: anna.Number(), JID: jidOf(anna)},
	}
	var requests sync.WaitGroup
	for range 4 {
		requests.Go(func() {
			got, err := a.manager.CheckNumbers(testContext(t), []string{anna.Number(), nobody, shop.Number(), dialled, anna.Number()})
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
	requests.Wait()
	for _, number := range []string{anna.Number(), nobody, shop.Number(), dialled} {
		if n := network.LookUps(number); n != 1 {
			t.Errorf("asked %d times about one number", n)
		}
	}
	contact, err := a.store.Contact(testContext(t), bridge.JID(shop.LID().String()))
	if err != nil || contact.JID != jidOf(shop) || contact.BusinessName != "Flowers Ltd" {
		t.Errorf("the network reported the business; stored is %+v, %v", contact, err)
	}
	if _, err := a.send(bridge.PhoneJID(nobody), "hello?"); bridge.CodeOf(err) != bridge.CodeNotOnNetwork || network.LookUps(nobody) != 1 {
		t.Errorf("a send asked again: %v", err)
	}
	network.Down()
	if got := a.check(anna.Number(), nobody); got[0] != want[0] || got[1] != want[1] {
		t.Errorf("without the network: %+v", got)
	}
}

// A request beyond the limit looks up none of its numbers, even after a restart.
func TestCheckNumbers_AreLimited(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	dir := t.TempDir()
	a := newAccountIn(t, network, dir)
	number := func(i int) string { return fmt.Sprintf("1555020%04d", i) }
	for first := 0; first < 200; first += 50 {
		var numbers []string
		for i := range 50 {
			numbers = append(numbers, number(first+i))
		}
		a.check(numbers...)
	}
	a.check(number(0), number(199)) // known by now
	a.stop()
	a = startAccount(t, network, dir)
	a.waitState(bridge.StateOpen)
	_, err := a.manager.CheckNumbers(testContext(t), []string{number(1), number(200)})
	if bridge.CodeOf(err) != bridge.CodeLookUpsLimited || network.LookUps(number(200)) != 0 {
		t.Errorf("beyond the limit: %v, asked %d times", err, network.LookUps(number(200)))
	}
}

// The other spelling of a number counts as a look-up, too, if it is queried.
func TestCheckNumbers_CountOtherSpellings(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	mobile := func(i int) string { return fmt.Sprintf("55119876%05d", i) } // Brazilian numbers have two
	asked := func(numbers []string) (n int) {
		for _, number := range numbers {
			for _, spelling := range append(bridge.PhoneAliases(number), number) {
				n += network.LookUps(spelling)
			}
		}
		return n
	}
	var numbers []string
	for first := 0; first < 100; first += 50 {
		for i := range 50 {
			numbers = append(numbers, mobile(first+i))
		}
		a.check(numbers[first:]...)
	}
	_, err := a.manager.CheckNumbers(testContext(t), []string{mobile(100)})
	if n := asked(append(numbers, mobile(100))); bridge.CodeOf(err) != bridge.CodeLookUpsLimited || n != 200 {
		t.Errorf("%d numbers were looked up, and then: %v", n, err)
	}
}

// A refusal by the network has a code, and counts as a look-up.
func TestCheckNumbers_TheNetworkRefuses(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	const number = "15550100201"
	for _, c := range []struct {
		fault simnet.IQFault
		want  bridge.Code
	}{
		{simnet.IQFault{Code: 429, Text: "rate-overlimit"}, bridge.CodeRateLimited},
		{simnet.IQFault{Code: 406, Text: "not-acceptable"}, bridge.CodeSendRefused},
		{simnet.IQFault{Code: 500, Text: "internal-server-error"}, bridge.CodeNotConnected},
	} {
		c.fault.Namespace, c.fault.Times = "usync", 1
		a.device().FailQueries(c.fault)
		if _, err := a.manager.CheckNumbers(testContext(t), []string{number}); bridge.CodeOf(err) != c.want {
			t.Errorf("%d: %v", c.fault.Code, err)
		}
	}
	if got := a.check(number); got[0].JID != "" {
		t.Errorf("an unused number: %+v", got)
	}
}
