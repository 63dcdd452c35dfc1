package wa

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	waLog "go.mau.fi/whatsmeow/util/log"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// link is one whatsmeow client and its life. A logged-out client can never
// connect again, so a link is replaced, not reused.
type link struct {
	m       *Manager
	cli     *whatsmeow.Client
	signal  *lockedStore // nil while unpaired
	secrets *advSecrets  // nil when paired
	stores  deviceStores
	ctx     context.Context
	cancel  context.CancelFunc

	notices chan notice

	// refusing is set after a stanza was refused: what follows it on the same
	// connection is refused too, so that redelivery keeps the order.
	refusing       atomic.Bool
	beginning      chan struct{} // has a token while sessions are begun
	members        sync.Map      // kinds (groupKind) of the groups (bridge.JID) that the account is known to be in
	modes          sync.Map      // addressing modes (types.AddressingMode) by group
	stale          staleDevices
	told           usernames  // in messages and notifications
	answered       usernames  // in answers to queries
	savingAnswered sync.Mutex // held while those are stored
	inHand         inHand

	device   types.JID   // copied, for whatsmeow empties its own; zero while unpaired
	asking   atomic.Bool // a second keepalive is under way
	settings sync.Mutex  // held while what is known of how chats are kept is passed on

	dialling chan struct{} // held by the one dial that whatsmeow is asked for

	mu     sync.Mutex
	latest *dial // begun last; guarded by mu
	socket *dial // the dial of whatsmeow's present socket; guarded by mu
}

// notice is what the socket's events mean for the connection.
type notice struct {
	kind     noticeKind
	sentence string        // for lastError
	after    time.Duration // how long to wait
}

type noticeKind int

const (
	noticeConnected    noticeKind = iota // logged in
	noticeDisconnected                   // the socket is closed
	noticeSilent                         // no answer to a keepalive
	noticeRefused                        // a stanza was not stored
	noticeHalted                         // the network wants no more tries: wait for a person
	noticeRefusedLogin                   // the network refused for now: try after a while
	noticeOutdated                       // the network wants a newer client
	noticeLoggedOut                      // the session is gone
	noticePaired                         // the session is there
	noticeRelogin                        // the network wants the paired client to log in
	noticeUnpaired                       // a try to pair failed
	noticePinged                         // the phone has had its time to answer
	noticeAsked                          // somebody asks for what a resting pairing offers
	noticeLease                          // whether the session may run here has changed
)

func (m *Manager) newLink(ctx context.Context, device *store.Device) *link {
	l := &link{m: m, notices: make(chan notice, 1024), dialling: make(chan struct{}, 1), beginning: make(chan struct{}, 1)}
	l.ctx, l.cancel = context.WithCancel(m.background)
	l.latest = newDial(l.ctx)
	l.socket = l.latest
	if device.ID != nil {
		l.device = *device.ID
		device.PreKeys = newPreKeyBatches(device.PreKeys, device.EventBuffer)
		stores := signalStores{device.Sessions, device.EventBuffer, device.Identities, device.SenderKeys,
			secretTap{device.MsgSecrets, device.EventBuffer}}
		l.signal = newLockedStore(stores, func(err error) { l.refuse(err) }, m.log)
		l.signal.known, l.signal.isOver = m.db.knownIdentities(l.device), l.isOver
		device.Sessions, device.EventBuffer, device.Identities = l.signal, l.signal, l.signal
		device.SenderKeys, device.MsgSecrets = l.signal, l.signal
		device.LIDs = &lidTap{LIDStore: device.LIDs, learned: m.learnIdentities}
		device.PrivacyTokens, device.NCTSalt = tokenTap{device.PrivacyTokens}, saltTap{device.NCTSalt}
	}
	if device.ID == nil {
		l.secrets = &advSecrets{device: device}
	}
	l.stores = storesOf(device)
	l.cli = l.newClient(device)
	return l
}

// newClient makes a client with the rules that keep messages from being lost:
// acknowledge after storing, keep what was decrypted until it is stored, and
// never reconnect by itself.
func (l *link) newClient(device *store.Device) *whatsmeow.Client {
	m := l.m
	cli := whatsmeow.NewClient(device, l.newLogger())
	cli.SynchronousAck = true
	cli.EnableDecryptedEventBuffer = true
	cli.ManualHistorySyncDownload = true
	cli.AutomaticMessageRerequestFromPhone = true
	cli.SendReportingTokens = true
	cli.UseRetryMessageStore = false // answers to retry receipts come from our store
	cli.EnableAutoReconnect = false  // the manager supervises
	cli.DisableLoginAutoReconnect = true
	cli.BackgroundEventCtx = l.ctx
	cli.GetMessageForRetry = m.messageForRetry
	cli.PrePairCallback = m.mayPair
	cli.GetClientPayload = l.clientPayload(device)
	cli.QRClientType = whatsmeow.PairClientChrome
	cli.SetMaxParallelRetryReceiptHandling(1) // whatsmeow changes the one cached message in each
	socket := m.opts.Network.socketClient()
	cli.SetWebsocketHTTPClient(socket)
	cli.SetPreLoginHTTPClient(socket)
	cli.SetMediaHTTPClient(bounded(m.opts.CDN.HTTPClient(), maxPart+(64<<10)))
	cli.AddEventHandlerWithSuccessStatus(l.handle)
	return cli
}

