package wa

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
	"bridged/internal/wa/history"
	"bridged/internal/wa/offline"
	"bridged/internal/wa/sending"
	"bridged/internal/wa/session"
)

// link is one whatsmeow client from its creation to its end. A logged-out client can never
// connect again, so a link is replaced, not reused.
type link struct {
	m      *Manager
	cli    *sending.Client
	ctx    context.Context
	cancel context.CancelFunc

	notices chan notice

	// refusing is set after a stanza was refused. The rest of its connection is then refused,
	// too, so that redelivery preserves the order.
	refusing       atomic.Bool
	learned        usernames  // from messages and notifications
	answered       usernames  // from answers to queries
	savingAnswered sync.Mutex // held while answered is stored

	offline  *offline.Queue // stanzas that the network has stored
	asking   atomic.Bool    // a second keepalive is pending
	settings sync.Mutex     // held while chat settings are saved
	book     addressBook

	dialling chan struct{} // held by the one dial that whatsmeow is asked for

	version atomic.Value // string, the client's version at the last login

	mu     sync.Mutex
	latest *dial // started last; guarded by mu
	socket *dial // the dial of whatsmeow's current socket; guarded by mu
}

// notice is an event of the socket for the supervisor.
type notice struct {
	kind     noticeKind
	sentence string        // for lastError
	after    time.Duration // how long to wait
	at       time.Time     // when a client version expires; zero if the expiry was withdrawn
	version  string        // that expires
	code     string        // of a refusal
}

type noticeKind int

const (
	noticeConnected    noticeKind = iota // logged in
	noticeDisconnected                   // the socket is closed
	noticeSilent                         // no answer to a keepalive
	noticeRefused                        // a stanza was not stored
	noticeHalted                         // the network wants no further attempts: wait for a person
	noticeRefusedLogin                   // the network refused for now: try again after a while
	noticeOutdated                       // the network requires a newer client
	noticeLoggedOut                      // the session is gone
	noticePaired                         // there is a session now
	noticeRelogin                        // the network wants the paired client to log in
	noticeUnpaired                       // an attempt to pair failed
	noticePinged                         // the time for the phone's answer is over
	noticeAsked                          // a caller requests the codes of a resting pairing
	noticeExpiry                         // the expiry of the client's version was announced or withdrawn
	noticeThrottled                      // the network refuses logins or is unavailable
	noticeLease                          // the lease has changed
)

func (m *Manager) newLink(ctx context.Context, device *session.Device) *link {
	l := &link{m: m, notices: make(chan notice, 1024), dialling: make(chan struct{}, 1)}
	l.ctx, l.cancel = context.WithCancel(m.background)
	l.latest = newDial(l.ctx)
	l.socket = l.latest
	l.offline = l.newOfflineQueue()
	l.cli = m.NewClient(l.ctx, session.NewClient(m.db, device, l.observer(), m.log), sending.Link{
		Socket: l.connectionID, TakeUsernames: l.answered.take, SaveUsernames: l.saveAnswered,
	})
	l.configure()
	return l
}

// configure sets the options that prevent the loss of messages.
func (l *link) configure() {
	m, cli := l.m, l.cli
	cli.SynchronousAck = true
	cli.EnableDecryptedEventBuffer = true
	cli.ManualHistorySyncDownload = true
	cli.AutomaticMessageRerequestFromPhone = true
	cli.SendReportingTokens = true
	cli.UseRetryMessageStore = false // retry receipts are answered from our store
	cli.EnableAutoReconnect = false  // bridged's supervisor reconnects
	cli.DisableLoginAutoReconnect = true
	cli.BackgroundEventCtx = l.ctx
	cli.GetMessageForRetry = m.MessageForRetry
	cli.PrePairCallback = m.mayPair
	cli.GetClientPayload = l.clientPayload
	cli.QRClientType = whatsmeow.PairClientChrome
	cli.SetMaxParallelRetryReceiptHandling(1) // each of them changes the one cached message
	socket := m.opts.Network.Client()
	cli.SetWebsocketHTTPClient(socket)
	cli.SetPreLoginHTTPClient(socket)
	cli.SetMediaHTTPClient(history.Bounded(m.opts.CDN.HTTPClient()))
	cli.AddEventHandlerWithSuccessStatus(l.handle)
}

