package wa

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.mau.fi/libsignal/keys/prekey"
	signallog "go.mau.fi/libsignal/logger"
	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// This file holds everything that leans on what whatsmeow does but does not
// promise, together with whatsmeow_tables.go (its tables), whatsmeow_stores.go
// (how it uses its stores), whatsmeow_log.go (what it tells in its log alone) and
// whatsmeow_pairing.go (the secrets of a pairing). Each assumption has a test whose name begins with TestQuirk;
// "make quirks WHATSMEOW=<version>" runs them against another version.

// parseMessage reads what a stanza says of its message.
func (l *link) parseMessage(node *waBinary.Node) (*types.MessageInfo, error) {
	//lint:ignore SA1019 nothing else reads it, and the library's version is pinned
	return l.cli.DangerousInternals().ParseMessageInfo(node)
}

// expectEnd keeps whatsmeow from telling of the next end of its connection.
func expectEnd(cli *whatsmeow.Client) {
	//lint:ignore SA1019 nothing else expects an end without bringing it about, and the library's version is pinned
	cli.DangerousInternals().ExpectDisconnect()
}

// devicesHash returns the hash by which whatsmeow and the network compare lists of
// devices (send.go, participantListHashV2).
func devicesHash(devices []types.JID) string {
	names := make([]string, len(devices))
	for i, device := range devices {
		names[i] = device.ADString()
	}
	slices.Sort(names)
	sum := sha256.Sum256([]byte(strings.Join(names, "")))
	return "2:" + base64.RawStdEncoding.EncodeToString(sum[:6])
}

// forgetDevices empties whatsmeow's list of a person's devices, by number or by
// LID, as a change of an unknown kind does, so that it asks for them again.
func (l *link) forgetDevices(ctx context.Context, person types.JID) {
	//lint:ignore SA1019 nothing else empties the list, and the library's version is pinned
	l.cli.DangerousInternals().HandleDeviceNotification(ctx, &waBinary.Node{
		Tag: "notification", Attrs: waBinary.Attrs{"from": person, "type": "devices"}, Content: []waBinary.Node{{Tag: "update", Attrs: waBinary.Attrs{"device_hash": ""}}},
	})
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

// sendKeepAlive asks the network for an answer of any kind, for which whatsmeow
// has no exported method. It returns false where there is none within
// [whatsmeow.KeepAliveResponseDeadline].
func (l *link) sendKeepAlive(ctx context.Context) (answered, connected bool) {
	//lint:ignore SA1019 nothing else sends a keepalive, and the library's version is pinned
	return l.cli.DangerousInternals().SendKeepAlive(ctx)
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
		l.m.log.Warn().Str("device", convert.JID(device).Redacted()).Err(reason).Msg("no keys of a device")
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

// sendNode writes a stanza for which whatsmeow has no method that waits.
func (l *link) sendNode(ctx context.Context, node waBinary.Node) error {
	//lint:ignore SA1019 nothing else writes any stanza, and the library's version is pinned
	return l.cli.DangerousInternals().SendNode(ctx, node)
}

// isAcknowledgedAnyway reports whether whatsmeow acknowledges an event's stanza
// whatever its handlers say (call.go): only a connection that is cut keeps it from
// that.
func isAcknowledgedAnyway(evt any) bool {
	switch evt.(type) {
	case *events.CallOffer, *events.CallOfferNotice, *events.CallAccept, *events.CallReject, *events.CallTerminate:
		return true
	}
	return false
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
	syncKeys store.AppStateSyncKeyStore
	// signal has what beginning a session needs, and number is the device's own.
	signal *store.Device
	number uint16
}

// storesOf returns the device's stores; it must be called before the device's client connects.
func storesOf(device *store.Device) deviceStores {
	stores := deviceStores{contacts: device.Contacts, sessions: device.Sessions, lids: device.LIDs, tokens: device.PrivacyTokens,
		secrets: device.MsgSecrets, syncKeys: device.AppStateKeys}
	stores.signal = &store.Device{
		IdentityKey: device.IdentityKey, RegistrationID: device.RegistrationID, Sessions: device.Sessions, Identities: device.Identities,
	}
	if device.ID != nil {
		stores.number = device.ID.Device
	}
	return stores
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
