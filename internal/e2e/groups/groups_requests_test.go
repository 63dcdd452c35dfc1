package groups

import (
	"fmt"
	"net/http"
	"testing"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
)

// TestGroupRequests_OverHTTP: people ask to join a group, the log names them, one
// is approved and one rejected, and a member sets a label.
func TestGroupRequests_OverHTTP(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	api, anna, ben := c.Bridge.API, c.Anna, c.Ben
	made := CallOnce[bridge.GroupCreated](t, c.Bridge, "POST", "/api/groups", Object{"name": "Readers", "participants": []bridge.JID{NumberOf(c.Carla)}}, "")
	group, _ := c.Network.Group(WireForm(made.JID))
	if changed := CallOnce[changedGroup](t, c.Bridge, "PATCH", "/api/groups/"+made.JID.Escaped(), Object{"joinApproval": true}, "").Changed; fmt.Sprint(changed) != "[joinApproval]" {
		t.Errorf("changed %v", changed)
	}
	if detail := Must(api.Group(Within(t), made.JID))(t); !detail.Stored.JoinApproval || !detail.Live.JoinApproval {
		t.Errorf("the group is %+v", detail)
	}
	link := CallOnce[bridge.GroupLink](t, c.Bridge, "GET", "/api/groups/"+made.JID.Escaped()+"/invite", nil, "")
	Must(anna.Client().JoinGroupWithLink(Within(t), link.Link))(t)
	Must(ben.Client().JoinGroupWithLink(Within(t), link.Link))(t)
	asked := func() (told []string) {
		for _, e := range c.Bridge.AllEvents("&types=group.updated") {
			if e.JoinRequests == nil {
				continue
			}
			for _, r := range e.JoinRequests.Created {
				told = append(told, "+"+string(r.JID))
			}
			for _, r := range e.JoinRequests.Revoked {
				told = append(told, "-"+string(r.JID))
			}
		}
		return told
	}
	tells := func(want ...string) {
		t.Helper()
		Eventually(t, func() error {
			if got := asked(); fmt.Sprint(got) != fmt.Sprint(want) {
				return fmt.Errorf("the log has %v, want %v", got, want)
			}
			return nil
		})
	}
	tells("+"+string(NumberOf(anna)), "+"+string(NumberOf(ben)))
	if requests := Must(api.JoinRequests(Within(t), made.JID))(t); len(requests) != 2 || requests[0].JID != NumberOf(anna) || requests[0].RequestedAt == nil {
		t.Errorf("requests %+v", requests)
	}
	decide := func(action bridge.ParticipantAction, who bridge.JID, key string, want bridge.ParticipantStatus) {
		t.Helper()
		if got := Must(api.DecideJoinRequests(Within(t), made.JID, action, []bridge.JID{who}, key))(t); len(got) != 1 || got[0].Status != want {
			t.Errorf("%s: %+v, want %s", action, got, want)
		}
	}
	for range 2 { // once per key
		decide(bridge.ParticipantApprove, NumberOf(anna), "let", bridge.ParticipantDone)
	}
	decide(bridge.ParticipantReject, LidOf(ben), "", bridge.ParticipantDone)
	decide(bridge.ParticipantReject, LidOf(ben), "", bridge.ParticipantNoRequest)
	tells("+"+string(NumberOf(anna)), "+"+string(NumberOf(ben)), "-"+string(NumberOf(ben)))
	if g := Must(api.Group(Within(t), made.JID))(t).Stored; !has(g, anna) || has(g, ben) {
		t.Errorf("members %+v", g.Participants)
	}

	if err := anna.SetLabel(Within(t), group, "Chair"); err != nil {
		t.Fatal(err)
	}
	Eventually(t, func() error {
		detail, err := api.Group(Within(t), made.JID)
		if err != nil {
			return err
		}
		for _, list := range [][]bridge.Participant{detail.Stored.Participants, detail.Live.Participants} {
			for _, p := range list {
				if p.JID == NumberOf(anna) && p.Label != "Chair" {
					return fmt.Errorf("the label is %q", p.Label)
				}
			}
		}
		return nil
	})
	Refused(t, c.Bridge.Post(Path("/api/groups/%s", group.JID())+"/requests", map[string]any{"action": "add", "participants": []bridge.JID{NumberOf(ben)}}),
		http.StatusBadRequest, bridge.CodeInvalid)
}
