package client_test

import (
	"context"
	"slices"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

const alan = bridge.JID("447700900123@s.whatsapp.net")

func (a *account) act(what string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.acts = append(a.acts, what)
}

func (a *account) CreateGroup(_ context.Context, g bridge.NewGroup) (bridge.GroupCreated, error) {
	a.act("make " + g.Name)
	return bridge.GroupCreated{JID: club, Name: g.Name, Participants: results(g.Participants)}, nil
}

func (a *account) ChangeGroup(_ context.Context, _ bridge.JID, patch bridge.GroupPatch) ([]string, error) {
	if patch.Topic != nil {
		return nil, &bridge.Error{Code: bridge.CodeNotAdmin, Msg: "only an admin may do that", Changed: []string{"name"}}
	}
	a.act("name " + *patch.Name)
	return []string{"name"}, nil
}

func (a *account) ChangeParticipants(_ context.Context, change bridge.ParticipantsChange) ([]bridge.ParticipantResult, error) {
	a.act(string(change.Action) + " " + bridge.Join(change.Participants, " "))
	return results(change.Participants), nil
}

func (a *account) JoinRequests(context.Context, bridge.JID) ([]bridge.JoinRequest, error) {
	return []bridge.JoinRequest{{JID: grace, Named: grace}}, nil
}

func (a *account) GroupLink(context.Context, bridge.JID) (bridge.GroupLink, error) {
	return linkOf("OLDOLDOLDOLD"), nil
}

func (a *account) RevokeGroupLink(context.Context, bridge.JID, string) (bridge.GroupLink, error) {
	return linkOf("NEWNEWNEWNEW"), nil
}

func (a *account) GroupPicture(context.Context, bridge.JID) (string, error) { return "", nil }

func (a *account) SetGroupPicture(context.Context, bridge.JID, []byte, *string) (string, error) {
	return "", nil
}

func (a *account) LeaveGroup(context.Context, bridge.JID, bool) error {
	a.act("leave")
	return nil
}

func (a *account) InvitedGroup(_ context.Context, code string) (bridge.InvitedGroup, error) {
	return bridge.InvitedGroup{GroupLink: linkOf(code), Name: "Readers"}, nil
}

func (a *account) JoinGroup(_ context.Context, code string, _ bool) (bridge.GroupJoin, error) {
	a.act("join " + code)
	return bridge.GroupJoin{JID: club, Status: bridge.GroupJoined}, nil
}

func (a *account) JoinInvited(_ context.Context, m bridge.Message, _ bool) (bridge.GroupJoin, error) {
	a.act("join " + m.GroupInvite.Code)
	return bridge.GroupJoin{JID: club, Status: bridge.GroupJoined}, nil
}

func (a *account) CheckNumbers(_ context.Context, phones []string) (checks []bridge.NumberCheck, _ error) {
	for _, phone := range phones {
		checks = append(checks, bridge.NumberCheck{Phone: phone, JID: bridge.PhoneJID(phone)})
	}
	return checks, nil
}

func linkOf(code string) bridge.GroupLink {
	return bridge.GroupLink{JID: club, Link: bridge.InviteLinkPrefix + code, Code: code}
}

func results(people []bridge.JID) (all []bridge.ParticipantResult) {
	for _, jid := range people {
		all = append(all, bridge.ParticipantResult{JID: jid, Status: bridge.ParticipantDone})
	}
	return all
}

func TestGroups_AreMadeChangedAndLeft(t *testing.T) {
	both(t, func(t *testing.T, b *bridgeUnderTest) {
		ctx := t.Context()
		b.know(said(club, "ONE", "hello", 0), bridge.Contact{JID: alan, PushName: new("Alan")})
		made, err := b.CreateGroup(ctx, "Readers", []bridge.JID{grace, alan}, "make")
		if err != nil || made.JID != club || len(made.Participants) != 2 || made.Participants[1].Status != bridge.ParticipantDone {
			t.Errorf("made %+v, %v", made, err)
		}
		changed, err := b.ChangeGroup(ctx, club, bridge.GroupPatch{Name: new("Writers")}, "")
		if err != nil || !slices.Equal(changed, []string{"name"}) {
			t.Errorf("changed %v, %v", changed, err)
		}
		if _, err := b.ChangeGroup(ctx, club, bridge.GroupPatch{Topic: new("x")}, ""); bridge.CodeOf(err) != bridge.CodeNotAdmin {
			t.Errorf("a refused change: %v", err)
		}
		for _, action := range []bridge.ParticipantAction{bridge.ParticipantAdd, bridge.ParticipantDemote} {
			if got, err := b.ChangeParticipants(ctx, club, action, []bridge.JID{grace}, ""); err != nil || len(got) != 1 || got[0].JID != grace {
				t.Errorf("%s: %+v, %v", action, got, err)
			}
		}
		if got, err := b.JoinRequests(ctx, club); err != nil || len(got) != 1 || got[0].JID != grace {
			t.Errorf("requests %+v, %v", got, err)
		}
		if got, err := b.DecideJoinRequests(ctx, club, bridge.ParticipantApprove, []bridge.JID{grace}, ""); err != nil || len(got) != 1 {
			t.Errorf("decided %+v, %v", got, err)
		}
		if link, err := b.GroupLink(ctx, club); err != nil || link.Code != "OLDOLDOLDOLD" {
			t.Errorf("link %+v, %v", link, err)
		}
		if link, err := b.RevokeGroupLink(ctx, club, "revoke"); err != nil || link.Code != "NEWNEWNEWNEW" {
			t.Errorf("the new link %+v, %v", link, err)
		}
		if err := b.LeaveGroup(ctx, club, ""); err != nil {
			t.Error(err)
		}
		if join, err := b.JoinGroup(ctx, "https://chat.whatsapp.com/NEWNEWNEWNEW", "join"); err != nil || join.JID != club || join.Status != bridge.GroupJoined {
			t.Errorf("joined %+v, %v", join, err)
		}
		want := []string{"make Readers", "name Writers", "add " + string(grace), "demote " + string(grace), "approve " + string(grace), "leave", "join NEWNEWNEWNEW"}
		if !slices.Equal(b.account.acts, want) {
			t.Errorf("done %q, want %q", b.account.acts, want)
		}
	})
}

func TestPeople_AreFoundAndChecked(t *testing.T) {
	both(t, func(t *testing.T, b *bridgeUnderTest) {
		ctx := t.Context()
		b.know(bridge.Contact{JID: alan, PushName: new("Alan")}, bridge.Contact{JID: grace, PushName: new("Grace")})
		if one, err := b.Contact(ctx, alan); err != nil || one.PushName != "Alan" {
			t.Errorf("contact %+v, %v", one, err)
		}
		if page, err := b.Contacts(ctx, bridge.ContactQuery{Among: []bridge.JID{alan}}); err != nil || len(page.Items) != 1 || page.Items[0].JID != alan {
			t.Errorf("by JID %+v, %v", page, err)
		}
		var all []string
		for person, err := range b.AllContacts(ctx, bridge.ContactQuery{Limit: 1}) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, person.PushName)
		}
		if !slices.Equal(all, []string{"Alan", "Grace"}) {
			t.Errorf("all are %q", all)
		}
		if check, err := b.CheckNumber(ctx, "+44 7700 900123"); err != nil || check.JID != alan {
			t.Errorf("check %+v, %v", check, err)
		}
		if checks, err := b.CheckNumbers(ctx, []string{"+44 7700 900123", grace.User()}); err != nil || len(checks) != 2 || checks[1].JID != grace {
			t.Errorf("%+v, %v", checks, err)
		}
		if _, err := b.CheckNumber(ctx, "0123"); bridge.CodeOf(err) != bridge.CodeInvalid {
			t.Errorf("check of nonsense: %v", err)
		}
		if got := client.PicturePath(club, bridge.PictureFull); got != "/api/groups/120363025246125486%40g.us/picture?size=full" {
			t.Errorf("picture at %s", got)
		}
	})
}

func TestForward_NamesBothChats(t *testing.T) {
	both(t, func(t *testing.T, b *bridgeUnderTest) {
		b.know(said(club, "ONE", "hello", 0), said(grace, "TWO", "hi", 1))
		if _, err := b.Send(t.Context(), client.Forward{SourceChat: club, SourceMsgID: "ONE", To: grace}, "forward"); err != nil {
			t.Fatal(err)
		}
		sent := b.account.sent()
		if got, ok := sent[0].Content.(bridge.Forward); !ok || got.Source.ID != "ONE" || sent[0].To != grace {
			t.Errorf("sent %+v", sent)
		}
	})
}
