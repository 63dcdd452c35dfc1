package signal

import (
	"context"
	"maps"

	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
)

func (m *Store) PutAppStateSyncKey(_ context.Context, id []byte, key store.AppStateSyncKey) error {
	return m.do(func() { m.syncKeys[string(id)] = key })
}

func (m *Store) GetAppStateSyncKey(_ context.Context, id []byte) (*store.AppStateSyncKey, error) {
	return locked(m, func() *store.AppStateSyncKey {
		if key, ok := m.syncKeys[string(id)]; ok {
			return &key
		}
		return nil
	}), nil
}

func (m *Store) GetLatestAppStateSyncKeyID(context.Context) ([]byte, error) {
	return locked(m, func() (latest []byte) {
		newest := int64(-1)
		for id, key := range m.syncKeys {
			if key.Timestamp > newest {
				latest, newest = []byte(id), key.Timestamp
			}
		}
		return latest
	}), nil
}

func (m *Store) GetAllAppStateSyncKeys(context.Context) ([]*store.AppStateSyncKey, error) {
	return locked(m, func() (out []*store.AppStateSyncKey) {
		for _, key := range m.syncKeys {
			out = append(out, &key)
		}
		return out
	}), nil
}

func (m *Store) PutAppStateVersion(_ context.Context, name string, version uint64, hash [128]byte) error {
	return m.do(func() { m.versions[name] = appStateVersion{version, hash} })
}

func (m *Store) GetAppStateVersion(_ context.Context, name string) (uint64, [128]byte, error) {
	v := locked(m, func() appStateVersion { return m.versions[name] })
	return v.version, v.hash, nil
}

func (m *Store) DeleteAppStateVersion(_ context.Context, name string) error {
	return m.do(func() { delete(m.versions, name) })
}

func (m *Store) PutAppStateMutationMACs(_ context.Context, name string, _ uint64, mutations []store.AppStateMutationMAC) error {
	return m.do(func() {
		for _, mutation := range mutations {
			m.macs[[2]string{name, string(mutation.IndexMAC)}] = mutation.ValueMAC
		}
	})
}

func (m *Store) DeleteAppStateMutationMACs(_ context.Context, name string, indexMACs [][]byte) error {
	return m.do(func() {
		for _, index := range indexMACs {
			delete(m.macs, [2]string{name, string(index)})
		}
	})
}

func (m *Store) GetAppStateMutationMAC(_ context.Context, name string, indexMAC []byte) ([]byte, error) {
	return locked(m, func() []byte { return m.macs[[2]string{name, string(indexMAC)}] }), nil
}

// changeContact changes one entry and returns the previous one.
func (m *Store) changeContact(user types.JID, change func(*types.ContactInfo)) (before types.ContactInfo) {
	return locked(m, func() types.ContactInfo {
		before := m.contacts[user]
		after := before
		after.Found = true
		change(&after)
		m.contacts[user] = after
		return before
	})
}

func (m *Store) PutPushName(_ context.Context, user types.JID, name string) (bool, string, error) {
	before := m.changeContact(user, func(c *types.ContactInfo) { c.PushName = name })
	return before.PushName != name, before.PushName, nil
}

func (m *Store) PutBusinessName(_ context.Context, user types.JID, name string) (bool, string, error) {
	before := m.changeContact(user, func(c *types.ContactInfo) { c.BusinessName = name })
	return before.BusinessName != name, before.BusinessName, nil
}

func (m *Store) PutContactName(_ context.Context, user types.JID, fullName, firstName string) error {
	m.changeContact(user, func(c *types.ContactInfo) { c.FullName, c.FirstName = fullName, firstName })
	return nil
}

func (m *Store) PutAllContactNames(ctx context.Context, contacts []store.ContactEntry) error {
	for _, c := range contacts {
		if err := m.PutContactName(ctx, c.JID, c.FullName, c.FirstName); err != nil {
			return err
		}
	}
	return nil
}

func (m *Store) GetContact(_ context.Context, user types.JID) (types.ContactInfo, error) {
	return locked(m, func() types.ContactInfo { return m.contacts[user] }), nil
}

