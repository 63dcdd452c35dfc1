// Package session contains everything that depends on whatsmeow's internals: session.db with the
// keys, the stores that whatsmeow writes to, the lock that protects Signal sessions, information
// that whatsmeow only logs, and its "dangerous" methods.
//
// [Open] opens session.db, and [NewClient] returns the client of its device.
//
// Assumptions about whatsmeow's internals belong here, except for decrypting with message secrets
// (wa/convert) and the end of connections (wa/dial.go). Each assumption has a test whose name
// begins with TestQuirk. "make quirks WHATSMEOW=<version>" runs these tests against another
// version.
package session

import (
	"context"
	"sync"

	"github.com/rs/zerolog"
	signallog "go.mau.fi/libsignal/logger"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/appstate"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waWa6"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"golang.org/x/sync/semaphore"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// Client is whatsmeow's client of one device, extended with methods that whatsmeow lacks.
type Client struct {
	*whatsmeow.Client
	// Device is the linked device, or the zero value if there is none. It is a copy, because
	// whatsmeow clears its own when the network logs the device out.
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
	// refreshes has an *atomic.Bool for each message that waits for its acknowledgement, by
	// message id.
	refreshes sync.Map
	starting  *semaphore.Weighted // held while sessions are started
}

// Observer receives information that whatsmeow only logs or stores. It is called in whatsmeow's
// goroutines. Its functions may be nil if the client has no device.
type Observer struct {
	// Own returns the account's number and LID, as far as they are known.
	Own func() (pn, lid bridge.JID)
	// IsOver reports whether the connection of a context has been replaced by another.
	IsOver func(ctx context.Context) bool
	// Failed receives errors of session.db. The stanza stays unacknowledged.
	Failed func(err error)
	// Learned receives new mappings between numbers and LIDs.
	Learned func(found []bridge.Identity)
	// Usernames receives the usernames in a stanza before the stanza is handled.
	Usernames func(found map[bridge.JID]string, isAnswer bool)
	// Undecrypted is called before whatsmeow acknowledges a message that it could not decrypt. If
	// last is set, whatsmeow emits no event for it.
	Undecrypted func(e *events.UndecryptableMessage, last bool)
	// Notified receives notifications that whatsmeow drops, as events of this package. The stanza
	// is acknowledged afterwards, unless the connection is closed.
	Notified func(evt any)
	// FrameLost is called when a frame of the connection could not be decrypted.
	FrameLost func()
	// CodeRefused is called when the network refuses a code that was entered on the phone.
	CodeRefused func()
	// SyncKeyMissing is called when a key of the account's state is missing.
	SyncKeyMissing func()
	// EntryRemoved is called when an entry of a collection of the account's state was removed, before
	// whatsmeow emits the events of other changes that it received together with the removal.
	EntryRemoved func(collection appstate.WAPatchName)
	// Received receives each stanza from the network, before whatsmeow handles it.
	Received func(node *waBinary.Node)
	// Written receives each stanza before it is written to the network.
	Written func(node *waBinary.Node)
	// Ended is called after whatsmeow has handled the end of a connection.
	Ended func()
}

// NewClient returns the client of a device. There must be only one.
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

// guard wraps the stores of a device with bridged's own.
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
	device.AppState = stateTap{device.AppState, c.observer.EntryRemoved}
	device.PrivacyTokens, device.NCTSalt = tokenTap{device.PrivacyTokens}, saltTap{device.NCTSalt}
}

// Close stores what is waiting to be stored. Call it after the connection has ended.
func (c *Client) Close() {
	if c.store != nil {
		c.store.end()
	}
}

// PairingSecrets returns the secrets of the pairing, or nil if the device is paired.
func (c *Client) PairingSecrets() *PairingSecrets { return c.secrets }

// OwnLID returns the account's LID. Call it only in the goroutine of an event that follows
// whatsmeow's writing of the LID.
func (c *Client) OwnLID() types.JID { return c.Store.LID }

// PushName returns the account's own push name, with the same restriction as [Client.OwnLID].
func (c *Client) PushName() string { return c.Store.PushName }

