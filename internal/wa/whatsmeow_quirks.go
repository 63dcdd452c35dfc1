package wa

import (
	"bytes"
	"compress/zlib"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"go.mau.fi/libsignal/keys/prekey"
	signallog "go.mau.fi/libsignal/logger"
	"go.mau.fi/libsignal/signalerror"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/appstate"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"go.mau.fi/whatsmeow/util/gcmutil"
	"go.mau.fi/whatsmeow/util/hkdfutil"
	"modernc.org/sqlite"

	"bridged/internal/bridge"
)

// This file holds everything that leans on what whatsmeow does but does not
// promise. Each assumption has a test whose name begins with TestQuirk;
// "make quirks WHATSMEOW=<version>" runs them against another version.

// Formats of whatsmeow's log that mean something.
const (
	// logFrameLost is how whatsmeow drops a frame that does not decrypt. A
	// stanza is missing then, and the network sends it again only on the next
	// connection.
	logFrameLost = "Failed to decrypt frame: %v"
	// logConnectionEnded is how whatsmeow tells that a connection has ended,
	// whoever ended it. The account's status tells of those that are lost.
	logConnectionEnded = "Error reading from websocket: %v"
	// logHandlerFailed is whatsmeow's echo of our own refusals, one for each
	// stanza behind the first.
	logHandlerFailed = "Handler for %s failed"
)

// handledTheEnd reports whether a format is one of those with which whatsmeow
// closes its handling of a connection's end (client.go, onDisconnect).
func handledTheEnd(format string) bool {
	switch format {
	case "Emitting Disconnected event",
		"OnDisconnect() called, but it was expected, so not emitting event",
		"OnDisconnect() called after manual disconnection":
		return true
	}
	return false
}

// expectEnd keeps whatsmeow from telling of the next end of its connection.
func expectEnd(cli *whatsmeow.Client) {
	//lint:ignore SA1019 nothing else expects an end without bringing it about, and the library's version is pinned
	cli.DangerousInternals().ExpectDisconnect()
}

// Formats in which whatsmeow logs that the devices of a number have changed. All
// begin with the number.
const (
	logDevicesUnknown = "No device list cached for %s, ignoring device list notification"
	logDevicesChanged = "%s's device list "
)

// changedDevices returns the number whose devices a line of whatsmeow's log says
// to have changed.
func changedDevices(format string, args []any) (number types.JID, ok bool) {
	if len(args) == 0 || format != logDevicesUnknown && !strings.HasPrefix(format, logDevicesChanged) {
		return types.JID{}, false
	}
	number, ok = args[0].(types.JID)
	return number, ok && number.Server == types.DefaultUserServer
}

// forgetDevices empties whatsmeow's list of a person's devices, by number or by
// LID, as a change of an unknown kind does, so that it asks for them again.
func (l *link) forgetDevices(ctx context.Context, person types.JID) {
	//lint:ignore SA1019 nothing else empties the list, and the library's version is pinned
	l.cli.DangerousInternals().HandleDeviceNotification(ctx, &waBinary.Node{
		Tag: "notification", Attrs: waBinary.Attrs{"from": person, "type": "devices"}, Content: []waBinary.Node{{Tag: "update", Attrs: waBinary.Attrs{"device_hash": ""}}},
	})
}

// logsStanzas reports whether the debug output of one of whatsmeow's loggers
// is whole stanzas, keys and pairing secrets among them.
func logsStanzas(module string) bool {
	return module == "Recv" || module == "Send" || module == "Socket"
}

// libsignal prints to standard output whatever the client's logger is, and its
// debug output is key material; what matters comes back as errors. Its logger
// is one for the process and read without a lock by everything that encrypts,
// so it is set before anything else runs.
func init() {
	var quiet signallog.Loggable = quietSignal{}
	signallog.Setup(&quiet)
}

// quietSignal drops libsignal's log.
type quietSignal struct{}

func (quietSignal) Debug(string, string)   {}
func (quietSignal) Info(string, string)    {}
func (quietSignal) Warning(string, string) {}
func (quietSignal) Error(string, string)   {}
func (quietSignal) Configure(string)       {}