func (m *Store) GetAllContacts(context.Context) (map[types.JID]types.ContactInfo, error) {
	return locked(m, func() map[types.JID]types.ContactInfo { return maps.Clone(m.contacts) }), nil
}

func (m *Store) PutMessageSecrets(ctx context.Context, inserts []store.MessageSecretInsert) error {
	for _, in := range inserts {
		if err := m.PutMessageSecret(ctx, in.Chat, in.Sender, in.ID, in.Secret); err != nil {
			return err
		}
	}
	return nil
}

func (m *Store) PutMessageSecret(_ context.Context, chat, sender types.JID, id types.MessageID, secret []byte) error {
	return m.do(func() {
		key := secretKey{m.canonical(chat), id}
		if _, known := m.secrets[key]; !known {
			m.secrets[key] = storedSecret{sender.ToNonAD(), secret}
		}
	})
}

// GetMessageSecret returns a secret under whichever form of the chat it was stored.
func (m *Store) GetMessageSecret(_ context.Context, chat, _ types.JID, id types.MessageID) ([]byte, types.JID, error) {
	found := locked(m, func() storedSecret { return m.secrets[secretKey{m.canonical(chat), id}] })
	return found.secret, found.sender, nil
}

// canonical returns a chat's LID if it is known, and otherwise the chat itself. The caller holds mu.
func (m *Store) canonical(chat types.JID) types.JID {
	chat = chat.ToNonAD()
	if lid := m.pnToLID[chat.User]; chat.Server == types.DefaultUserServer && lid != "" {
		return types.NewJID(lid, types.HiddenUserServer)
	}
	return chat
}

func (m *Store) PutPrivacyTokens(_ context.Context, tokens ...store.PrivacyToken) error {
	return m.do(func() {
		for _, token := range tokens {
			m.tokens[token.User] = token
		}
	})
}

func (m *Store) GetPrivacyToken(_ context.Context, user types.JID) (*store.PrivacyToken, error) {
	return locked(m, func() *store.PrivacyToken {
		if token, ok := m.tokens[user]; ok {
			return &token
		}
		return nil
	}), nil
}

func (m *Store) PutNCTSalt(_ context.Context, salt []byte) error {
	return m.do(func() { m.salt = salt })
}

func (m *Store) GetNCTSalt(context.Context) ([]byte, error) {
	return locked(m, func() []byte { return m.salt }), nil
}

func (m *Store) DeleteNCTSalt(ctx context.Context) error { return m.PutNCTSalt(ctx, nil) }

func (m *Store) PutManyLIDMappings(ctx context.Context, mappings []store.LIDMapping) error {
	for _, mapping := range mappings {
		if mapping.LID.Server != types.HiddenUserServer || mapping.PN.Server != types.DefaultUserServer {
			continue
		}
		if err := m.PutLIDMapping(ctx, mapping.LID, mapping.PN); err != nil {
			return err
		}
	}
	return nil
}

func (m *Store) PutLIDMapping(_ context.Context, lid, pn types.JID) error {
	return m.do(func() { m.lidToPN[lid.User], m.pnToLID[pn.User] = pn.User, lid.User })
}

func (m *Store) GetPNForLID(_ context.Context, lid types.JID) (types.JID, error) {
	return locked(m, func() types.JID { return mapped(m.lidToPN, lid, types.DefaultUserServer) }), nil
}

func (m *Store) GetLIDForPN(_ context.Context, pn types.JID) (types.JID, error) {
	return locked(m, func() types.JID { return mapped(m.pnToLID, pn, types.HiddenUserServer) }), nil
}

func mapped(users map[string]string, from types.JID, server string) types.JID {
	if user := users[from.User]; user != "" {
		return types.JID{User: user, Device: from.Device, Server: server}
	}
	return types.EmptyJID
}

func (m *Store) GetManyLIDsForPNs(_ context.Context, pns []types.JID) (map[types.JID]types.JID, error) {
	return locked(m, func() map[types.JID]types.JID {
		out := make(map[types.JID]types.JID, len(pns))
		for _, pn := range pns {
			if lid := mapped(m.pnToLID, pn, types.HiddenUserServer); !lid.IsEmpty() {
				out[pn] = lid
			}
		}
		return out
	}), nil
}
