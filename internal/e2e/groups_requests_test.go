package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"bridged/internal/bridge"
)

// TestGroupRequests_OverHTTP: people ask to join a group, the log names them, one
// is approved and one rejected, and a member sets a label.
func TestGroupRequests_OverHTTP(t *testing.T) {
	t.Parallel()
	c := pairedCast(t)
	api, anna, ben := c.bridge.api, c.anna, c.ben
	made := callOnce[bridge.GroupCreated](t, c.bridge, "POST", "/api/groups", object{"name": "Readers", "participants": []bridge.JID{numberOf(c.carla)}}, "")
	group, _ := c.network.Group(wireForm(made.JID))
	if changed := callOnce[changedGroup](t, c.bridge, "PATCH", "/api/groups/"+made.JID.Escaped(), object{"joinApproval": true}, "").Changed; fmt.Sprint(changed) != "[joinApproval]" {
		t.Errorf("changed %v", changed)
	}
	if detail := must(api.Group(within(t), made.JID))(t); !detail.Stored.JoinApproval || !detail.Live.JoinApproval {
		t.Errorf("the group is %+v", detail)
	}
	link := callOnce[bridge.GroupLink](t, c.bridge, "GET", "/api/groups/"+made.JID.Escaped()+"/invite", nil, "")
	must(anna.Client().JoinGroupWithLink(within(t), link.Link))(t)
	must(ben.Client().JoinGroupWithLink(within(t), link.Link))(t)
	asked := func() (told []string) {
		for _, e := range c.bridge.allEvents("&types=group.updated") {
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
		eventually(t, func() error {
			if got := asked(); fmt.Sprint(got) != fmt.Sprint(want) {
				return fmt.Errorf("the log has %v, want %v", got, want)
			}
			return nil
		})
	}
	tells("+"+string(numberOf(anna)), "+"+string(numberOf(ben)))
	if requests := must(api.JoinRequests(within(t), made.JID))(t); len(requests) != 2 || requests[0].JID != numberOf(anna) || requests[0].RequestedAt == nil {
		t.Errorf("requests %+v", requests)
	}
	decide := func(action bridge.ParticipantAction, who bridge.JID, key string, want bridge.ParticipantStatus) {
		t.Helper()
		if got := must(api.DecideJoinRequests(within(t), made.JID, action, []bridge.JID{who}, key))(t); len(got) != 1 || got[0].Status != want {
			t.Errorf("%s: %+v, want %s", action, got, want)
		}
	}
	for range 2 { // once per key
		decide(bridge.ParticipantApprove, numberOf(anna), "let", bridge.ParticipantDone)
	}
	decide(bridge.ParticipantReject, lidOf(ben), "", bridge.ParticipantDone)
	decide(bridge.ParticipantReject, lidOf(ben), "", bridge.ParticipantNoRequest)
	tells("+"+string(numberOf(anna)), "+"+string(numberOf(ben)), "-"+string(numberOf(ben)))
	if g := must(api.Group(within(t), made.JID))(t).Stored; !has(g, anna) || has(g, ben) {
		t.Errorf("members %+v", g.Participants)
	}

	if err := anna.SetLabel(within(t), group, "Chair"); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		detail, err := api.Group(within(t), made.JID)
		if err != nil {
			return err
		}
		for _, list := range [][]bridge.Participant{detail.Stored.Participants, detail.Live.Participants} {
			for _, p := range list {
				if p.JID == numberOf(anna) && p.Label != "Chair" {
					return fmt.Errorf("the label is %q", p.Label)
				}
			}
		}
		return nil
	})
	refused(t, c.bridge.Post(path("/api/groups/%s", group.JID())+"/requests", map[string]any{"action": "add", "participants": []bridge.JID{numberOf(ben)}}),
		http.StatusBadRequest, bridge.CodeInvalid)
}
