// Package session is everything that touches the inside of whatsmeow: session.db
// with its keys, the stores that whatsmeow writes to, the lock that keeps Signal
// sessions whole, what whatsmeow says in its log alone, and the methods that it
// calls dangerous.
//
// [Open] opens session.db, and [NewClient] makes the client of its device.
//
// Assumptions about whatsmeow's inside belong here (but for opening secrets, in
// wa/convert, and the end of connections, in wa/dial.go). Each has a test whose name
// begins with TestQuirk, which "make quirks WHATSMEOW=<version>" runs against another
// version.
package session

import (
	"context"
	"sync"

	"github.com/rs/zerolog"
	signallog "go.mau.fi/libsignal/logger"
	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waWa6"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"golang.org/x/sync/semaphore"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// Client is whatsmeow's client of one device, with what it does not offer.
type Client struct {
	*whatsmeow.Client
	// Device is the linked device; zero while there is none. It is a copy, because
	// whatsmeow empties its own when the network logs the device out.
	Device types.JID

	db       *DB
	log      zerolog.Logger
	observer Observer
	store    *lockedStore    // nil while unpaired
	secrets  *PairingSecrets // nil when paired
	stores   store.Device    // a copy: whatsmeow replaces its stores without a lock when the network logs it out
	stale    sync.Map        // numbers (types.JID) whose devices have changed
	pending  pendingMessages
	notices  notices
	// refreshes has the messages that wait for their acknowledgement (*atomic.Bool), by id.
	refreshes sync.Map
	starting  *semaphore.Weighted // held while sessions are begun
}

// Observer receives what whatsmeow logs and stores without an event, in whatsmeow's
// goroutines. Its functions may be nil where the client has no device.
type Observer struct {
	// Own returns the account's number and LID, as far as they are known.
	Own func() (pn, lid bridge.JID)
	// IsOver reports whether the connection of a context has been followed by another.
	IsOver func(ctx context.Context) bool
	// Failed receives the errors of session.db; the stanza is left unacknowledged.
	Failed func(err error)
	// Learned receives numbers and LIDs that were not known to belong together.
	Learned func(found []bridge.Identity)
	// Usernames receives the usernames in a stanza, before it is handled.
	Usernames func(found map[bridge.JID]string, isAnswer bool)
	// Undecrypted runs before whatsmeow acknowledges a message that it could not
	// decrypt. With last, whatsmeow makes no event of it.
	Undecrypted func(e *events.UndecryptableMessage, last bool)
	// Notified receives what whatsmeow drops: the events of this package. The stanza is
	// acknowledged afterwards, unless the connection is cut.
	Notified func(evt any)
	// FrameLost runs when a frame of the connection could not be read.
	FrameLost func()
	// CodeRefused runs when the network refuses a code entered on the phone.
	CodeRefused func()
	// SyncKeyMissing runs when a key of the account's state is missing.
	SyncKeyMissing func()
	// Received receives each stanza from the network, before whatsmeow handles it.
	Received func(node *waBinary.Node)
	// Written receives each stanza before it is written to the network.
	Written func(node *waBinary.Node)
	// Ended runs once whatsmeow has handled the end of a connection.
	Ended func()
}

// NewClient returns the only client of a device.
func NewClient(db *DB, d *Device, observer Observer, log zerolog.Logger) *Client {
	c := &Client{db: db, log: log, observer: observer, starting: semaphore.NewWeighted(1)}
	device := d.device
	device.LIDs = &db.lids
	if device.ID != nil {
		c.Device = *device.ID
		c.guard(device)
	} else {
		c.secrets = &PairingSecrets{device: device}
	}
	c.stores = *device
	c.Client = whatsmeow.NewClient(device, c.newLogger())
	return c
}

// guard puts what bridged adds before the stores of a device.
func (c *Client) guard(device *store.Device) {
	device.PreKeys = newPreKeyBatches(device.PreKeys, device.EventBuffer)
	stores := signalStores{
		device.Sessions, device.EventBuffer, device.Identities, device.SenderKeys,
		secretTap{device.MsgSecrets, device.EventBuffer},
	}
	c.store = newLockedStore(stores, c.observer.Failed, c.log)
	c.store.known, c.store.isOver = c.db.knownIdentities(c.Device), c.observer.IsOver
	device.Sessions, device.EventBuffer, device.Identities = c.store, c.store, c.store
	device.SenderKeys, device.MsgSecrets = c.store, c.store
	device.LIDs = &lidTap{LIDStore: device.LIDs, learned: c.observer.Learned}
	device.PrivacyTokens, device.NCTSalt = tokenTap{device.PrivacyTokens}, saltTap{device.NCTSalt}
}

// Close stores what waits to be stored, once the connection has ended.
func (c *Client) Close() {
	if c.store != nil {
		c.store.end()
	}
}

// PairingSecrets returns the secrets of the pairing; nil when the device is paired.
func (c *Client) PairingSecrets() *PairingSecrets { return c.secrets }

// OwnLID returns the account's LID. It must be called in the goroutine of an event that
// follows whatsmeow's writing of it.
func (c *Client) OwnLID() types.JID { return c.Store.LID }

// PushName returns the account's own push name, under the condition of [Client.OwnLID].
func (c *Client) PushName() string { return c.Store.PushName }

// BasePayload returns what whatsmeow's client says of itself when it logs in or pairs.
func (c *Client) BasePayload() *waWa6.ClientPayload { return c.Store.GetClientPayload() }

func (c *Client) newLogger() *logger {
	log := newLogger(c.log, c.onLog)
	log.onStanza, log.onWritten = c.onStanza, c.observer.Written
	return log
}

// onStanza reads a received stanza before whatsmeow handles it.
func (c *Client) onStanza(node *waBinary.Node) {
	drop(node)
	if c.observer.Received != nil {
		c.observer.Received(node)
	}
	if c.secrets != nil {
		c.secrets.onStanza(node)
		return
	}
	amend(node)
	setInteropAgent(node)
	c.pending.add(node)
	c.notices.mark(node)
	c.noteAck(node)
	c.onDirty(node)
	if found := usernamesIn(node); len(found) > 0 {
		c.observer.Usernames(found, node.Tag == "iq")
	}
}

func (c *Client) onLog(format string, args []any) {
	if failure, ok := failedDecryption(format, args); ok {
		c.onUndecrypted(failure)
		return
	}
	number, changed := changedDevices(format, args)
	switch {
	case format == logUnhandled:
		c.onUnhandled(args)
	case changed:
		c.stale.Store(number.ToNonAD(), true)
	case format == logOtherDevices && c.store != nil:
		c.store.lock.noteOthers(otherDevicesIn(args))
	case format == logFrameLost:
		c.observer.FrameLost()
	case codeRefused(format, args):
		c.observer.CodeRefused()
	case missesSyncKey(args):
		c.observer.SyncKeyMissing()
	case handledTheEnd(format):
		c.observer.Ended()
	}
}

// Contacts returns the account's address book.
func (c *Client) Contacts(ctx context.Context) (map[types.JID]types.ContactInfo, error) {
	return c.stores.Contacts.GetAllContacts(ctx)
}

// LIDOf returns the LID of a number; empty where it is not known.
func (c *Client) LIDOf(ctx context.Context, pn types.JID) (types.JID, error) {
	return c.stores.LIDs.GetLIDForPN(ctx, pn)
}

// NumberOf returns the number of a LID; empty where it is not known.
func (c *Client) NumberOf(ctx context.Context, lid types.JID) (types.JID, error) {
	return c.stores.LIDs.GetPNForLID(ctx, lid)
}

// PutIdentities stores numbers and LIDs that belong together.
func (c *Client) PutIdentities(ctx context.Context, found []bridge.Identity) error {
	mappings := make([]store.LIDMapping, len(found))
	for i, identity := range found {
		mappings[i] = store.LIDMapping{LID: convert.WireJID(identity.LID), PN: convert.WireJID(identity.PN)}
	}
	return c.stores.LIDs.PutManyLIDMappings(ctx, mappings)
}

// HasToken reports whether a person's device has given this account its token, perhaps
// before the pairing.
func (c *Client) HasToken(ctx context.Context, person types.JID) (bool, error) {
	token, err := c.stores.PrivacyTokens.GetPrivacyToken(ctx, person)
	return token != nil && len(token.Token) > 0, err
}

// MessageSecret returns the secret of a message by an author, and the form of the
// author under which it is kept.
func (c *Client) MessageSecret(ctx context.Context, chat, author types.JID, id types.MessageID) (secret []byte, as types.JID, err error) {
	return c.stores.MsgSecrets.GetMessageSecret(ctx, chat, author, id)
}

// PutMessageSecret stores the secret of a message.
func (c *Client) PutMessageSecret(ctx context.Context, chat, author types.JID, id types.MessageID, secret []byte) error {
	return c.stores.MsgSecrets.PutMessageSecret(ctx, chat, author, id, secret)
}

// libsignal prints to standard output, key material included, and reads its one logger
// without a lock, so that is replaced before anything else runs.
func init() {
	var quiet signallog.Loggable = quietSignal{}
	signallog.Setup(&quiet)
}

type quietSignal struct{}

func (quietSignal) Debug(string, string)   {}
func (quietSignal) Info(string, string)    {}
func (quietSignal) Warning(string, string) {}
func (quietSignal) Error(string, string)   {}
func (quietSignal) Configure(string)       {}

// SetNoiseRoot sets the process's key of the network's certificates, which clients read
// without a lock: it must be set before any exists.
func SetNoiseRoot(key [32]byte) {
	if key != whatsmeow.WACertPubKey {
		whatsmeow.WACertPubKey = key
	}
}

// IsAcknowledgedAnyway reports whether whatsmeow acknowledges an event's stanza whatever
// its handlers say (call.go), unless the connection is cut.
func IsAcknowledgedAnyway(evt any) bool {
	switch evt.(type) {
	case *events.CallOffer, *events.CallOfferNotice, *events.CallAccept, *events.CallReject, *events.CallTerminate:
		return true
	}
	return false
}

// LoggedIn reports whether the client believes itself logged in on a socket.
func (c *Client) LoggedIn() bool { return c.IsConnected() && c.IsLoggedIn() }

// Hidden returns a person's LID if it is known, else the person as given.
func (c *Client) Hidden(ctx context.Context, person bridge.JID) bridge.JID {
	if person.Server() != bridge.ServerUser {
		return person
	}
	lid, err := c.LIDOf(ctx, convert.WireJID(person))
	if err != nil || lid.IsEmpty() {
		return person
	}
	return convert.JID(lid)
}

// Version is that of a client of the network's.
type Version = store.WAVersionContainer

// BuiltInVersion returns the version that whatsmeow was made for.
func BuiltInVersion() Version { return store.GetWAVersion() }

// ParseVersion reads what [Version.String] has written.
func ParseVersion(text string) (Version, error) { return store.ParseVersion(text) }
