package session

import (
	"context"
	"fmt"
	"slices"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/proto/waServerSync"
	"go.mau.fi/whatsmeow/store"
	waLog "go.mau.fi/whatsmeow/util/log"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// AddressBook is the account's address book in one version of its collection. The zero value means
// that it is not known.
type AddressBook struct {
	People  []bridge.Contact // in the order in which they must be saved
	version uint64
}

// IsKnown reports whether the network has an address book of the account.
func (b AddressBook) IsKnown() bool { return b.version > 0 }

// AddressBook reads the whole address book from the network, because whatsmeow neither stores
// usernames nor notices removed entries.
func (c *Client) AddressBook(ctx context.Context) (AddressBook, error) {
	entries, version, err := c.readCollection(ctx, appstate.WAPatchCriticalUnblockLow)
	if err != nil {
		return AddressBook{}, err
	}
	return AddressBook{People: convert.AddressBook(entries), version: version}, nil
}

// IsOutdated reports whether whatsmeow has applied changes that are not in an address book.
func (c *Client) IsOutdated(ctx context.Context, book AddressBook) (bool, error) {
	version, _, err := c.stores.AppState.GetAppStateVersion(ctx, string(appstate.WAPatchCriticalUnblockLow))
	return version > book.version, Explain(err)
}

// ReadCollection returns the entries of one collection of the account's state, in the order in
// which they were set. whatsmeow stores only some kinds of entries and emits no events for a full
// sync. Its own copy of the collection is not changed.
func (c *Client) ReadCollection(ctx context.Context, name appstate.WAPatchName) ([]appstate.Mutation, error) {
	entries, _, err := c.readCollection(ctx, name)
	return entries, err
}

// readCollection also returns the version of the collection.
func (c *Client) readCollection(ctx context.Context, name appstate.WAPatchName) ([]appstate.Mutation, uint64, error) {
	scratch := &scratchState{new(store.NoopStore), make(map[string][]byte)}
	reader := appstate.NewProcessor(&store.Device{AppState: scratch, AppStateKeys: c.stores.AppStateKeys}, waLog.Noop)
	var (
		state   appstate.HashState
		entries []appstate.Mutation
	)
	for more := true; more; {
		patches, err := c.dangerous().FetchAppStatePatches(ctx, name, state.Version, state.Version == 0)
		if err != nil {
			return nil, 0, fmt.Errorf("ask for the collection %s: %w", name, err)
		}
		before := state.Version
		var mutations []appstate.Mutation
		if mutations, state, err = reader.DecodePatches(ctx, patches, state, true); err != nil {
			return nil, 0, fmt.Errorf("read the collection %s: %w", name, err)
		}
		entries = append(entries, mutations...)
		more = patches.HasMorePatches && state.Version > before
	}
	last := make(map[string]int, len(entries)) // by index
	for i := range entries {
		last[string(entries[i].IndexMAC)] = i
	}
	remaining := entries[:0]
	for i := range entries {
		if last[string(entries[i].IndexMAC)] == i && entries[i].Operation == waServerSync.SyncdMutation_SET {
			remaining = append(remaining, entries[i])
		}
	}
	return remaining, state.Version, nil
}

// scratchState holds the state of one call of ReadCollection.
type scratchState struct {
	*store.NoopStore
	values map[string][]byte
}

// PutAppStateMutationMACs stores the MACs that later patches refer to.
func (s *scratchState) PutAppStateMutationMACs(_ context.Context, _ string, _ uint64, mutations []store.AppStateMutationMAC) error {
	for _, mutation := range mutations {
		s.values[string(mutation.IndexMAC)] = slices.Clone(mutation.ValueMAC)
	}
	return nil
}

func (s *scratchState) DeleteAppStateMutationMACs(_ context.Context, _ string, indexMACs [][]byte) error {
	for _, index := range indexMACs {
		delete(s.values, string(index))
	}
	return nil
}

func (s *scratchState) GetAppStateMutationMAC(_ context.Context, _ string, indexMAC []byte) ([]byte, error) {
	return s.values[string(indexMAC)], nil
}