// BasePayload returns the description of the client that whatsmeow sends when it logs in or
// pairs.
func (c *Client) BasePayload() *waWa6.ClientPayload { return c.Store.GetClientPayload() }

func (c *Client) newLogger() *logger {
	log := newLogger(c.log, c.onLog)
	log.onStanza, log.onWritten = c.onStanza, c.observer.Written
	return log
}

// onStanza processes a received stanza before whatsmeow handles it.
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

// ForgetName removes a person's name from the session's copy of the address book, which whatsmeow
// leaves there when the entry is removed.
func (c *Client) ForgetName(ctx context.Context, person types.JID) error {
	return c.stores.Contacts.PutContactName(ctx, person, "", "")
}

// LIDOf returns the LID of a number, or an empty JID if it is not known.
func (c *Client) LIDOf(ctx context.Context, pn types.JID) (types.JID, error) {
	return c.stores.LIDs.GetLIDForPN(ctx, pn)
}

// NumberOf returns the number of a LID, or an empty JID if it is not known.
func (c *Client) NumberOf(ctx context.Context, lid types.JID) (types.JID, error) {
	return c.stores.LIDs.GetPNForLID(ctx, lid)
}

// PutIdentities stores mappings of numbers to LIDs.
func (c *Client) PutIdentities(ctx context.Context, found []bridge.Identity) error {
	mappings := make([]store.LIDMapping, len(found))
	for i, identity := range found {
		mappings[i] = store.LIDMapping{LID: convert.WireJID(identity.LID), PN: convert.WireJID(identity.PN)}
	}
	return c.stores.LIDs.PutManyLIDMappings(ctx, mappings)
}

// HasToken reports whether the account has received a person's trusted-contact token, possibly
// before the pairing.
func (c *Client) HasToken(ctx context.Context, person types.JID) (bool, error) {
	token, err := c.stores.PrivacyTokens.GetPrivacyToken(ctx, person)
	return token != nil && len(token.Token) > 0, err
}

// MessageSecret returns the secret of a message and the JID of the author (number or LID) under
// which it is stored.
func (c *Client) MessageSecret(ctx context.Context, chat, author types.JID, id types.MessageID) (secret []byte, as types.JID, err error) {
	return c.stores.MsgSecrets.GetMessageSecret(ctx, chat, author, id)
}

// PutMessageSecret stores the secret of a message.
func (c *Client) PutMessageSecret(ctx context.Context, chat, author types.JID, id types.MessageID, secret []byte) error {
	return c.stores.MsgSecrets.PutMessageSecret(ctx, chat, author, id, secret)
}

// libsignal prints to standard output, including key material. It reads its one logger without a
// lock, so the logger is replaced before anything else runs.
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

// SetNoiseRoot sets the root key of the network's certificates for this process. Clients read it
// without a lock, so it must be set before any client exists.
func SetNoiseRoot(key [32]byte) {
	if key != whatsmeow.WACertPubKey {
		whatsmeow.WACertPubKey = key
	}
}

// IsAcknowledgedAnyway reports whether whatsmeow acknowledges the stanza of an event even if its
// handlers fail (call.go), unless the connection is closed.
func IsAcknowledgedAnyway(evt any) bool {
	switch evt.(type) {
	case *events.CallOffer, *events.CallOfferNotice, *events.CallAccept, *events.CallReject, *events.CallTerminate:
		return true
	}
	return false
}

// LoggedIn reports whether the client has a connection and has logged in on it.
func (c *Client) LoggedIn() bool { return c.IsConnected() && c.IsLoggedIn() }

// Hidden returns a person's LID if it is known, and the given JID otherwise.
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

// Version is a version of WhatsApp Web.
type Version = store.WAVersionContainer

// BuiltInVersion returns the version that whatsmeow was written for.
func BuiltInVersion() Version { return store.GetWAVersion() }

// ParseVersion parses the output of [Version.String].
func ParseVersion(text string) (Version, error) { return store.ParseVersion(text) }
