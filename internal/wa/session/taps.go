package session

import (
	"context"

	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// lidTap reports each mapping that whatsmeow learns, so that one person stays one chat.
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

// failures gathers what the stores could not store in one goroutine.
type failures struct{ first error }

type failuresKey struct{}

// noted notes an error where the context asks for it, and returns it.
func noted(ctx context.Context, err error) error {
	if f, is := ctx.Value(failuresKey{}).(*failures); is && err != nil && f.first == nil {
		f.first = err
	}
	return err
}

// tokenTap notes when trusted-contact tokens are not stored.
type tokenTap struct{ store.PrivacyTokenStore }

// PutPrivacyTokens stores tokens.
func (t tokenTap) PutPrivacyTokens(ctx context.Context, tokens ...store.PrivacyToken) error {
	return noted(ctx, t.PrivacyTokenStore.PutPrivacyTokens(ctx, tokens...))
}

// secretTap stores the secrets of messages without waiting for the disk: the store has
// them with their messages, too.
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

// saltTap notes when the salt of derived tokens is not stored.
type saltTap struct{ store.NCTSaltStore }

// PutNCTSalt stores the salt.
func (t saltTap) PutNCTSalt(ctx context.Context, salt []byte) error {
	return noted(ctx, t.NCTSaltStore.PutNCTSalt(ctx, salt))
}
