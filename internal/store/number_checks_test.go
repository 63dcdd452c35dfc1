package store

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
)

func TestNumberChecks_AreKeptForADay(t *testing.T) {
	t.Parallel()
	p := newPaced(t)
	checks := []bridge.NumberCheck{{Phone: alice.User(), JID: aliceLID, IsBusiness: true}, {Phone: "4930123456"}}
	save(t, p.Store, checks[0], checks[1])
	phones := []string{alice.User(), "4930123456", bob.User()}
	want := map[string]bridge.NumberCheck{alice.User(): checks[0], "4930123456": checks[1]}
	for _, after := range []time.Duration{0, 24*time.Hour - time.Minute} {
		p.passed = after
		got, err := p.NumberChecks(t.Context(), phones)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("after %v: %v (-want +got):\n%s", after, err, diff)
		}
	}
	save(t, p.Store, bridge.Identity{PN: alice, LID: aliceLID})
	if got, err := p.NumberChecks(t.Context(), phones); err != nil || got[alice.User()].JID != alice {
		t.Errorf("a LID whose number is known stands as %v, %v", got[alice.User()], err)
	}
	p.passed = 24*time.Hour + time.Minute
	if got, err := p.NumberChecks(t.Context(), phones); err != nil || len(got) != 0 {
		t.Errorf("after a day: %v, %v", got, err)
	}
}

func TestLookUps_AreLimitedByTheHour(t *testing.T) {
	t.Parallel()
	p := newPaced(t)
	reserve := func(after time.Duration, count int, wait time.Duration) {
		t.Helper()
		p.passed = after
		err := p.ReserveLookUps(t.Context(), count, count)
		var refusal *bridge.Error
		switch {
		case wait == 0 && err != nil:
			t.Errorf("%d after %v: %v", count, after, err)
		case wait > 0 && (!errors.As(err, &refusal) || refusal.Code != bridge.CodeLookUpsLimited || refusal.RetryAfter.Round(time.Second) != wait):
			t.Errorf("%d after %v: %v, want to wait for %v", count, after, err, wait)
		}
	}
	reserve(0, 50, 0)
	reserve(10*time.Minute, 50, 0)
	reserve(20*time.Minute, 50, 0)
	reserve(21*time.Minute, 49, 0)
	reserve(30*time.Minute, 1, 0)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	p.open() // a restart changes nothing
	reserve(30*time.Minute, 1, 30*time.Minute)
	reserve(30*time.Minute, 50, 30*time.Minute)
	reserve(59*time.Minute, 1, time.Minute)
	reserve(61*time.Minute, 50, 0)
	reserve(61*time.Minute, 50, 9*time.Minute)
	reserve(61*time.Minute, 1, 9*time.Minute)
	reserve(3*time.Hour, 150, 0)
	if err := p.ReserveLookUps(t.Context(), 1, 51); bridge.CodeOf(err) != bridge.CodeLookUpsLimited {
		t.Errorf("one that may become 51, after 150: %v", err)
	}
	reserve(3*time.Hour, 50, 0) // the refused one did not count
}

// Tokens leave a quarter of an hour's look-ups to BRIDGE_TOKEN.
func TestLookUps_HaveAReserveForTheOperator(t *testing.T) {
	t.Parallel()
	p := newPaced(t)
	for i, c := range []struct {
		tree  int64
		count int
		fits  bool
	}{{7, 100, true}, {8, 50, true}, {9, 1, false}, {7, 1, false}, {0, 50, true}, {0, 1, false}} {
		err := p.ReserveLookUps(bridge.WithTree(t.Context(), c.tree), c.count, c.count)
		if (err == nil) != c.fits || err != nil && bridge.CodeOf(err) != bridge.CodeLookUpsLimited {
			t.Errorf("%d: %+v: %v", i, c, err)
		}
	}
	p.passed = 61 * time.Minute
	if err := p.ReserveLookUps(t.Context(), 100, 100); err != nil {
		t.Errorf("of BRIDGE_TOKEN, an hour later: %v", err)
	}
	if err := p.ReserveLookUps(bridge.WithTree(t.Context(), 7), 100, 100); err != nil {
		t.Errorf("those of BRIDGE_TOKEN count for tokens: %v", err)
	}
}
