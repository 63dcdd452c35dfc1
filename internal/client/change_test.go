package client_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

func TestChange_NamesTheMessage(t *testing.T) {
	both(t, func(t *testing.T, b *bridgeUnderTest) {
		sent := bridge.DeliverySent
		own := said(club, "OWN/1", "befor", 0)
		own.FromMe, own.SenderJID, own.Status, own.Timestamp = true, me, &sent, bridge.At(time.Now())
		b.know(own)
		if got, err := b.Edit(t.Context(), club, "OWN/1", "after", []bridge.JID{grace}, "edit"); err != nil || got.ID != "OWN/1" || got.Chat != club {
			t.Fatalf("edit: %+v, %v", got, err)
		}
		if _, err := b.Delete(t.Context(), club, "OWN/1", ""); err != nil {
			t.Fatal(err)
		}
		edit, deletion := b.account.sends[0].Content.(bridge.TextEdit), b.account.sends[1].Content.(bridge.Revocation)
		if edit.Text != "after" || edit.Target.ID != "OWN/1" || len(edit.Mentions) != 1 || edit.Mentions[0] != grace || deletion.Target.ID != "OWN/1" {
			t.Errorf("edit %+v, deletion %+v", edit, deletion)
		}
		if key := b.account.sends[0].Key; key == nil || b.account.sends[1].Key != nil {
			t.Errorf("keys %+v, %+v", key, b.account.sends[1].Key)
		}
		if _, err := b.Delete(t.Context(), club, "NONE", ""); bridge.CodeOf(err) != bridge.CodeNotFound {
			t.Errorf("of nothing: %v", err)
		}
	})
}

func TestUpdateChat_NamesWhatChanges(t *testing.T) {
	both(t, func(t *testing.T, b *bridgeUnderTest) {
		b.know(said(grace, "ONE", "hello", 0))
		until := bridge.At(time.Now().Add(time.Hour))
		yes, no := new(true), new(false)
		changes := []client.ChatChange{
			{Archived: no, Pinned: yes, Unread: yes},
			{MutedUntil: &until},
			{Expiration: new(uint32(86400))},
			{MutedUntil: new(bridge.MutedForever())},
			{MutedUntil: new(bridge.Time{}), Unread: no},
		}
		var want []bridge.ChatPatch
		for _, change := range changes {
			if err := b.UpdateChat(t.Context(), grace, change, ""); err != nil {
				t.Fatal(err)
			}
			want = append(want, bridge.ChatPatch(change))
		}
		if diff := cmp.Diff(want, b.account.patches); diff != "" {
			t.Error(diff)
		}
		if err := b.UpdateChat(t.Context(), grace, client.ChatChange{}, ""); bridge.CodeOf(err) != bridge.CodeInvalid {
			t.Errorf("of nothing: %v", err)
		}
	})
}

func TestBlock_NamesThePerson(t *testing.T) {
	both(t, func(t *testing.T, b *bridgeUnderTest) {
		b.know(said(club, "ONE", "hello", 0))
		for _, err := range []error{b.Block(t.Context(), grace, "k"), b.Unblock(t.Context(), grace, "")} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if want := []string{"block " + string(grace) + " true", "block " + string(grace) + " false"}; !slices.Equal(b.account.acts, want) {
			t.Errorf("done %v, want %v", b.account.acts, want)
		}
	})
}

func TestSaveName_NamesThePerson(t *testing.T) {
	both(t, func(t *testing.T, b *bridgeUnderTest) {
		b.know(said(club, "ONE", "hello", 0))
		for _, name := range []bridge.ContactName{{Full: "Grace Hopper"}, {Full: "Grace Hopper", First: "Amazing"}, {}} {
			if err := b.SaveName(t.Context(), grace, name, ""); err != nil {
				t.Fatal(err)
			}
		}
		var want []string
		for _, entry := range []string{`"Grace Hopper" "Grace"`, `"Grace Hopper" "Amazing"`, `"" ""`} {
			want = append(want, "name "+string(grace)+" "+entry)
		}
		if !slices.Equal(b.account.acts, want) {
			t.Errorf("done %v, want %v", b.account.acts, want)
		}
	})
}

func TestActs_NameTheChat(t *testing.T) {
	both(t, func(t *testing.T, b *bridgeUnderTest) {
		b.know(said(club, "ONE", "hello", 0))
		for _, err := range []error{
			b.MarkRead(t.Context(), club, "", ""), b.MarkRead(t.Context(), club, "ONE", "read"),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		want := []string{"read " + string(club) + " ", "read " + string(club) + " ONE"}
		if !slices.Equal(b.account.acts, want) {
			t.Errorf("done %v, want %v", b.account.acts, want)
		}
		if err := b.MarkRead(t.Context(), club, "NONE", ""); bridge.CodeOf(err) != bridge.CodeNotFound {
			t.Errorf("up to nothing: %v", err)
		}
	})
}