// observer returns the handlers for information that whatsmeow only logs or stores.
func (l *link) observer() session.Observer {
	m := l.m
	return session.Observer{
		Own: m.own, IsOver: l.isOver, Failed: func(err error) { l.refuse(err) },
		Learned: m.learnIdentities, Usernames: l.learnUsernames, Undecrypted: l.onUndecrypted, Notified: l.onNotified,
		FrameLost: func() {
			l.notify(notice{kind: noticeSilent, sentence: "a frame from the network was damaged; reconnecting"})
		},
		CodeRefused: func() {
			if p := m.currentPairing(l); p != nil {
				p.onCodeRefused()
			}
		},
		SyncKeyMissing: m.sync.missKey,
		EntryRemoved:   l.entryRemoved,
		Ended:          l.disconnected,
		Received:       l.onReceived, Written: l.offline.OnWritten,
	}
}

// onReceived reads a stanza before whatsmeow does, because whatsmeow emits no event for some. It
// must not block.
func (l *link) onReceived(node *waBinary.Node) {
	l.offline.OnReceived(node)
	l.noteExpiration(node)
	l.noteRefusal(node)
	if node.Tag == "success" { // a login, which has the network's time
		l.m.opts.Clock.Confirm(node.AttrGetter().UnixTime("t"))
	}
}

// notify passes a notice to the supervisor without blocking the socket.
func (l *link) notify(n notice) {
	select {
	case l.notices <- n:
	default:
		l.m.log.Error().Int("notice", int(n.kind)).Msg("dropping a notice of the connection")
	}
}

// dials returns the dial that was started last, and the dial of whatsmeow's current socket.
func (l *link) dials() (latest, socket *dial) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.latest, l.socket
}

// connectionID returns the identity of the current connection.
func (l *link) connectionID() any {
	_, socket := l.dials()
	return socket
}

// isOver reports whether the connection of a context has been replaced by another.
func (l *link) isOver(ctx context.Context) bool {
	of := dialOf(ctx)
	_, socket := l.dials()
	return of != nil && of != socket
}

// connect dials after whatsmeow has finished with the previous connection.
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
	l.offline.Abandon()
	err := l.cli.ConnectContext(d.ctx)
	if errors.Is(err, whatsmeow.ErrAlreadyConnected) {
		l.cli.Disconnect() // the previous connection could not be ended
	}
	d.onConnected(err)
	if err == nil && d.isGivenUp() {
		l.cli.Disconnect()
		d.finish()
		return errGivenUp
	}
	return err
}

// abort ends the running dial, or the connection without a closing handshake.
func (l *link) abort() {
	latest, _ := l.dials()
	latest.giveUp()
}

// politeClose limits how long the end of a connection takes.
const politeClose = 2 * time.Second

// disconnected records that whatsmeow has handled the socket's end or has closed it.
func (l *link) disconnected() {
	l.offline.Abandon()
	_, socket := l.dials()
	socket.finish()
}

// disconnect closes the socket, with a closing handshake if the server answers. A running dial
// holds whatsmeow's lock and must be aborted first; connect still ends its connection.
func (l *link) disconnect() {
	_, socket := l.dials()
	if socket.isUp() {
		l.cli.ExpectEnd()
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

// end ends the link for good. A running dial, which holds whatsmeow's lock, is aborted after a
// while, and abandoned after another.
func (l *link) end() {
	defer l.cancel()
	defer l.cli.Close()
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
	l.abort()
	select {
	case <-closed:
	case <-time.After(politeClose):
	}
}

// connected notifies the supervisor of a login. The LID is read in the goroutine that wrote it.
func (l *link) connected() {
	l.m.setLID(convert.JID(l.cli.OwnLID()))
	if !l.cli.LoggedIn() {
		return // events.Connected may be emitted after the socket is gone
	}
	l.notify(notice{kind: noticeConnected})
}

// use makes l the manager's current link; nil removes it.
func (m *Manager) use(l *link) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.link = l
}

// stateWhileAway returns the state of a session without a socket.
func stateWhileAway(away time.Duration) bridge.State {
	if away < connectingTimeout {
		return bridge.StateConnecting
	}
	return bridge.StateClosed
}

// reasonOf returns the sentence of an error for users, if it has one.
func reasonOf(err error) string {
	var known *bridge.Error
	if errors.As(err, &known) {
		return known.Msg
	}
	return "the log has the cause"
}

// silent asks once more after an unanswered keepalive before it gives the connection up, as
// answers may be late on a bad line.
func (l *link) silent() {
	if !l.asking.CompareAndSwap(false, true) {
		return
	}
	l.m.workers.Go(func() {
		defer l.asking.Store(false)
		_, before := l.dials()
		if answered, _ := l.cli.SendKeepAlive(l.ctx); answered {
			l.m.log.Debug().Msg("a keepalive was not answered; the next one was")
			return
		}
		if _, now := l.dials(); now == before && l.cli.IsConnected() && l.ctx.Err() == nil {
			l.notify(notice{kind: noticeSilent, sentence: "the network does not answer; reconnecting"})
		}
	})
}