// setNoiseRoot sets the key that signs the network's certificates. It is one
// for the process and read without a lock: it must be set before any client
// exists, and is only written if it changes.
func setNoiseRoot(key [32]byte) {
	if key != whatsmeow.WACertPubKey {
		whatsmeow.WACertPubKey = key
	}
}

// isNodeNotWritten reports whether whatsmeow failed to write a message's
// stanza to the socket.
func isNodeNotWritten(err error) bool {
	return strings.Contains(err.Error(), "failed to send message node")
}

// isNumberUnknown reports whether the network knows nobody with the number.
func isNumberUnknown(err error) bool { return strings.Contains(err.Error(), "no LID found for") }

// unlink asks the network to remove this device from the account (client.go,
// Logout). whatsmeow's own method then deletes the keys by taking the stores from
// under whatever still uses them, a data race: the caller wipes them, once the
// connection is closed.
func unlink(ctx context.Context, cli *whatsmeow.Client, device types.JID) error {
	//lint:ignore SA1019 nothing else asks without deleting, and the library's version is pinned
	_, err := cli.DangerousInternals().SendIQ(ctx, whatsmeow.DangerousInfoQuery{
		Namespace: "md", Type: "set", To: types.ServerJID,
		Content: []waBinary.Node{{Tag: "remove-companion-device", Attrs: waBinary.Attrs{"jid": device, "reason": "user_initiated"}}},
	})
	if err != nil {
		return fmt.Errorf("ask to be unlinked: %w", err)
	}
	return nil
}

// serverCode returns the code with which the network refused a message, or 0.
func serverCode(err error) int {
	var code int
	if _, scanErr := fmt.Sscanf(strings.TrimPrefix(err.Error(), whatsmeow.ErrServerReturnedError.Error()), "%d", &code); scanErr != nil {
		return 0
	}
	return code
}

// openSecret decrypts a part that a sender encrypted with the secret of a message
// by an author, each in one of their forms. whatsmeow's own methods try the forms
// of the author alone, and ask its store for the secret.
func openSecret(p sealedPart, secret []byte, sender, author types.JID) ([]byte, error) {
	id, by := p.key.GetID(), sender.ToNonAD().String()
	use := id + author.ToNonAD().String() + by + string(p.use)
	var additional []byte
	if p.use == whatsmeow.EncSecretPollVote {
		additional = fmt.Appendf(nil, "%s\x00%s", id, by)
	}
	return opened(func() ([]byte, error) {
		return gcmutil.Decrypt(hkdfutil.SHA256(secret, nil, []byte(use), 32), p.iv, p.payload, additional)
	})
}

// opened runs one of whatsmeow's decryptions of what a sender encrypted. They panic at a nonce of another length and at fields that
// are missing; here that is an error like any other.
func opened[T any](decrypt func() (T, error)) (content T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("malformed: %v", r)
		}
	}()
	return decrypt()
}

// keptTables outlast a session: the version of the schema, and which numbers
// and LIDs belong together.
var keptTables = []string{"whatsmeow_version", "whatsmeow_lid_map"}

// tablesOf lists whatsmeow's tables.
func tablesOf(ctx context.Context, tx *sql.Tx) (tables []string, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'whatsmeow\_%' ESCAPE '\'`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var table string
		if err := rows.Scan(&table); err != nil {
			return nil, err
		}
		tables = append(tables, table)
	}
	return tables, rows.Err()
}

// secretsAtOnce is how many secrets one statement deletes: the database has one
// connection, and messages wait for it.
const secretsAtOnce = 2000

// newestSecret returns the session whose message secrets there are, and the last row.
// whatsmeow never deletes a row, and SQLite numbers them in the order of their coming.
func (k *sessionDB) newestSecret(ctx context.Context) (device string, row int64, err error) {
	err = k.QueryRowContext(ctx, `SELECT our_jid, rowid FROM whatsmeow_message_secrets ORDER BY rowid DESC LIMIT 1`).Scan(&device, &row)
	if errors.Is(err, sql.ErrNoRows) {
		return "", 0, nil
	}
	return device, row, err
}

