package session

import (
	"context"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// lidTap reports each new mapping, so that a person stays in one chat.
type lidTap struct {
	store.LIDStore
	learned func([]bridge.Identity)
}

// PutLIDMapping stores a mapping and reports it if it is new.
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

// PutManyLIDMappings stores mappings and reports the new ones.
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

// failures collects the errors of the stores within one call of StoreHistory.
type failures struct{ first error }

type failuresKey struct{}

// noted records an error in the context's failures, if it has any, and returns it.
func noted(ctx context.Context, err error) error {
	if f, ok := ctx.Value(failuresKey{}).(*failures); ok && err != nil && f.first == nil {
		f.first = err
	}
	return err
}

// tokenTap records errors of storing trusted-contact tokens.
type tokenTap struct{ store.PrivacyTokenStore }

// PutPrivacyTokens stores tokens.
func (t tokenTap) PutPrivacyTokens(ctx context.Context, tokens ...store.PrivacyToken) error {
	return noted(ctx, t.PrivacyTokenStore.PutPrivacyTokens(ctx, tokens...))
}

// secretTap stores the secrets of messages without waiting for the disk. bridged's store has them
// together with the messages.
type secretTap struct {
	store.MsgSecretStore
	buffer store.EventBuffer // for its transactions
}

// PutMessageSecret stores a secret.
func (t secretTap) PutMessageSecret(ctx context.Context, chat, sender types.JID, id types.MessageID, secret []byte) error {
	return t.buffer.DoDecryptionTxn(lagging(ctx), func(ctx context.Context) error {
		return t.MsgSecretStore.PutMessageSecret(ctx, chat, sender, id, secret)
	})
}

// saltTap records errors of storing the salt of derived tokens.
type saltTap struct{ store.NCTSaltStore }

// PutNCTSalt stores the salt.
func (t saltTap) PutNCTSalt(ctx context.Context, salt []byte) error {
	return noted(ctx, t.NCTSaltStore.PutNCTSalt(ctx, salt))
}

// stateTap reports removals from the state that the account's devices share. whatsmeow emits no events
// for them.
type stateTap struct {
	store.AppStateStore
	removed func(collection appstate.WAPatchName)
}

// DeleteAppStateMutationMACs forgets removed entries. It reports them even if that fails, because
// whatsmeow has stored the new version of the collection before and does not apply the removal again.
func (t stateTap) DeleteAppStateMutationMACs(ctx context.Context, name string, indexMACs [][]byte) error {
	err := t.AppStateStore.DeleteAppStateMutationMACs(ctx, name, indexMACs)
	if len(indexMACs) > 0 && t.removed != nil {
		t.removed(appstate.WAPatchName(name))
	}
	return err
}