// newLogger returns the log of a client, which the link reads.
func (l *link) newLogger() waLog.Logger {
	log := newWALogger(l.m.log, l.onLog)
	log.onStanza = l.onStanza
	if l.secrets != nil {
		log.onStanza = l.secrets.onStanza
	}
	return log
}

// onStanza reads what the network sends, before whatsmeow handles it.
func (l *link) onStanza(node *waBinary.Node) {
	amend(node)
	l.inHand.add(node)
	l.learnUsernames(node)
}

// onLog reads whatsmeow's log.
func (l *link) onLog(format string, args []any) {
	if failure, ok := failedDecryption(format, args); ok {
		l.onUndecrypted(failure)
		return
	}
	number, changed := changedDevices(format, args)
	switch {
	case changed:
		l.stale.add(number)
	case format == logOtherDevices && l.signal != nil:
		l.signal.lock.noteOthers(otherDevicesIn(args))
	case format == logFrameLost:
		l.notify(notice{kind: noticeSilent, sentence: "a frame from the network was damaged; reconnecting"})
	case codeRefused(format, args):
		if p := l.m.presentPairing(l); p != nil {
			p.onCodeRefused()
		}
	case missesSyncKey(args):
		l.m.sync.missKey()
	case handledTheEnd(format):
		_, socket := l.dials()
		socket.finish()
	}
}

// notify passes a notice to the supervisor. It never blocks the socket: notices
// are few, and the supervisor looks at the client's own state as well.
func (l *link) notify(n notice) {
	select {
	case l.notices <- n:
	default:
		l.m.log.Error().Int("notice", int(n.kind)).Msg("notice of the connection dropped")
	}
}

// dials returns the dial that was begun last, and that of whatsmeow's present
// socket.
func (l *link) dials() (latest, socket *dial) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.latest, l.socket
}

// isOver reports whether the connection that a context belongs to has been followed
// by another.
func (l *link) isOver(ctx context.Context) bool {
	of := dialOf(ctx)
	_, socket := l.dials()
	return of != nil && of != socket
}

// connect dials, once whatsmeow is done with the connection before.
func (l *link) connect() error {
	d := newDial(l.ctx)
	l.mu.Lock()
	l.latest = d
	l.mu.Unlock()
	select {
	case l.dialling <- struct{}{}:
		defer func() { <-l.dialling }()
	case <-d.ctx.Done():
		d.release()
		return errGivenUp
	}
	_, before := l.dials()
	before.close()
	before.release()
	l.mu.Lock()
	l.socket = d
	l.mu.Unlock()
	err := l.cli.ConnectContext(d.ctx)
	if errors.Is(err, whatsmeow.ErrAlreadyConnected) {
		l.cli.Disconnect() // the connection before could not be ended
	}
	d.onConnected(err)
	if err == nil && d.isGivenUp() {
		l.cli.Disconnect()
		d.finish()
		return errGivenUp
	}
	return err
}

// cut ends the dial under way, or the connection, without a closing handshake.
func (l *link) cut() {
	latest, _ := l.dials()
	latest.giveUp()
}

// politeClose is how long the end of a connection may take.
const politeClose = 2 * time.Second

// disconnected notes that whatsmeow has closed the socket by itself, which it
// does not tell.
func (l *link) disconnected() {
	_, socket := l.dials()
	socket.finish()
}

// disconnect closes the socket, politely if the peer answers. A dial under way,
// which holds whatsmeow's lock for as long as a handshake may take, has to be
// cut before: connect ends what it makes all the same.
func (l *link) disconnect() {
	_, socket := l.dials()
	if socket.isUp() {
		expectEnd(l.cli)
		socket.hangUp()
		socket.close()
	}
	select {
	case l.dialling <- struct{}{}:
		defer func() { <-l.dialling }()
		l.cli.Disconnect()
		socket.finish()
	default:
	}
}

// end ends the link's life. A dial under way holds whatsmeow's lock until its
// own time limits. It is cut after a while, its context cancelled, and after
// another it is left alone.
func (l *link) end() {
	defer l.cancel()
	if l.signal != nil {
		defer l.signal.clearings.end()
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		l.disconnect()
	}()
	select {
	case <-closed:
		return
	case <-time.After(2 * politeClose):
	}
	l.cancel()
	l.cut()
	select {
	case <-closed:
	case <-time.After(politeClose):
	}
}

// loggedIn reports whether the client believes itself logged in on a socket.
func (l *link) loggedIn() bool { return l.cli.IsConnected() && l.cli.IsLoggedIn() }

// connected notifies the supervisor of a login that is still good. The LID is
// read here, in the goroutine that wrote it.
func (l *link) connected() {
	l.m.setLID(convert.JID(l.cli.Store.LID))
	if !l.loggedIn() {
		return // events.Connected may come after the socket is gone
	}
	l.notify(notice{kind: noticeConnected})
}

// use makes l the manager's present link, or takes it away.
func (m *Manager) use(l *link) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.link = l
}

// stateWhileAway returns the state of a session without a socket.
func stateWhileAway(away time.Duration) bridge.State {
	if away < patience {
		return bridge.StateConnecting
	}
	return bridge.StateClosed
}

// reasonOf returns the sentence of an error that has one for people.
func reasonOf(err error) string {
	var known *bridge.Error
	if errors.As(err, &known) {
		return known.Msg
	}
	return "the log has the cause"
}
