package wa

import (
	"context"
	"fmt"
	"slices"

	"go.mau.fi/whatsmeow/appstate"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waServerSync"
	"go.mau.fi/whatsmeow/proto/waSyncAction"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	waLog "go.mau.fi/whatsmeow/util/log"

	"bridged/internal/bridge"
)

// whatsmeow asks for usernames and reads none of them. It gives each stanza to the
// logger of what it receives, before it handles the stanza, and in the order in
// which they came: there they are read.

// usernameAttrs are the attributes that name a person, with those that tell the
// person's username.
var usernameAttrs = map[string][]string{
	"from":        {"username"},
	"participant": {"participant_username"},
	"recipient":   {"peer_recipient_username", "recipient_username"},
	"jid":         {"participant_username", "username"},
	"creator":     {"creator_username"},
	"s_o":         {"s_o_username"},
}

// usernamesIn returns the usernames that a stanza tells, by the form in which it
// names the person; empty for somebody who has none. A person of whom it says
// nothing is not among them.
func usernamesIn(stanza *waBinary.Node) map[bridge.JID]string {
	switch stanza.Tag {
	case "message", "notification", "iq":
		return addUsernames(nil, stanza)
	}
	return nil
}

func addUsernames(found map[bridge.JID]string, node *waBinary.Node) map[bridge.JID]string {
	add := func(person any, name string) {
		if jid, _ := person.(types.JID); isPerson(jid) {
			if found == nil {
				found = make(map[bridge.JID]string)
			}
			found[toBridge(jid)] = name
		}
	}
	for person, attributes := range usernameAttrs {
		jid, names := node.Attrs[person]
		if !names {
			continue
		}
		for _, attribute := range attributes {
			if name, told := node.Attrs[attribute].(string); told {
				add(jid, name)
				break
			}
		}
	}
	for _, child := range node.GetChildren() {
		if child.Tag == "username" && node.Tag == "user" {
			add(node.Attrs["jid"], contentText(&child))
			continue
		}
		found = addUsernames(found, &child)
	}
	return found
}

// contentText returns a node's text, which the codec decodes as a string where it
// looks like a token or a number.
func contentText(node *waBinary.Node) string {
	switch content := node.Content.(type) {
	case []byte:
		return string(content)
	case string:
		return content
	}
	return ""
}

// lidContactFacts returns what the account's address book says of a person without
// a number, of which whatsmeow makes no event of its own.
func lidContactFacts(index []string, value *waSyncAction.SyncActionValue) []bridge.Fact {
	action := value.GetLidContactAction()
	if len(index) < 2 || index[0] != appstate.IndexLIDContact || action == nil {
		return nil
	}
	jid, name, username := parseToBridge(index[1]), action.GetFullName(), action.GetUsername()
	if !jid.IsLID() {
		return nil
	}
	if name == "" {
		name = action.GetFirstName()
	}
	return []bridge.Fact{bridge.Contact{JID: jid, Name: &name, Username: &username}}
}

// addressBook reads the account's address book whole, beside whatsmeow, which makes
// no events of a whole sync and keeps no usernames.
func (l *link) addressBook(ctx context.Context) (facts []bridge.Fact, err error) {
	scratch := &scratchState{values: make(map[string][]byte)}
	reading := appstate.NewProcessor(&store.Device{AppState: scratch, AppStateKeys: l.stores.syncKeys}, waLog.Noop)
	state, latest := appstate.HashState{}, make(map[string]appstate.Mutation)
	for more := true; more; {
		//lint:ignore SA1019 nothing else returns a collection, and the library's version is pinned
		patches, err := l.cli.DangerousInternals().FetchAppStatePatches(ctx, appstate.WAPatchCriticalUnblockLow, state.Version, state.Version == 0)
		if err != nil {
			return nil, fmt.Errorf("ask for the address book: %w", err)
		}
		before := state.Version
		var mutations []appstate.Mutation
		if mutations, state, err = reading.DecodePatches(ctx, patches, state, true); err != nil {
			return nil, fmt.Errorf("read the address book: %w", err)
		}
		for _, mutation := range mutations {
			latest[string(mutation.IndexMAC)] = mutation
		}
		more = patches.HasMorePatches && state.Version > before
	}
	for _, mutation := range latest {
		if mutation.Operation == waServerSync.SyncdMutation_SET {
			facts = append(facts, lidContactFacts(mutation.Index, mutation.Action)...)
		}
	}
	return facts, nil
}

// scratchState is the state of one reading of a collection.
type scratchState struct{ values map[string][]byte }

func (*scratchState) PutAppStateVersion(context.Context, string, uint64, [128]byte) error { return nil }

func (*scratchState) GetAppStateVersion(context.Context, string) (version uint64, hash [128]byte, err error) {
	return version, hash, nil
}

func (*scratchState) DeleteAppStateVersion(context.Context, string) error { return nil }

// PutAppStateMutationMACs keeps what later patches refer to.
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
