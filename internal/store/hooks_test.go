package store

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
)

func TestHooks_AreKept(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ctx := context.Background()
	made, err := s.AddHook(ctx, bridge.Hook{Name: "pushes", Chat: aliceLID, Template: "gitea", Secret: "hush", KeyHash: []byte{1, 2}, Enabled: true})
	if err != nil {
		t.Fatal(err)
	}
	want := bridge.Hook{
		ID: made.ID, Name: "pushes", Chat: aliceLID, Template: "gitea", Secret: "hush", HasSecret: true, KeyHash: []byte{1, 2}, Enabled: true,
		CreatedAt: made.CreatedAt, UpdatedAt: made.UpdatedAt,
	}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Error(diff)
	}
	if err := s.Save(ctx, bridge.Identity{PN: alice, LID: aliceLID}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Hook(ctx, made.ID); err != nil || got.Chat != alice {
		t.Errorf("once the number is known: %s, %v", got.Chat, err)
	}
	refused := bridge.Invalid("not like this")
	if _, err := s.ChangeHook(ctx, made.ID, func(h *bridge.Hook) error { h.Name = "other"; return refused }); bridge.CodeOf(err) != bridge.CodeInvalid {
		t.Errorf("a change that is refused: %v", err)
	}
	changed, err := s.ChangeHook(ctx, made.ID, func(h *bridge.Hook) error { h.Secret, h.Enabled = "", false; return nil })
	if err != nil || changed.Name != "pushes" || changed.HasSecret || changed.Enabled {
		t.Errorf("changed: %+v, %v", changed, err)
	}
	at := bridge.Millis(1_700_000_000_000)
	for _, problem := range []string{"the signature is wrong", ""} {
		if err := s.NoteDelivery(ctx, made.ID, at, problem); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.Hook(ctx, made.ID); err != nil || got.LastError != nil || got.LastFailedAt == nil || *got.LastDeliveryAt != at {
		t.Errorf("noted: %+v, %v", got, err)
	}
	if err := s.RemoveHook(ctx, made.ID); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		func() error { _, err := s.Hook(ctx, made.ID); return err }(),
		func() error {
			_, err := s.ChangeHook(ctx, made.ID, func(*bridge.Hook) error { return nil })
			return err
		}(),
	} {
		if bridge.CodeOf(err) != bridge.CodeNotFound {
			t.Errorf("removed: %v", err)
		}
	}
}

// What a token made ends with it, also where a token below it made it.
func TestHooks_EndWithTheirToken(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ctx := context.Background()
	var parent, child bridge.Token
	var err error
	if parent, err = s.AddToken(ctx, bridge.Token{Name: "parent", Hash: []byte{1}}); err != nil {
		t.Fatal(err)
	}
	if child, err = s.AddToken(ctx, bridge.Token{Name: "child", Hash: []byte{2}, Parent: parent.ID}); err != nil {
		t.Fatal(err)
	}
	for _, token := range []int64{0, parent.ID, child.ID} {
		if _, err := s.AddHook(ctx, bridge.Hook{Name: "x", Chat: alice, Template: "json", KeyHash: []byte{1}, Token: token}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.RemoveToken(ctx, parent.ID); err != nil {
		t.Fatal(err)
	}
	left, err := s.Hooks(ctx)
	if err != nil || len(left) != 1 || left[0].Token != 0 {
		t.Errorf("left: %+v, %v", left, err)
	}
}
