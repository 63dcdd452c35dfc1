package simnet

import (
	"bytes"
	"context"
	"slices"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/proto/waServerSync"
	"go.mau.fi/whatsmeow/store"
	"google.golang.org/protobuf/proto"

	"bridged/internal/simnet/signal"
)

// SendAppState changes any of the account's synced settings, as the phone's menus do. Unlike whatsmeow's own method it changes them as they
// are at the server: the client's copy may be changed by a notification meanwhile, and the patch would break the collection.
func (p *Phone) SendAppState(ctx context.Context, patch appstate.PatchInfo) error {
	return p.changeAppState(ctx, patch, setting)
}

// stateEncoder encodes a change of a collection with a processor that knows the collection as it is. The result is nil if there is nothing
// to change.
type stateEncoder func(ctx context.Context, processor *appstate.Processor, key *syncKey, state appstate.HashState, patch appstate.PatchInfo, entries []appstate.Mutation) ([]byte, error)

// setting encodes entries that are set.
func setting(ctx context.Context, processor *appstate.Processor, key *syncKey, state appstate.HashState, patch appstate.PatchInfo, _ []appstate.Mutation) ([]byte, error) {
	return processor.EncodePatch(ctx, key.id, state, patch)
}

func (p *Phone) changeAppState(ctx context.Context, patch appstate.PatchInfo, encode stateEncoder) error {
	key, err := p.beginAppState(ctx)
	if err != nil {
		return err
	}
	for name, changed := string(patch.Type), false; !changed; {
		mutations, state, processor, err := p.decodeCollection(ctx, name)
		if err != nil {
			return err
		}
		encoded, err := encode(ctx, processor, key, state, patch, remaining(mutations))
		if err != nil || encoded == nil {
			return err
		}
		if changed, err = p.net.ChangeAppState(p.device, name, int(state.Version), encoded); err != nil {
			return err
		}
	}
	return p.client.FetchAppState(ctx, patch.Type, false, false)
}

// readCollection decrypts all patches of a collection from the beginning, apart from the phone's own state, and returns the remaining
// mutations.
func (p *Phone) readCollection(ctx context.Context, name string) ([]appstate.Mutation, appstate.HashState, error) {
	mutations, state, _, err := p.decodeCollection(ctx, name)
	return remaining(mutations), state, err
}

// decodeCollection also returns a processor that knows the collection as it is.
func (p *Phone) decodeCollection(ctx context.Context, name string) ([]appstate.Mutation, appstate.HashState, *appstate.Processor, error) {
	scratch := signal.NewStore()
	p.appState.Lock()
	keys := slices.Clone(p.syncKeys)
	p.appState.Unlock()
	for _, key := range keys {
		if err := scratch.PutAppStateSyncKey(ctx, key.id, store.AppStateSyncKey{Data: key.data, Timestamp: key.at}); err != nil {
			return nil, appstate.HashState{}, nil, err
		}
	}
	list := &appstate.PatchList{Name: appstate.WAPatchName(name)}
	p.net.Mu.Lock()
	raw := slices.Clone(p.Account.AppState[name])
	p.net.Mu.Unlock()
	for _, data := range raw {
		patch := new(waServerSync.SyncdPatch)
		if err := proto.Unmarshal(data, patch); err != nil {
			return nil, appstate.HashState{}, nil, err
		}
		list.Patches = append(list.Patches, patch)
	}
	device := &store.Device{AppState: scratch, AppStateKeys: scratch}
	processor := appstate.NewProcessor(device, p.net.phoneLog)
	mutations, state, err := processor.DecodePatches(ctx, list, appstate.HashState{}, true)
	return mutations, state, processor, err
}

// remaining returns the last mutation of each index, without removed ones.
func remaining(mutations []appstate.Mutation) []appstate.Mutation {
	var kept []appstate.Mutation
	for i, m := range mutations {
		later := slices.ContainsFunc(mutations[i+1:], func(other appstate.Mutation) bool { return bytes.Equal(other.IndexMAC, m.IndexMAC) })
		if !later && m.Operation == waServerSync.SyncdMutation_SET {
			kept = append(kept, m)
		}
	}
	return kept
}
