package wa_test

import (
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/store"
)

// securityEvents returns the notices in the events of the account's status.
func (a *account) securityEvents() (kinds []bridge.SecurityKind) {
	a.t.Helper()
	page, err := a.store.Events(testContext(a.t), store.EventQuery{Limit: 1000})
	if err != nil {
		a.t.Fatal(err)
	}
	for _, e := range page.Events {
		if e.Status != nil && e.Status.SecurityNotice != nil {
			kinds = append(kinds, e.Status.SecurityNotice.Kind)
		}
	}
	return kinds
}

// TestSecurity_ARegistrationElsewhereIsShown: in the status and an event, also after a
// restart, for a week or until a new pairing. The code of the registration is nowhere.
func TestSecurity_ARegistrationElsewhereIsShown(t *testing.T) {
	t.Parallel()
	ctx, network, dir := testContext(t), newNetwork(t), t.TempDir()
	a := newAccountIn(t, network, dir)
	shown := func(a *account, kind bridge.SecurityKind, text string) {
		t.Helper()
		eventually(t, string(kind), func() bool {
			notice := a.manager.Status().SecurityNotice
			return notice != nil && notice.Kind == kind
		})
		notice := a.manager.Status().SecurityNotice
		if !strings.Contains(notice.Message, text) || strings.Contains(notice.Message, "123456") {
			t.Errorf("the notice says %q, want %q", notice.Message, text)
		}
	}
	if notice := a.manager.Status().SecurityNotice; notice != nil {
		t.Fatalf("before: %+v", notice)
	}
	a.phone.RequestCode()
	shown(a, bridge.SecurityCodeRequested, "a code to register")
	at := time.Now().Add(-6 * 24 * time.Hour).Truncate(time.Second)
	a.phone.TakeOver("Mallory's phone", at)
	shown(a, bridge.SecurityTakenOver, "another phone (Mallory's phone)")
	if got := a.manager.Status().SecurityNotice.At; !got.Equal(at) {
		t.Errorf("at %v, want %v", got, at)
	}
	eventually(t, "the events", func() bool { return len(a.securityEvents()) >= 2 })
	a.stop()

	b := startAccount(t, network, dir)
	b.phone = a.phone
	shown(b, bridge.SecurityTakenOver, "another phone")
	b.waitState(bridge.StateOpen)
	b.phone.TakeOver("an old notice", time.Now().Add(-8*24*time.Hour))
	eventually(t, "the end of a notice of last week", func() bool { return b.manager.Status().SecurityNotice == nil })

	b.phone.RequestCode()
	shown(b, bridge.SecurityCodeRequested, "a code to register")
	if _, err := b.manager.Logout(ctx); err != nil {
		t.Fatal(err)
	}
	b.waitState(bridge.StateNeedsPair)
	shown(b, bridge.SecurityCodeRequested, "a code to register")
	b.pair()
	if notice := b.manager.Status().SecurityNotice; notice != nil {
		t.Errorf("after a new pairing: %+v", notice)
	}
}
