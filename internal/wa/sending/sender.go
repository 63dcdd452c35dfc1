// Package sending brings what the account sends to the network: messages, changes of
// messages, read receipts, presence, look-ups of numbers, and requests to the phone
// for files that are gone.
//
// A [Sender] outlives connections, each of which has a [Client]. [Sender.Send] composes
// a message, stores it as pending with its final id, and delivers it: it is tried with
// the same id until the network answers or the time is over. What the network refuses
// becomes an error with one of the codes of package bridge (refusal.go).
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

// Store is what sending stores and needs to know. Save keeps all its facts or none.
type Store interface {
	Save(ctx context.Context, facts ...bridge.Fact) error
	Message(ctx context.Context, chat bridge.JID, id string) (bridge.Message, error)
	Canonical(jid bridge.JID) bridge.JID
	ChatTimer(ctx context.Context, chat bridge.JID) (bridge.ChatTimer, error)
	// IsNewChat reports whether nothing was ever sent or received in a chat, which
	// may have any of the names.
	IsNewChat(ctx context.Context, names ...bridge.JID) (bool, error)
	// Unread returns the next messages of a chat that have no read receipt yet, up to a
	// message; an empty id is up to the last.
	Unread(ctx context.Context, chat bridge.JID, upTo string) (bridge.UnreadPage, error)
	// MayBegin fails with [bridge.CodeNewChatsLimited] if a first message to a person,
	// by their names, may not be sent now.
	MayBegin(ctx context.Context, limit bridge.NewChats, names ...bridge.JID) error
	// NumberChecks returns the network's answers about some numbers, which are kept for a day.
	NumberChecks(ctx context.Context, phones []string) (map[string]bridge.NumberCheck, error)
	// ReserveLookUps counts look-ups of so many numbers, which may become as many as
	// room, or refuses them with [bridge.CodeLookUpsLimited].
	ReserveLookUps(ctx context.Context, count, room int) error
}

// CDN is the network's media servers. Who calls it names the hosts.
type CDN interface {
	Upload(ctx context.Context, conns bridge.MediaConns, f bridge.File) (bridge.UploadedFile, error)
	// Exists reports whether a file is still there.
	Exists(ctx context.Context, conns bridge.MediaConns, file *bridge.Media) (bool, error)
	// HTTPClient reaches the media servers, for whatsmeow's own downloads.
	HTTPClient() *http.Client
}

// Options of a [Sender].
type Options struct {
	Store     Store
	CDN       CDN
	Log       zerolog.Logger
	Clock     *bridge.Clock   // is confirmed by the network's answers
	NewChats  bridge.NewChats // how many chats the account may begin
	Available bool            // all the time, and not only while the account types
	// Connection returns the connection that is open, or fails with
	// [bridge.CodeNotConnected].
	Connection func() (*Client, error)
	// Own returns the account's number and LID, and PushName its name; empty before
	// they are known.
	Own      func() (pn, lid bridge.JID)
	PushName func() string
	// Timelock returns how long the network keeps the account from beginning chats.
	Timelock func() time.Duration
	// Capped returns how long the network refuses to have the account begin chats, because
	// the new chats of its cycle are used up. NewChatRefused notes that it has refused one.
	Capped         func() time.Duration
	NewChatRefused func()
	// DefaultTimer returns the timer of disappearing messages with which new chats begin, in
	// seconds; 0 is none.
	DefaultTimer func() uint32
	// Background ends with the program: what was begun is brought to an end before.
	Background context.Context
}

// Sender sends for the one account. Everything may be called at any time from
// anywhere.
type Sender struct {
	o     Options
	Waits Waits
	OnTry func() // is called by tests before anything is sent

	workers   sync.WaitGroup
	presence  *presence
	leftOut   *leftOut
	reuploads sync.Map            // those under way (*reupload), by the message's id
	asking    singleflight.Group  // for single numbers, and files
	checking  *semaphore.Weighted // held while numbers are looked up for a check
	reading   *semaphore.Weighted // held while read receipts are sent
	changing  *semaphore.Weighted // held while the state is changed that the account's devices share
	receipts  sync.Map            // what to call (func()) with a receipt, by the message's id

	sent, failed, sentAgain atomic.Uint64 // messages since the program started
}

// New returns a sender, which needs [Sender.Run] beside it.
func New(opts Options) *Sender {
	s := &Sender{o: opts, Waits: usualWaits, presence: newPresence(opts.Available), checking: semaphore.NewWeighted(1), reading: semaphore.NewWeighted(1), changing: semaphore.NewWeighted(1)}
	s.leftOut = newLeftOut(s)
	return s
}

// Run does what goes on beside the calls until ctx ends, and waits for its end.
func (s *Sender) Run(ctx context.Context) {
	s.workers.Go(func() { s.leftOut.run(ctx) })
	s.workers.Wait()
	s.presence.stop()
}

// Counts returns how many messages were sent, how many were not, and how many were
// sent once more, since the program started.
func (s *Sender) Counts() (sent, failed, again uint64) {
	return s.sent.Load(), s.failed.Load(), s.sentAgain.Load()
}

func (s *Sender) ownPN() bridge.JID {
	pn, _ := s.o.Own()
	return pn
}

// saveTimeout bounds one transaction of the store.
const saveTimeout = 30 * time.Second

// save stores what became of a send, also while the program ends.
func (s *Sender) save(facts ...bridge.Fact) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.o.Background), saveTimeout)
	defer cancel()
	return s.o.Store.Save(ctx, facts...)
}

// Link holds what the account knows of a connection.
type Link struct {
	// Socket returns what identifies the present socket.
	Socket func() any
	// TakeUsernames returns the usernames that answers have brought and that are not
	// stored, for the caller to store. SaveUsernames stores them.
	TakeUsernames func() []bridge.Fact
	SaveUsernames func(ctx context.Context)
}

// Client is the client of one device, with what is known of those it sends to.
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
