package session

import (
	"context"
	"maps"

	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
)

// sendWrites collects what whatsmeow would commit one by one while it encrypts a message: the
// secret, the group's sender key, the identity of each device. It is stored together with the
// sessions in one durable commit, before anything is sent. A failed send discards it. The mutex
// of its hold guards it.
type sendWrites struct {
	known      map[string][32]byte // stored identities, by address
	changed    map[string][32]byte // identities to store
	senderKeys map[senderKey][]byte
	secrets    []store.MessageSecretInsert
	reached    map[string][]byte // the stored sessions
}

// senderKey identifies the key with which one sender encrypts for a group.
type senderKey struct{ group, sender string }

// setIdentity records an identity that differs from the stored one.
func (h *hold) setIdentity(address string, key [32]byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if stored, known := h.known[address]; known && stored == key {
		delete(h.changed, address)
		return
	}
	if h.changed == nil {
		h.changed = make(map[string][32]byte)
	}
	h.changed[address] = key
}

// identity returns the identity of an address, if the hold knows it.
func (h *hold) identity(address string) (key [32]byte, known bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if key, known = h.changed[address]; !known {
		key, known = h.known[address]
	}
	return key, known
}

// isSending reports whether h is the hold of a send that has stored nothing yet.
func (h *hold) isSending() bool {
	if !h.ofSend() {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.stored
}

// PutSenderKey holds the sender key of a send until the sessions are stored.
func (s *lockedStore) PutSenderKey(ctx context.Context, group, sender string, key []byte) error {
	h := holdOf(ctx)
	if !h.isSending() {
		return s.SenderKeyStore.PutSenderKey(ctx, group, sender, key)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.senderKeys == nil {
		h.senderKeys = make(map[senderKey][]byte)
	}
	h.senderKeys[senderKey{group, sender}] = key
	return nil
}

// GetSenderKey also returns keys that PutSenderKey holds.
func (s *lockedStore) GetSenderKey(ctx context.Context, group, sender string) ([]byte, error) {
	if h := holdOf(ctx); h.isSending() {
		h.mu.Lock()
		key, kept := h.senderKeys[senderKey{group, sender}]
		h.mu.Unlock()
		if kept {
			return key, nil
		}
	}
	return s.SenderKeyStore.GetSenderKey(ctx, group, sender)
}

// PutMessageSecret holds the secret of a message that is being sent until the sessions are
// stored.
func (s *lockedStore) PutMessageSecret(ctx context.Context, chat, sender types.JID, id types.MessageID, secret []byte) error {
	h := holdOf(ctx)
	if !h.isSending() {
		return s.MsgSecretStore.PutMessageSecret(ctx, chat, sender, id, secret)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.secrets = append(h.secrets, store.MessageSecretInsert{Chat: chat, Sender: sender, ID: id, Secret: secret})
	return nil
}

// takeWrites returns the collected writes of a send and ends the collection.
func (h *hold) takeWrites() sendWrites {
	h.mu.Lock()
	defer h.mu.Unlock()
	kept := sendWrites{changed: maps.Clone(h.changed), senderKeys: maps.Clone(h.senderKeys), secrets: h.secrets}
	clear(h.changed)
	clear(h.senderKeys)
	h.secrets = nil
	return kept
}

// storeSend stores the collected writes of a send and its sessions in one transaction.
func (s *lockedStore) storeSend(ctx context.Context, writes sendWrites, sessions map[string][]byte) error {
	return s.EventBuffer.DoDecryptionTxn(ctx, func(ctx context.Context) error {
		for address, key := range writes.changed {
			if err := s.IdentityStore.PutIdentity(ctx, address, key); err != nil {
				return err
			}
		}
		for name, key := range writes.senderKeys {
			if err := s.SenderKeyStore.PutSenderKey(ctx, name.group, name.sender, key); err != nil {
				return err
			}
		}
		if len(writes.secrets) > 0 {
			if err := s.MsgSecretStore.PutMessageSecrets(ctx, writes.secrets); err != nil {
				return err
			}
		}
		return s.SessionStore.PutManySessions(ctx, sessions)
	})
}

// StoreRest stores the collected writes of a send that reached no device and thus stored no
// sessions. The message was sent, so an error is only logged.
func (c *Client) StoreRest(ctx context.Context) { c.store.storeRest(ctx) }

func (s *lockedStore) storeRest(ctx context.Context) {
	kept := holdOf(ctx).takeWrites()
	if len(kept.senderKeys)+len(kept.secrets) == 0 {
		return
	}
	if err := s.storeSend(ctx, kept, nil); err != nil {
		s.log.Warn().Err(err).Msg("cannot store the keys of a message without recipients")
	}
}
