// Package chatimport imports chats that the apps have exported into the store: who wrote what, with
// their files.
//
// [Importer.Start] reads an export whole before anything is stored, and refuses it whole: its errors
// are about the export, or about what the caller says of it. From then on the import continues by
// itself, and can be looked up by its id. If it ends early, nothing is lost or doubled: the same
// import once more stores the rest.
//
// Exports come from strangers. An import holds a few megabytes of memory, whatever the export has
// in it, and it ends when its caller leaves before it has begun, when its token ends, when it is
// cancelled and when the process stops.
package chatimport

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/chatexport"
	"bridged/internal/intake"
	"bridged/internal/media"
	"bridged/internal/media/disk"
	"bridged/internal/media/files"
	"bridged/internal/store"
)

// Options configures an [Importer].
type Options struct {
	Store *store.Store
	Kept  *files.Imported
	// Limits bounds what an export may unpack to.
	Limits chatexport.Limits
	// Quota limits the bytes that the imports of a token tree have stored, at any time; 0 is no limit.
	// It does not apply to BRIDGE_TOKEN.
	Quota int64
	// Reserve is the free space that imports leave on the disk; nil is none.
	Reserve *disk.Reserve
	// Me returns the account; nil while none is paired.
	Me       func() *bridge.User
	Lifetime context.Context // ends imports that are running
	// Zone is the time zone of exports for which the caller gives none; nil if the operator has set none.
	Zone *time.Location
	Now  func() time.Time
	Log  zerolog.Logger
}

// Importer imports exports. It is safe for concurrent use.
type Importer struct {
	o     Options
	turns *intake.Quota // of imports that are running
	wait  time.Duration // longestWait but in tests
	run   time.Duration // longestRun but in tests

	mu     sync.Mutex
	jobs   []*job // the last ones; guarded by mu
	places places // guarded by mu
	// undoing has the imports that are being undone. Their channels close once they are undone. It is guarded by mu.
	undoing map[string]chan struct{}
	work    sync.WaitGroup
}

// running bounds the imports that are running: one of each token tree, two of all, and one more that
// only BRIDGE_TOKEN can have.
var running = intake.Shares{All: 3, Others: 2, Each: 1}

// longestWait limits how long an import waits for its turn, without anything else to be done for it.
const longestWait = 5 * time.Minute

// longestRun limits an import, so that two endless ones do not take the turns of all other tokens. It
// does not apply to BRIDGE_TOKEN.
const longestRun = time.Hour

// New returns an Importer. It continues to undo the imports that were being undone when the process ended.
func New(ctx context.Context, o Options) (*Importer, error) {
	i := &Importer{o: o, turns: intake.NewQuota(running, longestWait, 0), wait: longestWait, run: longestRun, places: make(places), undoing: make(map[string]chan struct{})}
	return i, i.resume(ctx)
}

// Close waits for imports that are running, which end with Options.Lifetime.
func (i *Importer) Close() { i.work.Wait() }

// Upload returns a reader of an export that is uploaded, which fails when the disk's reserve is reached.
func (i *Importer) Upload(from io.Reader) io.Reader { return i.o.Reserve.Reader(from) }

// Request says what to import.
type Request struct {
	Export   *media.Received // which the import closes
	Chat     string          // the JID of a chat, or the name of a new one
	FileName string
	Names    map[string]bridge.JID
	Zone     *time.Location   // of the phone; nil to find out
	Order    bridge.DateOrder // of the dates; empty to find out
	DryRun   bool
	// Token is the id of the caller's token, and Family that of its tree; see [bridge.Token].
	Token, Family int64
	// While ends the import when the caller's token ends; nil never does.
	While context.Context
	// May refuses a chat; nil refuses none.
	May func(chat bridge.JID) error
	// Outsiders returns the people, of some, of whom the caller may know nothing; nil returns none.
	Outsiders func(ctx context.Context, people ...bridge.JID) ([]bridge.JID, error)
}

