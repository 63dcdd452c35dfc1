package client_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"bridged/internal/bridge"
)

// did records an act of the account.
func (a *account) did(format string, values ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.acts = append(a.acts, fmt.Sprintf(format, values...))
}

func (a *account) CreateLabel(_ context.Context, name string, color int) (bridge.Label, error) {
	a.did("create %s %d", name, color)
	return bridge.Label{ID: "8", Name: name, Color: color}, nil
}

func (a *account) ChangeLabel(_ context.Context, label bridge.Label, deletes bool) error {
	a.did("change %s %s %d %v", label.ID, label.Name, label.Color, deletes)
	return nil
}

func (a *account) LabelChat(_ context.Context, chat bridge.JID, label string, labelled bool) error {
	a.did("label %s %s %v", chat, label, labelled)
	return nil
}

func (a *account) LabelMessage(_ context.Context, m bridge.Message, label string, labelled bool) error {
	a.did("label %s %s %s %v", m.Chat, m.ID, label, labelled)
	return nil
}

func (a *account) UpdateAccount(_ context.Context, patch bridge.AccountPatch) error {
	a.did("account %v", patch.Fields())
	return nil
}

func (a *account) Privacy(context.Context) (bridge.Privacy, error) {
	return bridge.Privacy{LastSeen: new("contacts")}, nil
}

func (a *account) SetPrivacy(_ context.Context, p bridge.Privacy) error {
	a.did("privacy %v", p.Fields())
	return nil
}

func TestLabels_NameTheLabel(t *testing.T) {
	both(t, func(t *testing.T, b *bridgeUnderTest) {
		b.know(said(club, "ONE/1", "hello", 0), bridge.LabelChange{Label: bridge.Label{ID: "7", Name: "Lead", Color: 2}, Timestamp: bridge.At(noon)})
		listed, err := b.Labels(t.Context())
		if err != nil || len(listed) != 1 || listed[0].Name != "Lead" || listed[0].Color != 2 {
			t.Fatalf("listed %+v, %v", listed, err)
		}
		created, err := b.CreateLabel(t.Context(), bridge.LabelPatch{Name: new("Paid"), Color: new(3)}, "new")
		if err != nil || created.ID != "8" || created.Name != "Paid" {
			t.Fatalf("created %+v, %v", created, err)
		}
		changed, err := b.UpdateLabel(t.Context(), "7", bridge.LabelPatch{Color: new(4)}, "")
		if err != nil || changed.Name != "Lead" || changed.Color != 4 {
			t.Fatalf("changed %+v, %v", changed, err)
		}
		for _, err := range []error{
			b.SetLabel(t.Context(), club, "", "7", true, "on"), b.SetLabel(t.Context(), club, "", "7", false, ""), b.SetLabel(t.Context(), club, "ONE/1", "7", true, ""),
			b.DeleteLabel(t.Context(), "7", ""),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		want := []string{
			"create Paid 3", "change 7 Lead 4 false", "label " + string(club) + " 7 true", "label " + string(club) + " 7 false", "label " + string(club) + " ONE/1 7 true",
			"change 7 Lead 2 true",
		}
		if !slices.Equal(b.account.acts, want) {
			t.Errorf("done %q, want %q", b.account.acts, want)
		}
		for _, none := range []string{"9", "a/b", "%2F", strings.Repeat("7", 1<<20)} {
			if err := b.SetLabel(t.Context(), club, "", none, true, ""); err == nil {
				t.Errorf("the chat has the label %.20q", none)
			}
		}
	})
}

func TestAccount_NamesWhatChanges(t *testing.T) {
	both(t, func(t *testing.T, b *bridgeUnderTest) {
		privacy, err := b.Privacy(t.Context())
		if err != nil || privacy.LastSeen == nil || *privacy.LastSeen != "contacts" || privacy.Online != nil {
			t.Errorf("the settings are %+v, %v", privacy, err)
		}
		for _, err := range []error{
			b.UpdateAccount(t.Context(), bridge.AccountPatch{Name: new("Ada")}, "name"), b.UpdateAccount(t.Context(), bridge.AccountPatch{About: new("")}, ""),
			b.UpdatePrivacy(t.Context(), bridge.Privacy{LastSeen: new("none"), ReadReceipts: new("all")}, ""),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if want := []string{"account [name]", "account [about]", "privacy [lastSeen readReceipts]"}; !slices.Equal(b.account.acts, want) {
			t.Errorf("done %q, want %q", b.account.acts, want)
		}
		if err := b.UpdatePrivacy(t.Context(), bridge.Privacy{Online: new("nobody")}, ""); bridge.CodeOf(err) != bridge.CodeInvalid {
			t.Errorf("an unknown value: %v", err)
		}
	})
}
