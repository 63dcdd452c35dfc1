package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	signallog "go.mau.fi/libsignal/logger"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waAdv"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/store/sqlstore"
	"go.mau.fi/whatsmeow/types"
	waLog "go.mau.fi/whatsmeow/util/log"
	"google.golang.org/protobuf/proto"

	"bridged/internal/simnet"
)

func text(s string) *waE2E.Message { return &waE2E.Message{Conversation: proto.String(s)} }

func TestQuirk_ALostFrameIsOnlyLogged(t *testing.T) {
	t.Parallel()
	c := newPlainClient(t)
	c.device.CorruptFrames(1)
	c.say(t, "lost")
	c.log.waitWarning(t, logFrameLost)
}

func TestQuirk_TheHandledEndOfAConnectionIsLogged(t *testing.T) {
	t.Parallel()
	c := newPlainClient(t)
	c.EnableAutoReconnect = false
	c.device.Drop()
	c.log.waitDebug(t, "the end of the first connection", 1, handledTheEnd)
	if !slices.ContainsFunc(c.log.all(), func(line logLine) bool { return line.level == "error" && line.format == logConnectionEnded }) {
		t.Errorf("the end is not logged as %q", logConnectionEnded)
	}
	if err := c.Connect(); err != nil {
		t.Fatal(err)
	}
	if err := c.device.WaitOnline(plainContext(t)); err != nil {
		t.Fatal(err)
	}
	clientOf(c).ExpectEnd()
	c.device.Drop()
	c.log.waitDebug(t, "the expected end of the second", 2, handledTheEnd)
}

func TestQuirk_ARefusedVersionIsLogged(t *testing.T) {
	t.Parallel()
	c := newPlainClient(t)
	c.EnableAutoReconnect = false
	c.device.FailLogins(simnet.ConnectFailure{Reason: 405}, 1)
	c.Disconnect()
	if err := c.Connect(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the refusal in the log", func() bool {
		return slices.ContainsFunc(c.log.all(), func(line logLine) bool { return line.level == "error" && line.format == logOutdated })
	})
}

func TestQuirk_ARefusalIsEchoedInTheLogAndNotAcknowledged(t *testing.T) {
	t.Parallel()
	c := newPlainClient(t)
	c.handleWith(func(string) bool { return false })
	id := c.say(t, "refused")
	c.waitReceived(t, id)
	c.log.waitWarning(t, logHandlerFailed)
	if c.acknowledged(id) {
		t.Error("a refused message was acknowledged")
	}
}

func TestQuirk_APanicInTheHandlerIsAcknowledged(t *testing.T) {
	t.Parallel()
	c := newPlainClient(t)
	c.handleWith(func(string) bool { panic("drill") })
	id := c.say(t, "lost for good")
	if err := c.device.WaitAcknowledged(plainContext(t), id); err != nil {
		t.Errorf("whatsmeow leaves it with the network now, and link.handle need not recover: %v", err)
	}
}

func TestQuirk_StanzasAreLoggedByKnownModulesAlone(t *testing.T) {
	t.Parallel()
	c := newPlainClient(t)
	c.waitReceived(t, c.say(t, "hello"))
	logged := map[string]bool{}
	for _, line := range c.log.all() {
		if strings.Contains(line.text, "<iq") || strings.Contains(line.text, "<message") {
			logged[line.module] = true
			if !logsStanzas(line.module) {
				t.Errorf("the module %q logs stanzas: %s", line.module, line.format)
			}
		}
	}
	if !logged["Recv"] || !logged["Send"] {
		t.Errorf("stanzas are logged by %v", logged)
	}
}

// TestQuirk_LibsignalPrintsNothing is not parallel because it replaces the standard
// output.
func TestQuirk_LibsignalPrintsNothing(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	stdout := os.Stdout
	os.Stdout = write
	signallog.Error("drill")
	signallog.Debug("drill")
	os.Stdout = stdout
	if err := write.Close(); err != nil {
		t.Fatal(err)
	}
	printed := make([]byte, 100)
	if n, _ := read.Read(printed); n > 0 {
		t.Errorf("printed %q", printed[:n])
	}
}

func TestQuirk_ErrorOfAnUnknownNumber(t *testing.T) {
	t.Parallel()
	c := newPlainClient(t)
	_, err := c.SendMessage(plainContext(t), types.NewJID("15550100999", types.DefaultUserServer), text("anybody?"))
	if err == nil || !IsNumberUnknown(err) {
		t.Errorf("got %v", err)
	}
}

func TestQuirk_ErrorOfARefusalHasTheCode(t *testing.T) {
	t.Parallel()
	c := newPlainClient(t)
	c.device.FailSends(simnet.SendFault{Code: 479})
	_, err := c.SendMessage(plainContext(t), c.friend.PN(), text("refused"))
	if !errors.Is(err, whatsmeow.ErrServerReturnedError) || ServerCode(err) != 479 {
		t.Errorf("got %v", err)
	}
}