// Causes of the end of an import's context.
var (
	errCancelled  = errors.New("the import was cancelled")
	errTokenEnded = errors.New("the token of the import has ended")
	errStopped    = errors.New("the bridge was stopped")
	errLeft       = errors.New("the caller left before the import began")
	errTooLong    = errors.New("the import took too long")
)

// Start begins an import, once it has its turn and the export is known to be whole; until then it ends
// with ctx. Its errors are of [bridge.CodeInvalid], [bridge.CodePayloadTooLarge],
// [bridge.CodeAmbiguousDates], [bridge.CodeAmbiguousTimezone], [bridge.CodeUnknownDates], [bridge.CodeTooManyConnections],
// [bridge.CodeNotFound] for a person outside, those of May, of the store and of ctx.
func (i *Importer) Start(ctx context.Context, r Request) (id string, err error) {
	chat, name, err := i.chatOf(ctx, r)
	if err != nil {
		r.Export.Close()
		return "", err
	}
	j := i.newJob(r, chat, name)
	stays := context.AfterFunc(ctx, func() { j.end(errLeft) })
	leave, err := i.takeTurn(j)
	if err == nil {
		if r.Family != 0 {
			j.endAfter(i.run)
		}
		preparing, cancel := context.WithCancel(ctx) // which names the caller
		unhook := context.AfterFunc(j.ctx, cancel)
		if err = j.prepare(preparing); err == nil {
			err = i.addImport(preparing, j)
		}
		if err != nil {
			leave()
		}
		unhook()
		cancel()
	}
	if err == nil && !stays() {
		leave()
		err = errLeft
		j.cancelled(errors.New("the caller left before the import began"))
	}
	if err != nil {
		if err = j.endedBy(err); ctx.Err() != nil {
			err = ctx.Err()
		}
		j.end(nil)
		r.Export.Close()
		return "", err
	}
	i.remember(j)
	i.work.Go(func() {
		defer leave()
		defer j.end(nil)
		defer r.Export.Close()
		j.run()
	})
	return j.state.ID, nil
}

func (i *Importer) newJob(r Request, chat bridge.JID, name string) *job {
	j := &job{i: i, r: r, token: r.Token, family: r.Family, name: name, done: make(chan struct{})}
	ctx, end := context.WithCancelCause(context.Background())
	stops := []func() bool{context.AfterFunc(i.o.Lifetime, func() { end(errStopped) })}
	if r.While != nil {
		stops = append(stops, context.AfterFunc(r.While, func() { end(errTokenEnded) }))
	}
	j.ctx, j.end = ctx, func(cause error) {
		end(cause)
		for _, stop := range stops {
			stop()
		}
	}
	j.state = bridge.Import{
		ID: rand.Text(), State: bridge.ImportRunning, DryRun: r.DryRun, ChatJID: chat, StartedAt: bridge.At(i.o.Now()), Doubtful: []bridge.Doubt{}, UnknownNames: []string{},
		ImportAbout: bridge.ImportAbout{FileName: r.FileName, Names: r.Names},
	}
	if r.Order != "" {
		j.state.DateOrder = &r.Order
	}
	if j.state.Names == nil {
		j.state.Names = map[string]bridge.JID{}
	}
	return j
}

// takeTurn waits until an import may run: the token tree has no other one, and nothing else is
// imported into the same chat. leave ends the turn.
func (i *Importer) takeTurn(j *job) (leave func(), err error) {
	waiting, cancel := context.WithTimeout(j.ctx, i.wait)
	defer cancel()
	turn, err := i.turns.Take(waiting, j.family, 1, func() {})
	if err == nil {
		turn.Whole() // it is never cut short for others
		if err = i.enter(waiting, j.state.ChatJID); err != nil {
			turn.Release()
		}
	}
	if err != nil {
		if j.ctx.Err() != nil {
			return nil, j.ctx.Err()
		}
		busy := bridge.Fail(bridge.CodeTooManyConnections, "other chats are still being imported: try again later")
		busy.RetryAfter = time.Minute
		return nil, busy
	}
	return func() {
		i.exit(j.state.ChatJID)
		turn.Release()
	}, nil
}

