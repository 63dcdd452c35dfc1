// Package sending sends to the network: messages, changes of messages, read receipts, presence,
// look-ups of numbers, and requests to the phone for lost files.
//
// A [Sender] outlives connections; each connection has its own [Client]. [Sender.Send] composes a
// message, stores it as pending with its final id, and delivers it: it sends the message with the
// same id until the network answers or the time is over. refusal.go maps the network's refusals
// to errors with the codes of package bridge.
package sending

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"

	"bridged/internal/bridge"
	"bridged/internal/wa/session"
)

// Store is the store that sending needs. Save stores either all its facts or none.
type Store interface {
	Save(ctx context.Context, facts ...bridge.Fact) error
	Message(ctx context.Context, chat bridge.JID, id string) (bridge.Message, error)
	Canonical(jid bridge.JID) bridge.JID
	ChatTimer(ctx context.Context, chat bridge.JID) (bridge.ChatTimer, error)
	// IsNewChat reports whether no message was ever sent to or received from a chat, under any of
	// the names.
	IsNewChat(ctx context.Context, names ...bridge.JID) (bool, error)
	// ClearChat removes the messages of a chat.
	ClearChat(ctx context.Context, c bridge.ChatClearing) error
	// Unread returns the next messages of a chat without a read receipt, up to a message; an
	// empty id means all.
	Unread(ctx context.Context, chat bridge.JID, upTo string) (bridge.UnreadPage, error)
	// MayBegin fails with [bridge.CodeNewChatsLimited] if a first message to a person, known by
	// these names, may not be sent now.
	MayBegin(ctx context.Context, limit bridge.NewChats, names ...bridge.JID) error
	// NumberChecks returns the network's answers about numbers. They are stored for 24 hours.
	NumberChecks(ctx context.Context, phones []string) (map[string]bridge.NumberCheck, error)
	// ReserveLookUps counts a number of look-ups, up to total of them, or refuses them with
	// [bridge.CodeLookUpsLimited].
	ReserveLookUps(ctx context.Context, count, total int) error
	Labels(ctx context.Context, q bridge.LabelQuery) ([]bridge.StoredLabel, error)
	// NextLabel returns the number of a label that does not and did not exist.
	NextLabel(ctx context.Context) (int64, error)
	// Predefined returns the number of a label that the apps have from the beginning, or 0.
	Predefined(ctx context.Context, id string) (int, error)
}

// CDN downloads from and uploads to WhatsApp's media servers. The caller passes the hosts.
type CDN interface {
	Upload(ctx context.Context, conns bridge.MediaConns, f bridge.File) (bridge.UploadedFile, error)
	// Exists reports whether a file still exists.
	Exists(ctx context.Context, conns bridge.MediaConns, file *bridge.Media) (bool, error)
	// HTTPClient returns a client for the media servers, for whatsmeow's own downloads.
	HTTPClient() *http.Client
}

// Options configures a [Sender].
type Options struct {
	Store     Store
	CDN       CDN
	Log       zerolog.Logger
	Clock     *bridge.Clock   // confirmed by the network's answers
	NewChats  bridge.NewChats // limits the chats that the account may start
	Available bool            // available all the time, and not only while the account types
	// Connection returns the open connection, or fails with [bridge.CodeNotConnected].
	Connection func() (*Client, error)
	// Own returns the account's number and LID, and PushName its name. They are empty if not
	// known yet.
	Own      func() (pn, lid bridge.JID)
	PushName func() string
	// Timelock returns how long the network still prevents the account from starting chats.
	Timelock func() time.Duration
	// Capped returns how long the network still refuses new chats because the account has used up
	// the new chats of its cycle. NewChatRefused records such a refusal.
	Capped         func() time.Duration
	NewChatRefused func()
	// DefaultTimer returns the timer of disappearing messages that new chats start with, in
	// seconds; 0 means none.
	DefaultTimer func() uint32
	// Background ends with the program, after running sends have ended.
	Background context.Context
}

// Sender sends for the account. Its methods may be called concurrently and at any time.
type Sender struct {
	o     Options
	Waits Waits
	OnTry func() // called before each attempt; for tests

	workers   sync.WaitGroup
	presence  *presence
	leftOut   *leftOut
	reuploads sync.Map            // pending ones (*reupload), by the message's id
	asking    singleflight.Group  // for single numbers, and files
	checking  *semaphore.Weighted // held while numbers are looked up for a check
	reading   *semaphore.Weighted // held while read receipts are sent
	changing  *semaphore.Weighted // held while the state that the account's devices share is changed
	profiles  profiles
	receipts  sync.Map // functions (func()) to call with a receipt, by the message's id

	sent, failed, sentAgain atomic.Uint64 // counts of messages since the program started
}

// New returns a sender. [Sender.Run] must run in the background.
func New(opts Options) *Sender {
	s := &Sender{o: opts, Waits: usualWaits, presence: newPresence(opts.Available), checking: semaphore.NewWeighted(1), reading: semaphore.NewWeighted(1), changing: semaphore.NewWeighted(1)}
	s.leftOut = newLeftOut(s)
	return s
}

// WhileUnchanged calls f while no call changes the state that the account's devices share. It returns the
// error of ctx if ctx ends before that.
func (s *Sender) WhileUnchanged(ctx context.Context, f func()) error {
	if err := s.changing.Acquire(ctx, 1); err != nil {
		return err
	}
	defer s.changing.Release(1)
	f()
	return nil
}

// Run does the background work until ctx ends, and waits for its end.
func (s *Sender) Run(ctx context.Context) {
	s.workers.Go(func() { s.leftOut.run(ctx) })
	s.workers.Wait()
	s.presence.stop()
}

// Counts returns how many messages were sent, failed, and were sent again, since the program
// started.
func (s *Sender) Counts() (sent, failed, again uint64) {
	return s.sent.Load(), s.failed.Load(), s.sentAgain.Load()
}

func (s *Sender) ownPN() bridge.JID {
	pn, _ := s.o.Own()
	return pn
}

// saveTimeout limits one transaction of the store.
const saveTimeout = 30 * time.Second

// save stores the outcome of a send, even while the program stops.
func (s *Sender) save(facts ...bridge.Fact) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.o.Background), saveTimeout)
	defer cancel()
	return s.o.Store.Save(ctx, facts...)
}

// Link gives access to the account's state of a connection.
type Link struct {
	// Socket returns the identity of the current socket.
	Socket func() any
	// TakeUsernames returns usernames from answers that are not stored yet; the caller must store
	// them. SaveUsernames stores them.
	TakeUsernames func() []bridge.Fact
	SaveUsernames func(ctx context.Context)
}

// Client is the client of one device, with a cache of recipients.
type Client struct {
	*session.Client
	s      *Sender
	ctx    context.Context
	link   Link
	groups sync.Map // knownGroup by group (bridge.JID)
}

// NewClient returns a client that lives as long as ctx.
func (s *Sender) NewClient(ctx context.Context, c *session.Client, link Link) *Client {
	return &Client{Client: c, s: s, ctx: ctx, link: link}
}

// SaveAnswered stores the usernames of the answers so far.
func (c *Client) SaveAnswered(ctx context.Context) { c.link.SaveUsernames(ctx) }
