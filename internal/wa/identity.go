package wa

import (
	"context"

	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// lidTap notifies the store of every mapping that whatsmeow learns, wherever it
// learns it (stanzas, device lists, groups, the phone's sync), so that one
// person stays one chat.
type lidTap struct {
	store.LIDStore
	learned func([]bridge.Identity)
}

// PutLIDMapping stores a mapping and passes it on if it is new.
func (t *lidTap) PutLIDMapping(ctx context.Context, lid, pn types.JID) error {
	known, _ := t.LIDStore.GetPNForLID(ctx, lid.ToNonAD())
	err := t.LIDStore.PutLIDMapping(ctx, lid, pn)
	if err == nil && known.User != pn.User {
		if identity, ok := convert.Identity(lid, pn); ok {
			t.learned([]bridge.Identity{identity})
		}
	}
	return err
}

// PutManyLIDMappings stores mappings and passes them on.
func (t *lidTap) PutManyLIDMappings(ctx context.Context, mappings []store.LIDMapping) error {
	var fresh []bridge.Identity
	for _, mapping := range mappings {
		if mapping.LID.IsEmpty() || mapping.PN.IsEmpty() {
			continue
		}
		known, _ := t.LIDStore.GetPNForLID(ctx, mapping.LID.ToNonAD())
		if identity, ok := convert.Identity(mapping.LID, mapping.PN); ok && known.User != mapping.PN.User {
			fresh = append(fresh, identity)
		}
	}
	err := noted(ctx, t.LIDStore.PutManyLIDMappings(ctx, mappings))
	if err == nil && len(fresh) > 0 {
		t.learned(fresh)
	}
	return err
}

// learnIdentities saves mappings outside a stanza's transaction. What cannot
// be saved now is caught up with at the next login (see catchUp).
func (m *Manager) learnIdentities(found []bridge.Identity) {
	facts := make([]bridge.Fact, len(found))
	for i, identity := range found {
		facts[i] = identity
	}
	if err := m.store.Save(m.background, facts...); err != nil {
		m.behind.Store(true)
		m.log.Warn().Err(err).Int("mappings", len(found)).Msg("identities not stored")
	}
}
