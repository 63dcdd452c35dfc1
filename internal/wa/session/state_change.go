package session

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/appstate"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	waLog "go.mau.fi/whatsmeow/util/log"
)

var (
	// ErrNoStateKey means that the phone has not sent the keys of the account's state.
	ErrNoStateKey = errors.New("no key of the account's state")
	// ErrStateRefused means that the network did not accept a change of the account's state.
	ErrStateRefused = errors.New("the change of the account's state was refused")
)

const (
	// stateTries is how often a change is sent if it conflicts with another device's change.
	stateTries   = 5
	codeConflict = 409
)

// ChangeState changes the state that the account's devices share. It returns nil if the network
// has accepted the change; [Client.FollowState] then applies it. whatsmeow's own method
// (SendAppState) reads and writes its copy of the state while a notification may change it: it
// would then send a wrong hash, which breaks the state for all devices.
func (c *Client) ChangeState(ctx context.Context, patch appstate.PatchInfo) error {
	return c.changeState(ctx, patch, (*Client).tryEncodeState)
}

// changeState sends a change until it does not conflict with a change by another device.
func (c *Client) changeState(ctx context.Context, patch appstate.PatchInfo, encode stateEncoder) error {
	for range stateTries {
		change, err := c.encodeState(ctx, patch, encode)
		if err != nil {
			return err
		}
		if change.patch == nil {
			return nil
		}
		code, err := c.sendState(ctx, patch.Type, change)
		if err != nil || code == 0 {
			return err
		}
		if code != codeConflict {
			return fmt.Errorf("%w (%s, code %d)", ErrStateRefused, patch.Type, code)
		}
		if err := c.FollowState(ctx, patch.Type); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w (%s): other devices keep changing it", ErrStateRefused, patch.Type)
}

// FollowState applies the changes of a collection of the account's state and emits events for
// them.
func (c *Client) FollowState(ctx context.Context, name appstate.WAPatchName) error {
	return c.FetchAppState(ctx, name, false, false)
}

// stateChange is an encoded change, with the values of whatsmeow's copy that it depends on.
type stateChange struct {
	patch   []byte
	key     []byte // the id of the key that it was encoded with
	version uint64
	hash    [128]byte
	values  map[string]string // by the changed index
}

// stateEncoder encodes a change. The patch of the result is nil if there is nothing to change.
type stateEncoder func(c *Client, ctx context.Context, patch appstate.PatchInfo) (stateChange, error)

// encodeState encodes a change twice, until both results depend on the same copy of the state.
// whatsmeow writes the version of a copy before its values and holds a lock while it does; asking
// for a synced state waits for that lock. So a copy that was half written the first time is
// complete the second time, and one that is half written the second time has another version.
func (c *Client) encodeState(ctx context.Context, patch appstate.PatchInfo, encode stateEncoder) (stateChange, error) {
	before, err := encode(c, ctx, patch)
	for err == nil {
		if err = c.FetchAppState(ctx, patch.Type, false, true); err != nil {
			break
		}
		var now stateChange
		if now, err = encode(c, ctx, patch); err == nil && now.followsLike(before) {
			return now, nil
		}
		before = now
	}
	return stateChange{}, err
}

func (s stateChange) followsLike(other stateChange) bool {
	return s.version == other.version && s.hash == other.hash && maps.Equal(s.values, other.values)
}

func (c *Client) tryEncodeState(ctx context.Context, patch appstate.PatchInfo) (change stateChange, err error) {
	if change.version, change.hash, err = c.stores.AppState.GetAppStateVersion(ctx, string(patch.Type)); err != nil {
		return change, Explain(err)
	}
	change.key, err = c.stores.AppStateKeys.GetLatestAppStateSyncKeyID(ctx)
	switch {
	case err != nil:
		return change, Explain(err)
	case change.key == nil:
		return change, ErrNoStateKey
	}
	read := &readState{c.stores.AppState, make(map[string]string)}
	encoder := appstate.NewProcessor(&store.Device{AppState: read, AppStateKeys: c.stores.AppStateKeys}, waLog.Noop)
	change.patch, err = encoder.EncodePatch(ctx, change.key, appstate.HashState{Version: change.version, Hash: change.hash}, patch)
	change.values = read.values
	return change, Explain(err)
}

// readState records which values of whatsmeow's copy were read.
type readState struct {
	store.AppStateStore
	values map[string]string
}

func (s *readState) GetAppStateMutationMAC(ctx context.Context, name string, index []byte) ([]byte, error) {
	value, err := s.AppStateStore.GetAppStateMutationMAC(ctx, name, index)
	s.values[string(index)] = string(value)
	return value, err
}

// sendState sends a change and returns the code of its refusal, or 0.
func (c *Client) sendState(ctx context.Context, name appstate.WAPatchName, change stateChange) (code int, err error) {
	answer, err := c.dangerous().SendIQ(ctx, whatsmeow.DangerousInfoQuery{
		Namespace: "w:sync:app:state", Type: "set", To: types.ServerJID,
		Content: []waBinary.Node{{Tag: "sync", Content: []waBinary.Node{{
			Tag:     "collection",
			Attrs:   waBinary.Attrs{"name": string(name), "version": change.version, "return_snapshot": false},
			Content: []waBinary.Node{{Tag: "patch", Content: change.patch}},
		}}}},
	})
	if err != nil {
		return 0, fmt.Errorf("change the account's state: %w", err)
	}
	collection, found := answer.GetOptionalChildByTag("sync", "collection")
	if !found {
		return 0, fmt.Errorf("%w (%s): the answer has no collection", ErrStateRefused, name)
	}
	if collection.AttrGetter().OptionalString("type") != "error" {
		return 0, nil
	}
	refusal := collection.GetChildByTag("error")
	return max(refusal.AttrGetter().OptionalInt("code"), 1), nil
}
