package signal

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/util/keys"
	waLog "go.mau.fi/whatsmeow/util/log"

	"bridged/internal/simnet/wire"
)

// Store is a whatsmeow store that lives as long as its phone. It belongs to one device.
type Store struct {
	store.NoopStore // for data that phones do not need: settings of chats, redacted numbers, the device itself
	*leases         // separate encryption from decryption

	// mu guards all of the maps.
	mu         sync.Mutex
	identities map[string][32]byte
	sessions   map[string][]byte
	preKeys    map[uint32]*keys.PreKey
	uploaded   map[uint32]struct{}
	lastPreKey uint32
	senderKeys map[[2]string][]byte
	syncKeys   map[string]store.AppStateSyncKey
	versions   map[string]appStateVersion
	macs       map[[2]string][]byte
	contacts   map[types.JID]types.ContactInfo
	secrets    map[secretKey]storedSecret
	tokens     map[types.JID]store.PrivacyToken
	salt       []byte
	buffered   map[[32]byte]*store.BufferedEvent
	outgoing   map[secretKey]outgoingEvent
	lidToPN    map[string]string
	pnToLID    map[string]string
}

type (
	appStateVersion struct {
		version uint64
		hash    [128]byte
	}
	secretKey struct {
		chat types.JID
		id   types.MessageID
	}
	storedSecret struct {
		sender types.JID
		secret []byte
	}
	outgoingEvent struct {
		format    string
		plaintext []byte
	}
)

var (
	_ store.AllStores       = (*Store)(nil)
	_ store.DeviceContainer = (*Store)(nil)
)

// NewStore returns an empty store.
func NewStore() *Store {
	return &Store{
		leases:     newLeases(),
		identities: make(map[string][32]byte), sessions: make(map[string][]byte), preKeys: make(map[uint32]*keys.PreKey),
		uploaded: make(map[uint32]struct{}), senderKeys: make(map[[2]string][]byte), syncKeys: make(map[string]store.AppStateSyncKey),
		versions: make(map[string]appStateVersion), macs: make(map[[2]string][]byte), contacts: make(map[types.JID]types.ContactInfo),
		secrets: make(map[secretKey]storedSecret),
		tokens:  make(map[types.JID]store.PrivacyToken), buffered: make(map[[32]byte]*store.BufferedEvent),
		outgoing: make(map[secretKey]outgoingEvent), lidToPN: make(map[string]string), pnToLID: make(map[string]string),
	}
}

// NewDevice returns an unpaired whatsmeow device with its store in memory, for clients without a session file. That many of its keys count as
// uploaded.
func NewDevice(log waLog.Logger, uploaded int) *store.Device {
	m := NewStore()
	m.Stock(uploaded)
	identity := keys.NewKeyPair()
	device := &store.Device{
		Log: log, NoiseKey: keys.NewKeyPair(), IdentityKey: identity, SignedPreKey: identity.CreateSignedPreKey(1),
		RegistrationID: 4712, AdvSecretKey: wire.Random(32),
	}
	m.Serve(device)
	return device
}

// Serve makes a device use the store.
func (m *Store) Serve(device *store.Device) {
	device.SetAllStores(m)
	device.LIDs, device.Container, device.Initialized = m, m, true
}

// Stock generates one-time keys that count as uploaded.
func (m *Store) Stock(count int) []*keys.PreKey {
	m.mu.Lock()
	defer m.mu.Unlock()
	stock := make([]*keys.PreKey, count)
	for i := range stock {
		stock[i] = m.newPreKey()
		m.uploaded[stock[i].KeyID] = struct{}{}
	}
	return stock
}

// Rewind calls act and then undoes its changes to sessions and group keys.
func (m *Store) Rewind(act func() error) error {
	sessions := locked(m, func() map[string][]byte { return maps.Clone(m.sessions) })
	senderKeys := locked(m, func() map[[2]string][]byte { return maps.Clone(m.senderKeys) })
	if err := act(); err != nil {
		return err
	}
	return m.do(func() { m.sessions, m.senderKeys = sessions, senderKeys })
}

// locked runs f under the lock and returns its result.
func locked[T any](m *Store, f func() T) T {
	m.mu.Lock()
	defer m.mu.Unlock()
	return f()
}

func (m *Store) do(f func()) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
	return nil
}

// DeleteDevice waits until no other method runs: whatsmeow then detaches the store from the device without a lock.
func (m *Store) DeleteDevice(context.Context, *store.Device) error { return m.do(func() {}) }

func (m *Store) PutIdentity(_ context.Context, address string, key [32]byte) error {
	return m.do(func() { m.identities[address] = key })
}

func (m *Store) DeleteAllIdentities(_ context.Context, phone string) error {
	return m.do(func() { deletePrefixed(m.identities, phone+":") })
}

func (m *Store) DeleteIdentity(_ context.Context, address string) error {
	return m.do(func() { delete(m.identities, address) })
}

func (m *Store) IsTrustedIdentity(_ context.Context, address string, key [32]byte) (bool, error) {
	return locked(m, func() bool {
		known, ok := m.identities[address]
		return !ok || known == key
	}), nil
}

func deletePrefixed[V any](of map[string]V, prefix string) {
	maps.DeleteFunc(of, func(key string, _ V) bool { return strings.HasPrefix(key, prefix) })
}

func (m *Store) GetSession(ctx context.Context, address string) ([]byte, error) {
	m.load(ctx)
	return locked(m, func() []byte { return m.sessions[address] }), nil
}

func (m *Store) HasSession(_ context.Context, address string) (bool, error) {
	return locked(m, func() bool { return m.sessions[address] != nil }), nil
}

