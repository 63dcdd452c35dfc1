package wa_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// monthly returns a cycle of new chats that has begun some days ago.
func monthly(status string, total, used int) simnet.Capping {
	return simnet.Capping{Status: status, Total: total, Used: used, Start: time.Now().Add(-5 * 24 * time.Hour), End: time.Now().Add(25 * 24 * time.Hour)}
}

// quota returns the limit of new chats in the status.
func (a *account) quota() (q bridge.NewChatQuota) {
	if known := a.manager.Status().NewChats; known != nil {
		q = *known
	}
	return q
}

func (a *account) waitQuota(status bridge.QuotaStatus) bridge.NewChatQuota {
	a.t.Helper()
	eventually(a.t, "the limit to be "+string(status), func() bool { return a.quota().Status == status })
	return a.quota()
}

// refusesNewChat writes to somebody new and reports whether the network was asked anything.
func (a *account) refusesNewChat(stranger *simnet.Phone, from, to time.Duration) (asked bool) {
	a.t.Helper()
	device := a.device()
	sent, queries := device.Counters().Sent, device.Queries("usync")
	_, err := a.send(jidOf(stranger), "hello")
	var refusal *bridge.Error
	if !errors.As(err, &refusal) || refusal.Code != bridge.CodeNewChatsCapped || refusal.RetryAfter < from || refusal.RetryAfter > to {
		a.t.Errorf("to somebody new: got %v (%+v), want %s for %s", err, refusal, bridge.CodeNewChatsCapped, to)
	}
	return device.Counters().Sent != sent || device.Queries("usync") != queries
}

// TestNewChats_CappedByTheNetwork: the limit is read at the login and follows the network's
// notifications. Once it is used up, new chats are refused without asking the network, also
// after a restart. Chats that have begun, and people who have written, are not affected.
func TestNewChats_CappedByTheNetwork(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	dir := t.TempDir()
	a := newAccountIn(t, network, dir)
	old := newPhone(t, network, "15550100301", "Sam")
	friend := newPhone(t, network, "15550100302", "Kim")
	stranger := newPhone(t, network, "15550100303", "Pat")
	if _, err := a.send(jidOf(old), "before the limit"); err != nil {
		t.Fatal(err)
	}
	if a.manager.Status().NewChats != nil {
		t.Errorf("an account without a limit shows %+v", a.quota())
	}
	cycle := monthly("FIRST_WARNING", 10, 9)
	a.phone.CapNewChats(cycle)
	if q := a.waitQuota(bridge.QuotaFirstWarning); *q.Total != 10 || *q.Used != 9 || q.CycleEndsAt.Unix() != cycle.End.Unix() || q.CycleStartsAt.Unix() != cycle.Start.Unix() {
		t.Errorf("limit %+v", q)
	}
	if a.lastError() != "" {
		t.Errorf("a warning refuses nothing: %s", a.lastError())
	}
	if _, err := a.send(jidOf(friend), "the last new chat"); err != nil {
		t.Fatal(err)
	}
	sentence := "start new chats until " + bridge.At(time.Unix(cycle.End.Unix(), 0)).String() + ", because the 10 new chats of this cycle are used up"
	a.waitError(bridge.StateOpen, sentence)
	a.waitQuota(bridge.QuotaCapped)
	left := 25 * 24 * time.Hour
	if a.refusesNewChat(stranger, left-time.Hour, left) {
		t.Error("the network was asked")
	}
	a.stop()

	asked := a.device().Queries("usync")
	b := startAccount(t, network, dir)
	b.phone = a.phone
	b.waitError(bridge.StateOpen, sentence)
	eventually(t, "the login's question for the default timer", func() bool { return b.device().Queries("usync") > asked })
	if b.refusesNewChat(stranger, left-time.Hour, left) || len(b.messages(jidOf(stranger))) != 0 {
		t.Error("after a restart the network was asked, or the message was stored")
	}
	for name, who := range map[string]*simnet.Phone{"an old chat": old, "the last new one": friend} {
		if _, err := b.send(jidOf(who), "again"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := stranger.SendText(ctx, a.phone.PN(), "may I?"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the message", func() bool { return len(b.messages(jidOf(stranger))) == 1 })
	if _, err := b.send(jidOf(stranger), "an answer"); err != nil {
		t.Errorf("to somebody who has written: %v", err)
	}
	a.phone.CapNewChats(monthly("NONE", 20, 10))
	eventually(t, "the end in the status", func() bool { return b.lastError() == "" && b.quota().Status == bridge.QuotaFree })
}

// TestNewChats_RefusedBeforeAnyNotification: the refusal itself (code 475) is the first that
// bridged hears of the limit. It asks for the cycle's end, which the query has.
func TestNewChats_RefusedBeforeAnyNotification(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	stranger := newPhone(t, network, "15550100303", "Pat")
	eventually(t, "the query after the login", func() bool { return a.device().Queries("w:mex") == 1 })
	cycle := monthly("CAPPED", 10, 10)
	a.phone.CapSilently(cycle)
	if !a.refusesNewChat(stranger, 50*time.Minute, 25*24*time.Hour) {
		t.Error("the network was not asked")
	}
	eventually(t, "the cycle's end", func() bool { q := a.quota(); return q.CycleEndsAt != nil && q.CycleEndsAt.Unix() == cycle.End.Unix() })
	if a.refusesNewChat(stranger, 24*24*time.Hour, 25*24*time.Hour) {
		t.Error("the network was asked once more")
	}
	if got := a.device().Queries("w:mex"); got != 2 {
		t.Errorf("%d queries for the limit, want 2", got)
	}
}

// TestNewChats_TheCapEndsWithItsCycle: the network does not notify the end that it has named.
func TestNewChats_TheCapEndsWithItsCycle(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	stranger := newPhone(t, network, "15550100303", "Pat")
	cycle := monthly("CAPPED", 3, 3)
	cycle.End = time.Now().Add(2 * time.Second)
	a.phone.CapNewChats(cycle)
	a.waitError(bridge.StateOpen, "start new chats until")
	a.phone.CapSilently(monthly("NONE", 3, 0))
	eventually(t, "the end in the status", func() bool { return a.lastError() == "" })
	eventually(t, "the next cycle", func() bool { q := a.quota(); return q.Used != nil && *q.Used == 0 })
	if _, err := a.send(jidOf(stranger), "hello"); err != nil {
		t.Errorf("in the next cycle: %v", err)
	}
}

// TestNewChats_AFailingQueryDoesNoHarm, whether the network refuses it or does not answer.
func TestNewChats_AFailingQueryDoesNoHarm(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]simnet.IQFault{
		"refused": {Namespace: "w:mex", Code: 400, Text: "bad-request"}, "silent": {Namespace: "w:mex", Silent: true},
	} {
		network := newNetwork(t)
		a := startAccount(t, network, t.TempDir())
		a.phone = newPhone(t, network, accountNumber, "Alex")
		network.FailQueries(fault)
		a.pair()
		eventually(t, name, func() bool { return a.device().Queries("w:mex") == 1 })
		if _, err := a.send(jidOf(newPhone(t, network, "15550100303", "Pat")), "hello"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if a.lastError() != "" || a.manager.Status().NewChats != nil || strings.Contains(string(a.manager.Status().Status), "closed") {
			t.Errorf("%s: %+v", name, a.manager.Status())
		}
	}
}
