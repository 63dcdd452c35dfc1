package wa_test

import (
	"slices"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// labelled checks the labels of a chat or, with an id, of a message, on the phone and in the store.
func (a *account) labelled(with *simnet.Phone, id string, want ...string) {
	a.t.Helper()
	ctx := testContext(a.t)
	if got, err := a.phone.LabelsOf(ctx, with.PN(), id); err != nil || !slices.Equal(got, want) {
		a.t.Errorf("the phone shows %v (%v), want %v", got, err, want)
	}
	got := a.chatWith(with).Labels
	if id != "" {
		got = a.message(jidOf(with), id).Labels
	}
	if !slices.Equal(got, want) {
		a.t.Errorf("stored are %v, want %v", got, want)
	}
}

// TestLabels_ShowOnThePhone: a label is created, changed, put on a chat and a message, removed and
// deleted.
func TestLabels_ShowOnThePhone(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	id := a.receive(friend, a.phone.PN(), jidOf(friend), "hello")[0]
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	do(a.phone.EditLabel(ctx, "7", "By the Phone", 2))
	a.device().FailQueries(simnet.IQFault{Within: "patch", LoseAnswer: true, HangUp: true, Times: 1})
	label, err := a.manager.CreateLabel(ctx, "Paid", 3)
	do(err)
	if same, err := a.manager.CreateLabel(ctx, "Paid", 4); err != nil || same != label || label.ID != "8" {
		t.Errorf("created %+v, then %+v, %v", label, same, err)
	}
	do(a.manager.ChangeLabel(ctx, bridge.Label{ID: label.ID, Name: "Paid in full", Color: 4}, false))
	if shown, err := a.phone.Labels(ctx); err != nil || shown["7"] != "By the Phone" || shown["8"] != "Paid in full" {
		t.Errorf("the phone shows %v, %v", shown, err)
	}
	m := a.message(jidOf(friend), id)
	for range 2 { // the second time changes nothing
		do(a.manager.LabelChat(ctx, jidOf(friend), "8", true))
		do(a.manager.LabelMessage(ctx, m, "8", true))
		a.labelled(friend, "", "8")
		a.labelled(friend, id, "8")
	}
	do(a.manager.LabelChat(ctx, jidOf(friend), "8", false))
	do(a.manager.LabelMessage(ctx, m, "8", false))
	a.labelled(friend, "")
	a.labelled(friend, id)
	do(a.manager.ChangeLabel(ctx, bridge.Label{ID: "8", Name: "Paid in full", Color: 4}, true))
	if shown, err := a.phone.Labels(ctx); err != nil || len(shown) != 1 {
		t.Errorf("the phone shows %v, %v", shown, err)
	}
	// The state is whole: the phone's next change arrives.
	do(a.phone.LabelChat(ctx, friend.PN(), "7", true))
	eventually(t, "the phone's label", func() bool { return slices.Equal(a.chatWith(friend).Labels, []string{"7"}) })
}

// TestLabels_FollowThePhone: labels in the first whole state, and single changes.
func TestLabels_FollowThePhone(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := startAccount(t, network, t.TempDir())
	a.phone = newPhone(t, network, accountNumber, "Alex")
	friend := newPhone(t, network, "15550100301", "Sam")
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	do(a.phone.EditLabel(ctx, "1", "New", 0))
	do(a.phone.EditLabel(ctx, "2", "Paid", 1))
	do(a.phone.LabelChat(ctx, friend.LID(), "1", true))
	a.pair()
	id := a.receive(friend, a.phone.PN(), jidOf(friend), "hello")[0]
	eventually(t, "the labels before the pairing", func() bool { return slices.Equal(a.chatWith(friend).Labels, []string{"1"}) })
	do(a.phone.LabelMessage(ctx, friend.PN(), id, "2", true))
	eventually(t, "a label of a message", func() bool { return slices.Equal(a.message(jidOf(friend), id).Labels, []string{"2"}) })
	do(a.phone.LabelChat(ctx, friend.PN(), "2", true))
	eventually(t, "a second label", func() bool { return slices.Equal(a.chatWith(friend).Labels, []string{"1", "2"}) })
	do(a.phone.DeleteLabel(ctx, "2"))
	eventually(t, "the end of a label", func() bool {
		return slices.Equal(a.chatWith(friend).Labels, []string{"1"}) && a.message(jidOf(friend), id).Labels == nil
	})
}
