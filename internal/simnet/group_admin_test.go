package simnet_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/simnet"
)

// A client administers a group as an admin, and every phone in it shows the changes.
func TestGroupAdmin_TheClientsChangesAreShown(t *testing.T) {
	n, own, anna, c := pair(t)
	ben, carla := newPhone(t, n, "4915100000003", "Ben"), newPhone(t, n, "4915100000004", "Carla")
	carla.AllowAdding("none")
	info, err := c.cli.CreateGroup(within(t), whatsmeow.ReqCreateGroup{Name: "Made here", Participants: []types.JID{anna.PN(), carla.PN()}})
	if err != nil {
		t.Fatal(err)
	}
	if info.AddressingMode != types.AddressingModeLID {
		t.Errorf("addressed by %q", info.AddressingMode)
	}
	refused := participant(info.Participants, carla)
	if refused == nil || refused.Error != 403 || refused.AddRequest == nil {
		t.Fatalf("Carla: %+v", refused)
	}
	shows := func(p *simnet.Phone, wanted func(simnet.GroupView) bool) {
		t.Helper()
		if view, err := p.WaitGroup(within(t), info.JID, wanted); err != nil {
			t.Fatalf("%s shows %+v: %v", p.Name(), view, err)
		}
	}
	shows(anna, func(v simnet.GroupView) bool {
		return v.Name == "Made here" && v.Has(own) && v.Has(anna) && !v.Has(carla) && v.HasAdmin(own)
	})
	if err = carla.Client().JoinGroupWithInvite(within(t), info.JID, own.PN(), refused.AddRequest.Code, refused.AddRequest.Expiration.Unix()); err != nil {
		t.Fatal(err)
	}
	shows(anna, func(v simnet.GroupView) bool { return v.Has(carla) })
	change := func(who *simnet.Phone, action whatsmeow.ParticipantChange) int {
		t.Helper()
		got, err := c.cli.UpdateGroupParticipants(within(t), info.JID, []types.JID{who.PN()}, action)
		if err != nil || len(got) != 1 {
			t.Fatalf("%s: %+v %v", action, got, err)
		}
		return got[0].Error
	}
	for _, step := range []struct {
		who    *simnet.Phone
		action whatsmeow.ParticipantChange
		want   int
	}{
		{ben, "add", 0}, {ben, "add", 409}, {ben, "promote", 0}, {ben, "demote", 0}, {ben, "remove", 0}, {ben, "remove", 404}, {ben, "promote", 404},
	} {
		if got := change(step.who, step.action); got != step.want {
			t.Errorf("%s: %d, want %d", step.action, got, step.want)
		}
	}
	shows(anna, func(v simnet.GroupView) bool { return !v.Has(ben) })
	shows(ben, func(v simnet.GroupView) bool { return !v.Has(ben) })
	g, _ := n.Group(info.JID)
	if err = g.Leave(within(t), anna); err != nil {
		t.Fatal(err)
	}
	if got := change(anna, "add"); got != 408 {
		t.Errorf("adding one who has just left: %d", got)
	}
	g.Limit(2)
	if got := change(ben, "add"); got != 419 {
		t.Errorf("adding to a full group: %d", got)
	}
	for _, topic := range []string{"one", "two", ""} {
		if err = c.cli.SetGroupTopic(within(t), info.JID, "", "", topic); err != nil {
			t.Errorf("topic %q: %v", topic, err)
		}
		shows(carla, func(v simnet.GroupView) bool { return v.Topic == topic })
	}
	if err = c.cli.SetGroupTopic(within(t), info.JID, "STALE", "", "three"); !isIQ(err, 409) {
		t.Errorf("a topic over one that is not the present one: %v", err)
	}
	if err = c.cli.SetGroupName(within(t), info.JID, strings.Repeat("x", 101)); !isIQ(err, 406) {
		t.Errorf("a long name: %v", err)
	}
	if err = c.cli.SetDisappearingTimer(within(t), info.JID, whatsmeow.DisappearingTimer7Days, time.Time{}); err != nil {
		t.Error(err)
	}
	shows(carla, func(v simnet.GroupView) bool { return v.Ephemeral == 604800 })
}

