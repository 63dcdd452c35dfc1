package session

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
)

func TestQuirk_TablesOfTheSession(t *testing.T) {
	t.Parallel()
	ctx := plainContext(t)
	db, container := newSessionDB(t)
	if err := container.LIDMap.PutLIDMapping(ctx, types.NewJID("100", types.HiddenUserServer), types.NewJID("15550100301", types.DefaultUserServer)); err != nil {
		t.Fatal(err)
	}
	version := countRows(t, db, "whatsmeow_version")
	if err := db.Erase(ctx); err != nil {
		t.Fatal(err)
	}
	if got := countRows(t, db, "whatsmeow_version"); got != version || got != 1 {
		t.Errorf("rows with the schema's version: got %d, want 1", got)
	}
	found, err := db.Identities(ctx)
	if want := (bridge.Identity{PN: "15550100301@s.whatsapp.net", LID: "100@lid"}); err != nil || len(found) != 1 || found[0] != want {
		t.Errorf("identities: got %v, %v, want %v", found, err, want)
	}
	tx, err := db.sql.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := tablesOf(ctx, tx)
	if err := errors.Join(err, tx.Rollback()); err != nil {
		t.Fatal(err)
	}
	for _, name := range append([]string{"whatsmeow_device", "whatsmeow_sessions", "whatsmeow_event_buffer"}, retainedTables...) {
		if !slices.Contains(tables, name) {
			t.Errorf("no table %s among %v", name, tables)
		}
	}
}

func TestQuirk_SettingsOfChats(t *testing.T) {
	t.Parallel()
	ctx := plainContext(t)
	db, container := newSessionDB(t)
	device := container.NewDevice()
	device.ID = &types.JID{User: "15550100200", Device: 1, Server: types.DefaultUserServer}
	device.Account = anyAccount
	if err := device.Save(ctx); err != nil {
		t.Fatal(err)
	}
	chat := types.NewJID("15550100301", types.DefaultUserServer)
	put := device.ChatSettings
	if err := errors.Join(put.PutArchived(ctx, chat, true), put.PutPinned(ctx, chat, true), put.PutMutedUntil(ctx, chat, store.MutedForever)); err != nil {
		t.Fatal(err)
	}
	found, err := db.ChatSettings(ctx)
	if err != nil || len(found) != 1 {
		t.Fatalf("got %v, %v", found, err)
	}
	if f := found[0].(bridge.ChatSettings); f.Chat != "15550100301@s.whatsapp.net" || !*f.Archived || !*f.Pinned || !f.MutedUntil.Equal(bridge.MutedForever().Time) {
		t.Errorf("got %+v", f)
	}
	until := time.Now().Add(time.Hour).Truncate(time.Second)
	if err := errors.Join(put.PutPinned(ctx, chat, false), put.PutMutedUntil(ctx, chat, until)); err != nil {
		t.Fatal(err)
	}
	if found, err = db.ChatSettings(ctx); err != nil || *found[0].(bridge.ChatSettings).Pinned || !found[0].(bridge.ChatSettings).MutedUntil.Equal(until) {
		t.Errorf("got %+v, %v", found, err)
	}
}

func TestQuirk_TablesOfSessionsAndIdentities(t *testing.T) {
	t.Parallel()
	ctx := plainContext(t)
	db, container := newSessionDB(t)
	device := container.NewDevice()
	id := types.JID{User: "15550100301", Device: 3, Server: types.DefaultUserServer}
	device.ID, device.Account = &id, anyAccount
	if err := device.Save(ctx); err != nil {
		t.Fatal(err)
	}
	key := [32]byte{1}
	if err := errors.Join(device.Identities.PutIdentity(ctx, "100_1:0", key), device.Sessions.PutSession(ctx, "100_1:2", []byte("session"))); err != nil {
		t.Fatal(err)
	}
	addresses := []string{"100_1:0", "100_1:1", "100_1:2"}
	if got, err := db.knownIdentities(id)(ctx, addresses); err != nil || !maps.Equal(got, map[string][32]byte{"100_1:0": key}) {
		t.Errorf("identities: got %v, %v", got, err)
	}
	if got, err := db.withoutSession(ctx, id, addresses); err != nil || !maps.Equal(got, map[string]bool{"100_1:0": true, "100_1:1": true}) {
		t.Errorf("without a session: got %v, %v", got, err)
	}
}
