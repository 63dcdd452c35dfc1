package session

import (
	"testing"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/simnet"
	"bridged/internal/wa/convert"
)

// TestQuirk_AnApprovalThatIsOffIsTakenForOn: this is why stanzas are corrected
// before whatsmeow reads them. Also tests its reading of a corrected one.
func TestQuirk_AnApprovalThatIsOffIsTakenForOn(t *testing.T) {
	t.Parallel()
	c := newPlainClient(t)
	ctx := plainContext(t)
	group, err := c.phone.CreateGroup(ctx, simnet.GroupOptions{Subject: "crew"})
	if err != nil {
		t.Fatal(err)
	}
	for _, on := range []bool{true, false} {
		if err := group.SetApproval(ctx, c.phone, on); err != nil {
			t.Fatal(err)
		}
		if info, err := c.GetGroupInfo(ctx, group.JID()); err != nil || !info.IsJoinApprovalRequired {
			t.Errorf("with %v: %+v, %v", on, info, err)
		}
	}
	if _, err := c.phone.Event(ctx, func(event any) bool {
		change, ok := event.(*events.GroupInfo)
		return ok && change.MembershipApprovalMode != nil && change.MembershipApprovalMode.IsJoinApprovalRequired
	}); err != nil {
		t.Error(err)
	}
	mode := func(state string) waBinary.Node {
		return waBinary.Node{Tag: "membership_approval_mode", Content: []waBinary.Node{{Tag: "group_join", Attrs: waBinary.Attrs{"state": state}}}}
	}
	for state, kept := range map[string]int{"on": 2, "off": 1} {
		described := waBinary.Node{Tag: "iq", Content: []waBinary.Node{{Tag: "groups", Content: []waBinary.Node{{Tag: "group", Content: []waBinary.Node{{Tag: "locked"}, mode(state)}}}}}}
		amend(&described)
		groups := described.GetChildByTag("groups", "group")
		if got := len(groups.GetChildren()); got != kept {
			t.Errorf("a description with the approval %s keeps %d parts", state, got)
		}
		change := waBinary.Node{Tag: "notification", Content: []waBinary.Node{mode(state)}}
		amend(&change)
		if marked := change.GetChildren()[0].Tag == convert.TagApprovalOff; marked != (state == "off") {
			t.Errorf("a change to %s: %+v", state, change)
		}
	}
}