// A link admits people, subject to an admin's approval if that is on, until it is
// revoked.
func TestGroupAdmin_Links(t *testing.T) {
	n, own, anna, c := pair(t)
	ben := newPhone(t, n, "4915100000003", "Ben")
	g := newGroup(t, anna, simnet.GroupOptions{Subject: "Hikers", Members: []*simnet.Phone{own}})
	if _, err := c.cli.GetGroupInviteLink(within(t), g.JID(), false); !errors.Is(err, whatsmeow.ErrGroupInviteLinkUnauthorized) {
		t.Errorf("a plain member is shown the link: %v", err)
	}
	if err := g.Promote(within(t), anna, own); err != nil {
		t.Fatal(err)
	}
	first, err := c.cli.GetGroupInviteLink(within(t), g.JID(), false)
	if err != nil {
		t.Fatal(err)
	}
	second, err := c.cli.GetGroupInviteLink(within(t), g.JID(), true)
	if err != nil || second == first {
		t.Fatalf("after taking %s back: %s, %v", first, second, err)
	}
	if view, err := anna.WaitGroup(within(t), g.JID(), func(v simnet.GroupView) bool { return v.Link == second }); err != nil {
		t.Fatalf("Anna shows %+v: %v", view, err)
	}
	join := func(p *simnet.Phone, link string) error {
		_, err := p.Client().JoinGroupWithLink(within(t), link)
		return err
	}
	if err := join(ben, first); !errors.Is(err, whatsmeow.ErrInviteLinkRevoked) {
		t.Errorf("by the old link: %v", err)
	}
	if err := join(ben, "nonsense"); !errors.Is(err, whatsmeow.ErrInviteLinkInvalid) {
		t.Errorf("by nonsense: %v", err)
	}
	if info, err := ben.Client().GetGroupInfoFromLink(within(t), second); err != nil || info.Name != "Hikers" || len(g.Members()) != 2 {
		t.Errorf("info by the link: %+v %v", info, err)
	}
	if err := g.SetApproval(within(t), anna, true); err != nil {
		t.Fatal(err)
	}
	if err := join(ben, second); err != nil || len(g.Members()) != 2 || !slices.Equal(g.Requests(), []types.JID{ben.LID()}) {
		t.Errorf("asking to be let in: %v, members %v, waiting %v", err, g.Members(), g.Requests())
	}
	if err := g.Approve(within(t), anna, ben); err != nil {
		t.Fatal(err)
	}
	if view, err := own.WaitGroup(within(t), g.JID(), func(v simnet.GroupView) bool { return v.Has(ben) }); err != nil {
		t.Fatalf("the owner's phone shows %+v: %v", view, err)
	}
	if err := join(ben, second); !isIQ(err, 409) {
		t.Errorf("joining again: %v", err)
	}
	if err := g.Remove(within(t), anna, ben); err != nil {
		t.Fatal(err)
	}
	if err := join(ben, second); !isIQ(err, 401) {
		t.Errorf("joining after a removal: %v", err)
	}
}

// A query whose answer is lost still takes effect.
func TestGroupAdmin_LosesAnswers(t *testing.T) {
	n, _, anna, c := pair(t)
	n.FailQueries(simnet.IQFault{Namespace: "w:g2", Tag: "create", LoseAnswer: true, HangUp: true, Times: 1})
	//lint:ignore SA1019 whatsmeow's own query is repeated by itself.
	_, err := c.cli.DangerousInternals().SendIQ(within(t), whatsmeow.DangerousInfoQuery{
		Namespace: "w:g2", Type: "set", To: types.GroupServerJID, NoRetry: true,
		Content: []simnet.Node{{Tag: "create", Attrs: map[string]any{"subject": "Lost", "key": "K1"}, Content: []simnet.Node{{Tag: "participant", Attrs: map[string]any{"jid": anna.PN()}}}}},
	})
	if err == nil {
		t.Fatal("the answer came")
	}
	joined, err := anna.Event(within(t), func(event any) bool { _, ok := event.(*events.JoinedGroup); return ok })
	if err != nil || joined.(*events.JoinedGroup).CreateKey != "K1" {
		t.Errorf("Anna got %+v: %v", joined, err)
	}
}

func participant(list []types.GroupParticipant, who *simnet.Phone) *types.GroupParticipant {
	i := slices.IndexFunc(list, func(p types.GroupParticipant) bool { return p.JID == who.LID() || p.JID == who.PN() })
	if i < 0 {
		return nil
	}
	return &list[i]
}

func isIQ(err error, code int) bool {
	var iq *whatsmeow.IQError
	return errors.As(err, &iq) && iq.Code == code
}