// deleteSecrets deletes the message secrets up to a row, and returns how many.
func (k *sessionDB) deleteSecrets(ctx context.Context, last int64) (total int64, err error) {
	for {
		result, err := k.ExecContext(ctx, `
			DELETE FROM whatsmeow_message_secrets WHERE rowid IN
				(SELECT rowid FROM whatsmeow_message_secrets WHERE rowid <= ? ORDER BY rowid LIMIT ?)`, last, secretsAtOnce)
		if err != nil {
			return total, sessionFile.Explain(err)
		}
		n, err := result.RowsAffected()
		if total += n; err != nil || n < secretsAtOnce {
			return total, err
		}
	}
}

// clearContent clears the decrypted content of stanzas that came before a
// moment, and returns how many had any.
func (k *sessionDB) clearContent(ctx context.Context, before time.Time) (int64, error) {
	result, err := k.ExecContext(ctx, `
		UPDATE whatsmeow_event_buffer SET plaintext = NULL
		WHERE plaintext IS NOT NULL AND insert_timestamp < ?`, before.UnixMilli())
	if err != nil {
		return 0, sessionFile.Explain(err)
	}
	return result.RowsAffected()
}

// identities reads which numbers and LIDs belong together. whatsmeow's own
// methods look up one at a time.
func (k *sessionDB) identities(ctx context.Context) ([]bridge.Fact, error) {
	rows, err := k.QueryContext(ctx, `SELECT lid, pn FROM whatsmeow_lid_map`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var facts []bridge.Fact
	for rows.Next() {
		var lid, pn string
		if err := rows.Scan(&lid, &pn); err != nil {
			return facts, err
		}
		facts = append(facts, bridge.Identity{PN: bridge.PhoneJID(pn), LID: bridge.JID(lid + "@" + bridge.ServerLID)})
	}
	return facts, rows.Err()
}

// knownIdentities returns a function that reads the identities which are stored of
// addresses. whatsmeow's own method reads one at a time.
func (k *sessionDB) knownIdentities(device types.JID) func(context.Context, []string) (map[string][32]byte, error) {
	return func(ctx context.Context, addresses []string) (map[string][32]byte, error) {
		identities := make(map[string][32]byte, len(addresses))
		var address string
		var key []byte
		err := k.ofAddresses(ctx, `
			SELECT their_id, identity FROM whatsmeow_identity_keys
			WHERE our_jid = ? AND their_id IN (SELECT value FROM json_each(?))`, device, addresses, func() error {
			if len(key) == 32 {
				identities[address] = [32]byte(key)
			}
			return nil
		}, &address, &key)
		return identities, err
	}
}

// withoutSession returns those addresses with which there is no session.
// whatsmeow's own method reads all sessions.
func (k *sessionDB) withoutSession(ctx context.Context, device types.JID, addresses []string) (map[string]bool, error) {
	missing := make(map[string]bool)
	var address string
	err := k.ofAddresses(ctx, `
		SELECT value FROM json_each(?2) WHERE NOT EXISTS
			(SELECT 1 FROM whatsmeow_sessions WHERE our_jid = ?1 AND their_id = value)`, device, addresses, func() error {
		missing[address] = true
		return nil
	}, &address)
	return missing, err
}

// ofAddresses calls f for each row of a query about addresses of a device's.
func (k *sessionDB) ofAddresses(ctx context.Context, query string, device types.JID, addresses []string, f func() error, into ...any) error {
	list, err := json.Marshal(addresses)
	if err != nil {
		return err
	}
	rows, err := k.QueryContext(ctx, query, device.String(), string(list))
	if err != nil {
		return sessionFile.Explain(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := errors.Join(rows.Scan(into...), f()); err != nil {
			return err
		}
	}
	return sessionFile.Explain(rows.Err())
}

// missesSyncKey reports whether whatsmeow logs that a key of the account's state
// is missing, of which it tells nothing else.
func missesSyncKey(args []any) bool {
	for _, arg := range args {
		if err, is := arg.(error); is && errors.Is(err, appstate.ErrKeyNotFound) {
			return true
		}
	}
	return false
}

// sendKeepAlive asks the network for an answer of any kind, for which whatsmeow
// has no exported method. It returns false where there is none within
// [whatsmeow.KeepAliveResponseDeadline].
func (l *link) sendKeepAlive(ctx context.Context) (answered, connected bool) {
	//lint:ignore SA1019 nothing else sends a keepalive, and the library's version is pinned
	return l.cli.DangerousInternals().SendKeepAlive(ctx)
}

// chatSettings reads how the account's devices keep their chats. whatsmeow's own
// method looks up one at a time; a negative end of muting is none.
func (k *sessionDB) chatSettings(ctx context.Context) ([]bridge.Fact, error) {
	rows, err := k.QueryContext(ctx, `SELECT chat_jid, muted_until, pinned, archived FROM whatsmeow_chat_settings`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var facts []bridge.Fact
	for rows.Next() {
		var jid string
		var muted int64 // seconds
		var pinned, archived bool
		if err := rows.Scan(&jid, &muted, &pinned, &archived); err != nil {
			return facts, err
		}
		chat := parseToBridge(jid)
		if chat == "" {
			continue
		}
		until := mutedUntil(muted != 0, muted)
		facts = append(facts, bridge.ChatSettings{Chat: chat, Archived: &archived, Pinned: &pinned, MutedUntil: &until})
	}
	return facts, rows.Err()
}

// mediaConn asks for the network's media hosts, for which whatsmeow has no
// exported method.
func (l *link) mediaConn(ctx context.Context, refresh bool) (bridge.MediaConn, error) {
	//lint:ignore SA1019 nothing else returns the media hosts, and the library's version is pinned
	named, err := l.cli.DangerousInternals().RefreshMediaConn(ctx, refresh)
	if err == nil && len(named.Hosts) == 0 {
		err = errors.New("the network named no media hosts")
	}
	if err != nil {
		return bridge.MediaConn{}, bridge.NotConnected("the network did not name its media hosts: try again in a moment").Because(err)
	}
	conn := bridge.MediaConn{Auth: named.Auth}
	for _, host := range named.Hosts {
		conn.Hosts = append(conn.Hosts, host.Hostname)
	}
	return conn, nil
}

// groupMembers returns a group's members as whatsmeow will address them, for
// which it has no exported method. Only the first time costs a query.
func (l *link) groupMembers(ctx context.Context, group types.JID) ([]types.JID, error) {
	//lint:ignore SA1019 nothing else returns the members that a send will go to, and the library's version is pinned
	known, err := l.cli.DangerousInternals().GetCachedGroupData(ctx, group)
	if err != nil {
		return nil, fmt.Errorf("ask for the group's members: %w", err)
	}
	return known.Members, nil
}

// changeGroups asks the network once for a change of groups. whatsmeow's own
// methods ask a second time, by themselves, when the connection is lost before
// the answer: a group would be made twice. What has no answer may have been done.
func (l *link) changeGroups(ctx context.Context, to types.JID, change waBinary.Node) (*waBinary.Node, error) {
	//lint:ignore SA1019 nothing else asks only once, and the library's version is pinned
	return l.cli.DangerousInternals().SendIQ(ctx, whatsmeow.DangerousInfoQuery{
		Namespace: "w:g2", Type: "set", To: to, Content: []waBinary.Node{change}, NoRetry: true, Timeout: l.m.waits.answer,
	})
}

// parseGroup reads the description of a group.
func (l *link) parseGroup(group waBinary.Node) (*types.GroupInfo, error) {
	//lint:ignore SA1019 nothing else reads it, and the library's version is pinned
	return l.cli.DangerousInternals().ParseGroupNode(&group)
}

// trustToken returns the token by which a person lets the account add them to
// groups; nil without one.
func (l *link) trustToken(ctx context.Context, person types.JID) ([]byte, error) {
	//lint:ignore SA1019 nothing else returns it, and the library's version is pinned
	return l.cli.DangerousInternals().EnsureTCToken(ctx, person)
}

// noteMembers has whatsmeow send to those who joined, and no more to those who
// left, before the network has told of them.
func (l *link) noteMembers(change *events.GroupInfo) {
	//lint:ignore SA1019 nothing else changes them without a query, and the library's version is pinned
	l.cli.DangerousInternals().UpdateGroupParticipantCache(change)
}

// fetchKeys asks the network for keys of devices, one of each. whatsmeow's own
// method loses the reason where the query is refused.
func (l *link) fetchKeys(ctx context.Context, devices []types.JID) (map[types.JID]*prekey.Bundle, error) {
	//lint:ignore SA1019 nothing else asks, and the library's version is pinned
	answer, err := l.cli.DangerousInternals().SendIQ(ctx, whatsmeow.DangerousInfoQuery{
		Namespace: "encrypt", Type: "get", To: types.ServerJID, Content: []waBinary.Node{keyRequest(devices)},
	})
	if err != nil {
		return nil, fmt.Errorf("ask for the recipients' keys: %w", err)
	}
	bundles, refused := keyBundles(answer)
	for device, reason := range refused {
		l.m.log.Warn().Str("device", toBridge(device).Redacted()).Err(reason).Msg("no keys of a device")
	}
	return bundles, nil
}

// awaitResponse returns a channel that is given the answer to a stanza, or the end
// of the connection. whatsmeow forgets it with either, or when the stanza is sent
// again; to take it away would race with an answer that comes at that moment.
func (l *link) awaitResponse(id string) <-chan *waBinary.Node {
	//lint:ignore SA1019 nothing else waits without whatsmeow's lock of sends, and the library's version is pinned
	return l.cli.DangerousInternals().WaitResponse(id)
}

// forgetIdentity deletes a device's identity and its session, and has whatsmeow
// tell of it.
func (l *link) forgetIdentity(ctx context.Context, device types.JID) error {
	//lint:ignore SA1019 nothing else does what whatsmeow does at an encryption, and the library's version is pinned
	return l.cli.DangerousInternals().ClearUntrustedIdentity(ctx, device)
}

// deviceStores are the stores of a device that are read beside whatsmeow, which
// replaces those in its device, without a lock, when the network has logged it
// out.
type deviceStores struct {
	contacts store.ContactStore
	sessions store.SessionStore
	lids     store.LIDStore
	tokens   store.PrivacyTokenStore
	secrets  store.MsgSecretStore
	// signal has what beginning a session needs, and number is the device's own.
	signal *store.Device
	number uint16
}

// storesOf returns the device's stores; it must be called before the device's client connects.
func storesOf(device *store.Device) deviceStores {
	stores := deviceStores{contacts: device.Contacts, sessions: device.Sessions, lids: device.LIDs, tokens: device.PrivacyTokens,
		secrets: device.MsgSecrets}
	stores.signal = &store.Device{
		IdentityKey: device.IdentityKey, RegistrationID: device.RegistrationID, Sessions: device.Sessions, Identities: device.Identities,
	}
	if device.ID != nil {
		stores.number = device.ID.Device
	}
	return stores
}

// withPresentSecret returns a QR code with the device's present secret. A
// wrong code typed on the phone changes that secret, and whatsmeow tells
// nobody. A code of another form is returned as it is.
func withPresentSecret(code string, device *store.Device) string {
	head, fields, found := strings.Cut(code, "#")
	parts := strings.Split(fields, ",")
	if !found || len(parts) != 5 {
		return code
	}
	secret := presentSecret(device)
	parts[3] = base64.StdEncoding.EncodeToString(secret[:])
	return head + "#" + strings.Join(parts, ",")
}

// presentSecret copies the device's ADV secret. whatsmeow replaces the slice
// in a goroutine of its own without a lock; every value it ever has is 32
// bytes long, so a header read at that moment is still one of them.
//
//go:norace
func presentSecret(device *store.Device) (secret [32]byte) {
	for i := range min(len(device.AdvSecretKey), len(secret)) {
		secret[i] = device.AdvSecretKey[i]
	}
	return secret
}

// lockedStore stands between whatsmeow and its store, and takes and releases
// the Signal lock by the calls that whatsmeow makes: GetManySessions and
// PutManySessions around the encryptions of a send, DoDecryptionTxn around a
// decryption, GetSession and PutSession around any other encryption.
//
// What whatsmeow stores beside a send's sessions is kept until these are stored,
// in the same transaction (see [sendWrites]).
type lockedStore struct {
	signalStores
	lock      *signalLock
	moved     sync.Map // the users (string) whose sessions were moved from a number to a LID
	clearings *clearings
	durable   time.Time // when a transaction was last waited for; guarded by lock
	log       zerolog.Logger
	failed    func(error) // told when the store fails; the stanza is left unacknowledged
	// known returns the identities that are stored of addresses; nil in tests.
	known func(ctx context.Context, addresses []string) (map[string][32]byte, error)
}

// signalStores are the stores that a lockedStore stands before.
type signalStores struct {
	store.SessionStore
	store.EventBuffer
	store.IdentityStore
	store.SenderKeyStore
	store.MsgSecretStore
}

// newLockedStore returns one before the stores of a device. It tells failed when
// they fail a stanza, and log when they fail something that can wait.
func newLockedStore(stores signalStores, failed func(error), log zerolog.Logger) *lockedStore {
	s := &lockedStore{signalStores: stores, lock: newSignalLock(), failed: failed, log: log}
	s.clearings = &clearings{flush: s.flush}
	return s
}

// DoDecryptionTxn holds the lock over one decryption. A failing store must not
// look like an undecryptable message, which whatsmeow would acknowledge: as a
// cancelled context it leaves the message unacknowledged, and the network
// sends it again. A message whose sender used a key for the second time must
// look like one: whatsmeow would acknowledge it and drop it.
func (s *lockedStore) DoDecryptionTxn(ctx context.Context, fn func(context.Context) error) error {
	err := s.unacknowledged(s.transact(lagging(ctx), fn))
	if errors.Is(err, signalerror.ErrOldCounter) {
		return fmt.Errorf("its key was used before: %v", err) // no longer an ErrOldCounter
	}
	return err
}

// transact holds the lock over one transaction. whatsmeow's transaction of a
// decryption is one like any other.
func (s *lockedStore) transact(ctx context.Context, fn func(context.Context) error) error {
	if err := s.lock.acquire(ctx); err != nil {
		return err
	}
	defer s.lock.release()
	if isLagging(ctx) && time.Since(s.durable) >= lagLimit {
		ctx = durable(ctx)
	}
	err := s.clearing(context.WithValue(ctx, holdKey{}, &hold{held: true}), fn)
	if err == nil && !isLagging(ctx) {
		s.durable = time.Now()
	}
	return err
}

// GetBufferedEvent treats a failing store as [lockedStore.DoDecryptionTxn] does.
func (s *lockedStore) GetBufferedEvent(ctx context.Context, hash [32]byte) (*store.BufferedEvent, error) {
	event, err := s.EventBuffer.GetBufferedEvent(ctx, hash)
	return event, s.unacknowledged(err)
}

func (s *lockedStore) unacknowledged(err error) error {
	var failure *sqlite.Error
	if !errors.As(err, &failure) {
		return err
	}
	s.failed(fmt.Errorf("the session database failed: %w", err))
	return fmt.Errorf("%w: %w", context.Canceled, err)
}

// GetManySessions begins a send's hold: whatsmeow loads all sessions that the
// send needs at once. It asks the network for the keys of those that are
// returned as nil, and leaves out those that are not returned.
func (s *lockedStore) GetManySessions(ctx context.Context, addresses []string) (map[string][]byte, error) {
	h := holdOf(ctx)
	open := false
	if h != nil && !h.holds() {
		if err := s.lock.begin(ctx, h); err != nil {
			return nil, err
		}
		if open = !h.again && len(addresses) > fewSessions; open {
			s.lock.open.begin(h, addresses)
		}
		if err := s.readIdentities(ctx, h, addresses); err != nil {
			return nil, err
		}
	}
	sessions, err := s.SessionStore.GetManySessions(ctx, addresses)
	if open {
		s.lock.letGo(h)
	}
	if h.ofSend() {
		maps.DeleteFunc(sessions, func(address string, session []byte) bool { return session == nil && h.without[address] })
	}
	return sessions, err
}

// readIdentities reads the identities of those that a send goes to, which whatsmeow
// asks for one by one.
func (s *lockedStore) readIdentities(ctx context.Context, h *hold, addresses []string) error {
	if s.known == nil {
		return nil
	}
	identities, err := s.known(ctx, addresses)
	h.setKnown(identities)
	return err
}

// PutManySessions ends a send's hold: its sessions are stored, and all that was
// kept of it with them.
func (s *lockedStore) PutManySessions(ctx context.Context, sessions map[string][]byte) error {
	h := holdOf(ctx)
	if !h.ofSend() {
		return s.SessionStore.PutManySessions(ctx, sessions)
	}
	defer s.lock.end(h)
	err := s.lock.takeBack(ctx, h)
	if err == nil {
		err = s.storeSend(ctx, h.takeWrites(), sessions)
	}
	if err == nil {
		h.setStored(sessions)
	}
	return err
}

// PutIdentity keeps the identity of a send's recipient, if it has changed, until
// its session is stored.
func (s *lockedStore) PutIdentity(ctx context.Context, address string, key [32]byte) error {
	h := holdOf(ctx)
	if !h.ofSend() {
		return s.IdentityStore.PutIdentity(ctx, address, key)
	}
	h.gotOn()
	h.setIdentity(address, key)
	return ctx.Err()
}

// IsTrustedIdentity knows what PutIdentity keeps, and what readIdentities has read.
func (s *lockedStore) IsTrustedIdentity(ctx context.Context, address string, key [32]byte) (bool, error) {
	if h := holdOf(ctx); h.ofSend() {
		h.gotOn()
		if kept, ok := h.identity(address); ok {
			return kept == key, nil
		}
	}
	return s.IdentityStore.IsTrustedIdentity(ctx, address, key)
}

// DeleteIdentity drops what is kept, too.
func (s *lockedStore) DeleteIdentity(ctx context.Context, address string) error {
	if h := holdOf(ctx); h.ofSend() {
		h.dropIdentity(address)
	}
	return s.IdentityStore.DeleteIdentity(ctx, address)
}

// GetSession begins the hold of a single encryption, unless the context holds
// the lock already.
func (s *lockedStore) GetSession(ctx context.Context, address string) ([]byte, error) {
	if !holdOf(ctx).holds() {
		if err := s.lock.beginSingle(ctx); err != nil {
			return nil, err
		}
	}
	return s.SessionStore.GetSession(ctx, address)
}

// PutSession ends the hold of a single encryption.
func (s *lockedStore) PutSession(ctx context.Context, address string, session []byte) error {
	s.lock.open.changed(sessionUser(address))
	err := s.SessionStore.PutSession(ctx, address, session)
	if !holdOf(ctx).holds() {
		s.lock.endSingle(nil)
	}
	return err
}

// storeHistory has whatsmeow store what it keeps of a piece of the phone's history:
// tokens, the salt, identities, push names, settings. whatsmeow takes a piece
// that was downloaded already where a notification carries it inline. It only
// logs what it could not store, so the stores note it.
func (l *link) storeHistory(ctx context.Context, piece []byte) error {
	var inline bytes.Buffer
	writer, err := zlib.NewWriterLevel(&inline, zlib.NoCompression)
	if err != nil {
		return err
	}
	if _, err := writer.Write(piece); err != nil {
		return err
	}
	if err := writer.Close(); err != nil {
		return err
	}
	failures := new(failures)
	_, err = l.cli.DownloadHistorySync(context.WithValue(ctx, failuresKey{}, failures),
		&waE2E.HistorySyncNotification{InitialHistBootstrapInlinePayload: inline.Bytes()}, true)
	if err == nil && failures.first != nil {
		err = fmt.Errorf("%w: %w", errNotStored, failures.first)
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

// secretTap stores the secrets of messages without waiting for the disk, which
// would be once more for nearly every message: the store has them with their
// messages, and they are looked for there as well.
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
