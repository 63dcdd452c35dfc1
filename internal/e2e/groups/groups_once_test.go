package groups

import (
	"errors"
	"net/http"
	"slices"
	"testing"

	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// unknown makes a call whose outcome stays unknown, and waits until the account is
// open again.
func unknown(t testing.TB, c *Cast, call func() apitest.Response) {
	t.Helper()
	logins := c.Device.Counters().Logins
	Refused(t, call(), http.StatusGatewayTimeout, bridge.CodeSendTimeout, "may have been made")
	if err := c.Device.WaitLogins(Within(t), logins+1); err != nil {
		t.Fatal(err)
	}
	c.Bridge.Becomes(bridge.StateOpen)
}

// named returns the account's groups with a name at the network.
func named(t testing.TB, c *Cast, name string) (groups []bridge.JID) {
	t.Helper()
	for _, info := range Must(c.Owner.Client().GetJoinedGroups(Within(t)))(t) {
		if info.Name == name {
			groups = append(groups, bridge.JID(info.JID.String()))
		}
	}
	return groups
}

// madeGroup decodes the answer for a new group.
func madeGroup(t testing.TB, resp apitest.Response, replayed bool) bridge.GroupCreated {
	t.Helper()
	var made bridge.GroupCreated
	resp.Want(http.StatusOK).Decode(&made)
	if got := resp.Header.Get("Idempotency-Replayed") == "true"; got != replayed {
		t.Errorf("Idempotency-Replayed is %v, want %v", got, replayed)
	}
	return made
}

// TestGroupsOnce_AfterALostAnswer: the repeated call finds the group that the
// first one made, or makes it.
func TestGroupsOnce_AfterALostAnswer(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	create := func(name, key string) func() apitest.Response {
		return func() apitest.Response {
			return c.Bridge.Post("/api/groups", Object{"name": name, "participants": []string{c.Anna.PN().String(), c.Ben.LID().String()}}, "Idempotency-Key", key)
		}
	}
	isOne := func(t *testing.T, name, key string) {
		t.Helper()
		made := madeGroup(t, create(name, key)(), false)
		if again := madeGroup(t, create(name, key)(), true); again.JID != made.JID {
			t.Errorf("made %s, then %s", made.JID, again.JID)
		}
		if groups := named(t, c, name); !slices.Equal(groups, []bridge.JID{made.JID}) {
			t.Errorf("made %s; the network has %v", made.JID, groups)
		}
		for _, result := range made.Participants {
			if result.Status != bridge.ParticipantDone || result.LID == "" {
				t.Errorf("%+v", result)
			}
		}
	}
	t.Run("a group that the network reports", func(t *testing.T) {
		c.Device.FailQueries(simnet.IQFault{Namespace: "w:g2", Tag: "create", LoseAnswer: true, HangUp: true, Times: 1})
		unknown(t, c, create("Told", "told"))
		isOne(t, "Told", "told")
	})
	t.Run("a group that was not made", func(t *testing.T) {
		c.Device.FailQueries(simnet.IQFault{Namespace: "w:g2", Tag: "create", Silent: true, HangUp: true, Times: 1})
		unknown(t, c, create("Unmade", "unmade"))
		if groups := named(t, c, "Unmade"); len(groups) != 0 {
			t.Fatalf("made %v", groups)
		}
		isOne(t, "Unmade", "unmade")
	})
}

// TestGroupsOnce_Killed kills the program between the network's answer and its
// own.
func TestGroupsOnce_Killed(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	body := Object{"name": "Killed", "participants": []string{c.Anna.PN().String()}}
	for key, act := range map[string]func(){"echoed": func() {}, "forgotten": c.Network.DropCreateKeys} {
		before := named(t, c, "Killed")
		act()
		c.Device.FailQueries(simnet.IQFault{Namespace: "w:g2", Tag: "create", LoseAnswer: true, Times: 1})
		answered := make(chan error, 1)
		go func() {
			answered <- c.Bridge.API.CallOnce(t.Context(), "POST", "/api/groups", body, key, nil)
		}()
		Eventually(t, func() error {
			if groups := named(t, c, "Killed"); len(groups) == len(before) {
				return errors.New("there is no such group yet")
			}
			return nil
		})
		c.Bridge.Kill()
		if err := <-answered; err == nil {
			t.Fatal("the call was answered")
		}
		c.Bridge.Start()
		c.Bridge.Becomes(bridge.StateOpen)
		made := madeGroup(t, c.Bridge.Post("/api/groups", body, "Idempotency-Key", key), false)
		groups := named(t, c, "Killed")
		if len(groups) != len(before)+1 || !slices.Contains(groups, made.JID) || slices.Contains(before, made.JID) {
			t.Errorf("%s: made %s; the network has %v, before %v", key, made.JID, groups, before)
		}
		Refused(t, c.Bridge.Post("/api/groups", With(body, Object{"name": "Other"}), "Idempotency-Key", key),
			http.StatusUnprocessableEntity, bridge.CodeIdempotencyMismatch, "another body")
	}
}