func (m *Store) GetManySessions(ctx context.Context, addresses []string) (map[string][]byte, error) {
	m.load(ctx)
	return locked(m, func() map[string][]byte {
		out := make(map[string][]byte, len(addresses))
		for _, address := range addresses {
			out[address] = m.sessions[address]
		}
		return out
	}), nil
}

func (m *Store) PutSession(ctx context.Context, address string, session []byte) error {
	defer m.stored(ctx)
	return m.do(func() { m.sessions[address] = session })
}

func (m *Store) PutManySessions(ctx context.Context, sessions map[string][]byte) error {
	defer m.stored(ctx)
	return m.do(func() { maps.Copy(m.sessions, sessions) })
}

func (m *Store) DeleteAllSessions(_ context.Context, phone string) error {
	return m.do(func() { deletePrefixed(m.sessions, phone+":") })
}

func (m *Store) DeleteSession(ctx context.Context, address string) error {
	defer m.stored(ctx)
	return m.do(func() { delete(m.sessions, address) })
}

// MigratePNToLID moves the entries of a number to its LID, once that is known.
func (m *Store) MigratePNToLID(_ context.Context, pn, lid types.JID) error {
	from, to := pn.SignalAddressUser()+":", lid.SignalAddressUser()+":"
	return m.do(func() {
		renamePrefix(m.sessions, from, to)
		renamePrefix(m.identities, from, to)
		for key, value := range m.senderKeys {
			if strings.HasPrefix(key[1], from) {
				delete(m.senderKeys, key)
				m.senderKeys[[2]string{key[0], to + strings.TrimPrefix(key[1], from)}] = value
			}
		}
	})
}

func renamePrefix[V any](of map[string]V, from, to string) {
	for key, value := range of {
		if strings.HasPrefix(key, from) {
			delete(of, key)
			of[to+strings.TrimPrefix(key, from)] = value
		}
	}
}

func (m *Store) GetOrGenPreKeys(_ context.Context, count uint32) ([]*keys.PreKey, error) {
	return locked(m, func() []*keys.PreKey {
		var out []*keys.PreKey
		for _, id := range slices.Sorted(maps.Keys(m.preKeys)) {
			if _, done := m.uploaded[id]; !done && uint32(len(out)) < count {
				out = append(out, m.preKeys[id])
			}
		}
		for uint32(len(out)) < count {
			out = append(out, m.newPreKey())
		}
		return out
	}), nil
}

func (m *Store) newPreKey() *keys.PreKey {
	m.lastPreKey++
	key := keys.NewPreKey(m.lastPreKey)
	m.preKeys[key.KeyID] = key
	return key
}

func (m *Store) GenOnePreKey(context.Context) (*keys.PreKey, error) {
	return locked(m, func() *keys.PreKey {
		key := m.newPreKey()
		m.uploaded[key.KeyID] = struct{}{}
		return key
	}), nil
}

func (m *Store) GetPreKey(_ context.Context, id uint32) (*keys.PreKey, error) {
	return locked(m, func() *keys.PreKey { return m.preKeys[id] }), nil
}

func (m *Store) RemovePreKey(_ context.Context, id uint32) error {
	return m.do(func() {
		delete(m.preKeys, id)
		delete(m.uploaded, id)
	})
}

func (m *Store) MarkPreKeysAsUploaded(_ context.Context, upToID uint32) error {
	return m.do(func() {
		for id := range m.preKeys {
			if id <= upToID {
				m.uploaded[id] = struct{}{}
			}
		}
	})
}

func (m *Store) UploadedPreKeyCount(context.Context) (int, error) {
	return locked(m, func() int { return len(m.uploaded) }), nil
}

func (m *Store) PutSenderKey(_ context.Context, group, user string, session []byte) error {
	return m.do(func() { m.senderKeys[[2]string{group, user}] = session })
}

func (m *Store) GetSenderKey(_ context.Context, group, user string) ([]byte, error) {
	return locked(m, func() []byte { return m.senderKeys[[2]string{group, user}] }), nil
}

func (m *Store) GetBufferedEvent(_ context.Context, hash [32]byte) (*store.BufferedEvent, error) {
	return locked(m, func() *store.BufferedEvent { return m.buffered[hash] }), nil
}

func (m *Store) PutBufferedEvent(_ context.Context, hash [32]byte, plaintext []byte, at time.Time) error {
	return m.do(func() {
		m.buffered[hash] = &store.BufferedEvent{Plaintext: plaintext, InsertTime: time.Now(), ServerTime: at}
	})
}

// DoDecryptionTxn decrypts one message while nothing is encrypted.
func (m *Store) DoDecryptionTxn(ctx context.Context, decrypt func(context.Context) error) error {
	held, release := m.Hold(ctx)
	defer release()
	return decrypt(held)
}

func (m *Store) ClearBufferedEventPlaintext(_ context.Context, hash [32]byte) error {
	return m.do(func() {
		if event := m.buffered[hash]; event != nil {
			m.buffered[hash] = &store.BufferedEvent{InsertTime: event.InsertTime, ServerTime: event.ServerTime}
		}
	})
}

func (m *Store) GetOutgoingEvent(_ context.Context, chat, alt types.JID, id types.MessageID) (string, []byte, error) {
	event := locked(m, func() outgoingEvent {
		if event, ok := m.outgoing[secretKey{chat, id}]; ok {
			return event
		}
		return m.outgoing[secretKey{alt, id}]
	})
	return event.format, event.plaintext, nil
}

func (m *Store) AddOutgoingEvent(_ context.Context, chat types.JID, id types.MessageID, format string, plaintext []byte) error {
	return m.do(func() { m.outgoing[secretKey{chat, id}] = outgoingEvent{format, plaintext} })
}