// places has the chats into which is imported. The channel of one is closed when it is free.
type places map[bridge.JID]chan struct{}

// enter waits until nothing else is imported into a chat: two imports would not see each other's
// messages, and store them twice.
func (i *Importer) enter(ctx context.Context, chat bridge.JID) error {
	for {
		i.mu.Lock()
		free, taken := i.places[chat]
		if !taken {
			i.places[chat] = make(chan struct{})
		}
		i.mu.Unlock()
		if !taken {
			return nil
		}
		select {
		case <-free:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (i *Importer) exit(chat bridge.JID) {
	i.mu.Lock()
	defer i.mu.Unlock()
	close(i.places[chat])
	delete(i.places, chat)
}

// chatOf returns the chat of an import, with its name where it has a JID of its own.
func (i *Importer) chatOf(ctx context.Context, r Request) (chat bridge.JID, name string, err error) {
	chat, notJID := bridge.ParseJID(r.Chat)
	switch {
	case notJID == nil && !chat.IsPerson() && !chat.IsGroup() && !chat.IsImport():
		return "", "", bridge.Invalid("chat must name a person, a group or a new chat: %s is none of these", chat)
	case notJID == nil && chat.IsImport():
		stored, err := i.o.Store.Chat(ctx, chat)
		if err != nil {
			return "", "", err
		}
		return chat, stored.Name, r.may(chat)
	case notJID == nil:
		return i.o.Store.Canonical(chat), "", r.may(chat)
	case looksLikeJID.MatchString(r.Chat):
		return "", "", bridge.Invalid("chat: %v", notJID)
	}
	if number, notPhone := bridge.ParsePhone(r.Chat); notPhone == nil {
		return "", "", bridge.Invalid("chat is a phone number: give the JID of its chat, %s, or a name", bridge.PhoneJID(number))
	}
	if name, err = checkName("chat", r.Chat); err != nil {
		return "", "", err
	}
	chat = chatJID(name)
	if err := r.may(chat); err != nil {
		return "", "", err
	}
	same, err := i.o.Store.ChatsNamed(ctx, name)
	if err != nil {
		return "", "", err
	}
	if same = slices.DeleteFunc(same, func(jid bridge.JID) bool { return jid == chat }); len(same) > 0 {
		return "", "", bridge.Invalid("there is a chat of this name already: give its JID, %s, or another name", bridge.Join(same, " or "))
	}
	return chat, name, nil
}

// hidden returns the people, of some, of whom the caller may know nothing.
func (r Request) hidden(ctx context.Context, people []bridge.JID) (map[bridge.JID]bool, error) {
	if r.Outsiders == nil {
		return nil, nil
	}
	outside, err := r.Outsiders(ctx, people...)
	hidden := make(map[bridge.JID]bool, len(outside))
	for _, jid := range outside {
		hidden[jid] = true
	}
	return hidden, err
}

func (r Request) may(chat bridge.JID) error {
	if r.May == nil {
		return nil
	}
	return r.May(chat)
}

// sentence returns what callers may know of an error.
func sentence(err error) string {
	var known *bridge.Error
	if errors.As(err, &known) && known.Code != bridge.CodeInternal {
		return known.Msg
	}
	return "something went wrong inside the service; its log says what"
}

// datesFault turns the error of dates that can be read in several ways into one for callers.
func datesFault(err error) error {
	ambiguous, is := errors.AsType[*chatexport.Ambiguous](err)
	if !is {
		return err
	}
	e := bridge.Fail(bridge.CodeAmbiguousDates, "the dates of the export can be read in more than one order, %s: say which with dateOrder", bridge.Join(ambiguous.Orders, " and "))
	e.Dates = &bridge.AmbiguousDates{Orders: ambiguous.Orders, Examples: ambiguous.Examples}
	return fmt.Errorf("survey the export: %w", e)
}