func TestQuirk_ErrorOfAStanzaThatIsNotWritten(t *testing.T) {
	t.Parallel()
	c := newPlainClient(t)
	c.store.interfere(nil, c.Disconnect)
	_, err := c.SendMessage(plainContext(t), c.friend.PN(), text("not written"))
	if err == nil || !IsNodeNotWritten(err) {
		t.Errorf("got %v", err)
	}
}

func TestQuirk_UnlinkingRemovesTheDevice(t *testing.T) {
	t.Parallel()
	c := newPlainClient(t)
	if err := clientOf(c).Unlink(plainContext(t)); err != nil {
		t.Fatal(err)
	}
	if linked := c.phone.LinkedDevices(); len(linked) != 0 {
		t.Errorf("%d devices are still linked", len(linked))
	}
}

// newSessionDB returns an empty database with whatsmeow's tables.
func newSessionDB(t *testing.T) (*DB, *sqlstore.Container) {
	t.Helper()
	db, err := openFile(t.Context(), filepath.Join(t.TempDir(), "session.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	container := sqlstore.NewWithDB(db.sql, "sqlite", waLog.Noop)
	if err := container.Upgrade(t.Context()); err != nil {
		t.Fatal(err)
	}
	return db, container
}

func countRows(t *testing.T, db *DB, table string) (count int) {
	t.Helper()
	if err := db.sql.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&count); err != nil {
		t.Fatal(err)
	}
	return count
}

// anyAccount is required of a device to be stored.
var anyAccount = &waAdv.ADVSignedDeviceIdentity{Details: []byte{1}, AccountSignatureKey: make([]byte, 32), AccountSignature: make([]byte, 64), DeviceSignature: make([]byte, 64)}

func TestQuirk_MediaHosts(t *testing.T) {
	t.Parallel()
	c := newPlainClient(t)
	l := clientOf(c)
	conn, err := l.MediaConn(plainContext(t), true)
	if err != nil || len(conn.Hosts) == 0 || conn.Auth == "" {
		t.Errorf("got %+v, %v", conn, err)
	}
}

// faultyTokens cannot store tokens.
type faultyTokens struct{ store.PrivacyTokenStore }

func (faultyTokens) PutPrivacyTokens(context.Context, ...store.PrivacyToken) error {
	return errors.New("the disk is full")
}

func TestQuirk_APieceOfHistoryIsTakenInlineAndItsFailuresAreOnlyLogged(t *testing.T) {
	t.Parallel()
	// A second, unconnected client: no other code reads the changes of its device.
	device := deviceLike(newPlainClient(t).Store)
	c := whatsmeow.NewClient(device, waLog.Noop)
	ctx := plainContext(t)
	anna := types.NewJID("15550100399", types.DefaultUserServer)
	piece, err := proto.Marshal(&waHistorySync.HistorySync{
		SyncType: waHistorySync.HistorySync_INITIAL_BOOTSTRAP.Enum(), NctSalt: []byte("salt"),
		Conversations: []*waHistorySync.Conversation{{ID: proto.String(anna.String()), TcToken: []byte("token"), TcTokenTimestamp: proto.Uint64(1)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	tokens := c.Store.PrivacyTokens
	l := &Client{Client: c}
	c.Store.PrivacyTokens = tokenTap{faultyTokens{tokens}}
	if err := l.StoreHistory(ctx, piece); !errors.Is(err, ErrNotStored) {
		t.Errorf("a store that fails: %v", err)
	}
	c.Store.PrivacyTokens = tokenTap{tokens}
	if err := l.StoreHistory(ctx, piece); err != nil {
		t.Fatal(err)
	}
	if token, err := tokens.GetPrivacyToken(ctx, anna); err != nil || token == nil || string(token.Token) != "token" {
		t.Errorf("token %v, %v", token, err)
	}
	if salt, err := c.Store.NCTSalt.GetNCTSalt(ctx); err != nil || string(salt) != "salt" {
		t.Errorf("salt %q, %v", salt, err)
	}
}

// deviceLike returns a device with the identity and the stores of another.
func deviceLike(other *store.Device) *store.Device {
	device := &store.Device{ID: other.ID, LID: other.LID, Container: other.Container, Initialized: true}
	device.PrivacyTokens, device.NCTSalt, device.LIDs, device.Contacts, device.ChatSettings, device.MsgSecrets = other.PrivacyTokens, other.NCTSalt, other.LIDs, other.Contacts, other.ChatSettings, other.MsgSecrets
	device.Sessions, device.Identities, device.PreKeys, device.SenderKeys, device.AppState, device.AppStateKeys = other.Sessions, other.Identities, other.PreKeys, other.SenderKeys, other.AppState, other.AppStateKeys
	return device
}

func TestQuirk_ASendLoadsItsSessionsAtOnceAndStoresThemBeforeItLeaves(t *testing.T) {
	t.Parallel()
	c := newPlainClient(t)
	group, err := c.phone.CreateGroup(plainContext(t), simnet.GroupOptions{Subject: "crew", Members: []*simnet.Phone{c.friend}})
	if err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]types.JID{"the first to a person": c.friend.PN(), "another": c.friend.PN(), "to a group": group.JID()} {
		sent := c.device.Counters().Sent
		c.store.interfere(nil, func() {
			if c.device.Counters().Sent != sent {
				t.Errorf("%s: left before its sessions were stored", name)
			}
		})
		ctx := context.WithValue(plainContext(t), sendMark{}, name)
		if _, err := c.SendMessage(ctx, to, text(name)); err != nil {
			t.Fatal(err)
		}
		got := c.store.names(func(call storeCall) bool { return call.send == name && call.name != "MigratePNToLID" })
		if n := len(got); n < 3 || got[0] != "GetManySessions" || got[1] != "PutIdentity" || got[n-1] != "PutManySessions" {
			t.Errorf("%s: got %v, want the identities stored between loading and storing the sessions", name, got)
		}
		if got := slices.Compact(got); len(got) != 3 {
			t.Errorf("%s: got %v, want nothing else in between", name, got)
		}
	}
}

func TestQuirk_ADecryptionChangesSessionsInsideItsTransactionAlone(t *testing.T) {
	t.Parallel()
	c := newPlainClient(t)
	if err := c.device.WaitQuiet(plainContext(t)); err != nil {
		t.Fatal(err)
	}
	c.store.forget()
	c.waitReceived(t, c.say(t, "one"))
	c.waitReceived(t, c.say(t, "two"))
	changes := func(call storeCall) bool { return call.name == "GetSession" || call.name == "PutSession" }
	if outside := c.store.names(func(call storeCall) bool { return changes(call) && !call.decrypting }); len(outside) > 0 {
		t.Errorf("outside of the transactions: %v", outside)
	}
	if inside := c.store.names(func(call storeCall) bool { return changes(call) && call.decrypting }); !slices.Contains(inside, "PutSession") {
		t.Errorf("inside of the transactions: %v", inside)
	}
}

func TestQuirk_ASingleEncryptionLoadsOneSessionAndStoresIt(t *testing.T) {
	t.Parallel()
	c := newPlainClient(t)
	ctx := context.WithValue(plainContext(t), sendMark{}, "peer")
	if _, err := c.SendPeerMessage(ctx, c.BuildUnavailableMessageRequest(c.friend.PN(), c.friend.PN(), "ID")); err != nil {
		t.Fatal(err)
	}
	got := c.store.names(func(call storeCall) bool { return call.send == "peer" && call.name != "PutIdentity" })
	if want := []string{"GetSession", "PutSession"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestQuirk_ACancelledDecryptionIsNotAcknowledged; any other failure makes an
// undecryptable message, which is.
func TestQuirk_ACancelledDecryptionIsNotAcknowledged(t *testing.T) {
	t.Parallel()
	c := newPlainClient(t)
	failed := make(chan struct{}, 16)
	c.store.interfere(func() error {
		failed <- struct{}{}
		return fmt.Errorf("%w: drill", context.Canceled)
	}, nil)
	id := c.say(t, "not now")
	await(t, failed)
	c.store.interfere(nil, nil)
	c.waitReceived(t, c.say(t, "behind it"))
	if c.acknowledged(id) {
		t.Error("acknowledged, and so lost")
	}
	c.ResetConnection()
	c.waitReceived(t, id)
}

// TestQuirk_ADeletedDeviceLosesItsStores, so a link keeps references to those that
// it reads.
func TestQuirk_ADeletedDeviceLosesItsStores(t *testing.T) {
	t.Parallel()
	device := simnet.NewDevice(waLog.Noop) // without a client, whose goroutines would read the deleted device
	device.ID = &types.JID{User: "15550100200", Device: 1, Server: types.DefaultUserServer}
	kept := *device
	if err := device.Delete(plainContext(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := device.Contacts.GetAllContacts(plainContext(t)); !errors.Is(err, store.ErrDeviceDeleted) {
		t.Errorf("the device's own contacts: got %v, want %v", err, store.ErrDeviceDeleted)
	}
	if _, err := kept.Contacts.GetAllContacts(plainContext(t)); err != nil {
		t.Errorf("the contacts that are held on to: %v", err)
	}
}

// TestQuirk_ASendWithoutTheRecipientsKeysSucceeds, and EncryptedFor detects it: a
// message to a number goes to the LID, which whatsmeow names.
func TestQuirk_ASendWithoutTheRecipientsKeysSucceeds(t *testing.T) {
	t.Parallel()
	c := newPlainClient(t)
	c.device.FailQueries(simnet.IQFault{Namespace: "encrypt", Tag: "key", Code: 500, Text: "drill", Times: 1})
	for _, want := range []bool{false, true} {
		ctx, end := newSignalLock().forSend(plainContext(t), nil)
		defer end()
		resp, err := c.SendMessage(ctx, c.friend.PN(), text("to nobody, then to somebody"))
		if err != nil {
			t.Fatal(err)
		}
		if got := OutcomeOf(ctx).EncryptedFor(resp.Chat); got != want || resp.Chat != c.friend.LID() {
			t.Errorf("sent to %s: encrypted for it: %v, want %v", resp.Chat, got, want)
		}
	}
}
