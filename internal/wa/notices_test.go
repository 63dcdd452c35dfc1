package wa_test

import (
	"errors"
	"testing"

	"bridged/internal/bridge"
)

// TestUsernames_FollowTheNetworksAnnouncements: of a person who sets, changes and gives
// up a username without writing, and of the account's own on its phone.
func TestUsernames_FollowTheNetworksAnnouncements(t *testing.T) {
	t.Parallel()
	network := newNetwork(t)
	a := newAccount(t, network)
	fay := newStranger(t, network, "491510000701", "Fay", "fay")
	a.hear(fay, a.phone.LID(), lidOf(fay), "hello", "Fay", "fay")
	for _, name := range []string{"fay.2", "", "fay.3"} {
		fay.SetUsername(name)
		fay.AnnounceUsername(false)
		eventually(t, "the username "+name, func() bool { return a.username(lidOf(fay)) == name })
	}
	page, err := a.store.Contacts(testContext(t), bridge.ContactQuery{Q: "@fay.3", Limit: 10})
	if err != nil || len(page.Items) != 1 || page.Items[0].JID != lidOf(fay) {
		t.Errorf("the search finds %+v, %v", page.Items, err)
	}
	for _, step := range []struct {
		name string
		bare bool
	}{{"alex", false}, {"alex.2", true}, {"", false}} {
		a.phone.SetUsername(step.name)
		a.phone.AnnounceUsername(step.bare)
		eventually(t, "the own username "+step.name, func() bool { return a.username(jidOf(a.phone)) == step.name })
	}
}

// TestNotices_AreStoredBeforeTheyAreAcknowledged: the network sends one again that the
// store could not take, and gets the type of the notification back.
func TestNotices_AreStoredBeforeTheyAreAcknowledged(t *testing.T) {
	t.Parallel()
	ctx, network := testContext(t), newNetwork(t)
	a := newAccount(t, network)
	fay := newStranger(t, network, "491510000801", "Fay", "fay")
	a.hear(fay, a.phone.LID(), lidOf(fay), "hello", "Fay", "fay")
	a.fault.Set(errors.New("disk full"))
	fay.SetUsername("fay.2")
	fay.AnnounceUsername(false)
	eventually(t, "the refusal", func() bool { return a.manager.Status().Status != bridge.StateOpen })
	a.fault.Set(nil)
	eventually(t, "the username", func() bool { return a.username(lidOf(fay)) == "fay.2" })
	if err := a.device().WaitQuiet(ctx); err != nil {
		t.Fatal(err)
	}
	for _, got := range a.device().Acknowledged() {
		if got.Class == "notification" && got.Type == "mex" {
			if got.Deliveries < 2 {
				t.Errorf("acknowledged after %d deliveries", got.Deliveries)
			}
			return
		}
	}
	t.Error("the notification was not acknowledged")
}
