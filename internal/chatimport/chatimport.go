// Package chatimport takes chats that the apps have exported over into the store: who wrote
// what, with their files.
//
// An [Importer] takes one export at a time. [Importer.Start] reads it whole before anything is
// stored, and refuses it whole: what it names as wrong is wrong with the export, or with what was
// said of it. From then on the import goes on by itself, and can be looked up by its id. Where it
// ends early nothing is lost or doubled: the same import once more stores the rest.
package chatimport

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/chatexport"
	"bridged/internal/media"
	"bridged/internal/store"
)

// Options configures an [Importer].
type Options struct {
	Store *store.Store
	Kept  *media.Kept
	// Limits bounds what an export may unpack to.
	Limits chatexport.Limits
	// Me returns the account; nil while none is paired.
	Me       func() *bridge.User
	Lifetime context.Context // ends imports that are under way
	Now      func() time.Time
	Log      zerolog.Logger
}

// Importer takes exports over, one at a time. It is safe for concurrent use.
type Importer struct {
	o        Options
	turn     chan struct{} // holds a token while no export is taken over
	patience time.Duration // patience but in tests

	mu   sync.Mutex
	jobs []*job // the last ones; guarded by mu
	work sync.WaitGroup
}

// maxJobs bounds the imports that are remembered.
const maxJobs = 100

// New returns an Importer.
func New(o Options) *Importer {
	i := &Importer{o: o, turn: make(chan struct{}, 1), patience: patience}
	i.turn <- struct{}{}
	return i
}

// Close waits for the import that is under way, which ends with Options.Lifetime.
func (i *Importer) Close() { i.work.Wait() }

// Request says what to import.
type Request struct {
	Export *media.Received // which the import closes
	Chat   string          // the JID of a chat, or the name of a new one
	Names  map[string]bridge.JID
	Zone   *time.Location
	Order  bridge.DateOrder // of the dates; empty to find out
	DryRun bool
	// May refuses a chat; nil refuses none.
	May func(chat bridge.JID) error
	// Outsiders returns those of some people of whom the caller may know nothing; nil returns none.
	Outsiders func(ctx context.Context, people ...bridge.JID) ([]bridge.JID, error)
}

// patience is how long an import waits for another one.
const patience = 10 * time.Second

// Start begins an import, once the export is known to be whole. Its errors are of
// [bridge.CodeInvalid], [bridge.CodePayloadTooLarge], [bridge.CodeAmbiguousDates],
// [bridge.CodeUnknownDates], [bridge.CodeRequestInProgress], [bridge.CodeNotFound] for a person
// outside, those of May and of the store.
func (i *Importer) Start(ctx context.Context, r Request) (id string, err error) {
	chat, name, err := i.chatOf(ctx, r)
	if err != nil {
		r.Export.Close()
		return "", err
	}
	waiting, cancel := context.WithTimeout(ctx, i.patience)
	defer cancel()
	select {
	case <-i.turn:
	case <-waiting.Done():
		r.Export.Close()
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", bridge.Fail(bridge.CodeRequestInProgress, "another chat is being imported: wait until it is done, and import this one then")
	}
	j := &job{i: i, r: r, name: name, done: make(chan struct{})}
	j.state = bridge.Import{ID: rand.Text(), State: bridge.ImportRunning, DryRun: r.DryRun, ChatJID: chat, Doubtful: []bridge.Doubt{}, UnknownNames: []string{}}
	if err := j.prepare(ctx); err != nil {
		r.Export.Close()
		i.turn <- struct{}{}
		return "", err
	}
	i.remember(j)
	i.work.Go(func() {
		defer func() { i.turn <- struct{}{} }()
		defer r.Export.Close()
		j.run(i.o.Lifetime)
	})
	return j.state.ID, nil
}

func (i *Importer) remember(j *job) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.jobs = append(i.jobs, j); len(i.jobs) > maxJobs {
		i.jobs = slices.Delete(i.jobs, 0, 1)
	}
}

// Import returns an import: [bridge.CodeNotFound] for one that is not remembered.
func (i *Importer) Import(id string) (bridge.Import, error) {
	j, err := i.find(id)
	if err != nil {
		return bridge.Import{}, err
	}
	return j.now(), nil
}

// Wait waits until an import has ended, or for so long, and returns it.
func (i *Importer) Wait(ctx context.Context, id string, most time.Duration) (bridge.Import, error) {
	j, err := i.find(id)
	if err != nil {
		return bridge.Import{}, err
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-j.done:
		if j.failed != nil {
			return j.now(), j.failed
		}
	case <-timer.C:
	case <-ctx.Done():
		return bridge.Import{}, ctx.Err()
	}
	return j.now(), nil
}

func (i *Importer) find(id string) (*job, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, j := range i.jobs {
		if j.state.ID == id {
			return j, nil
		}
	}
	return nil, NotRemembered(id)
}

// NotRemembered returns the error of an import that there is not.
func NotRemembered(id string) error {
	return bridge.NotFound("there is no import %s: the bridge remembers the last %d until it is restarted. Importing the same chat again stores what is missing", id, maxJobs)
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

func (r Request) may(chat bridge.JID) error {
	if r.May == nil {
		return nil
	}
	return r.May(chat)
}

// job is one import.
type job struct {
	i       *Importer
	r       Request
	name    string // of a chat with a JID of its own; else empty
	archive *chatexport.Archive
	// The times of the first and of the last message.
	first, last time.Time
	senders     map[string]sender
	sums        map[string][]byte // of the files that messages name
	done        chan struct{}
	failed      error // once done is closed

	mu    sync.Mutex
	state bridge.Import // guarded by mu
}

func (j *job) now() bridge.Import {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.state
}

func (j *job) change(f func(*bridge.Import)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	f(&j.state)
}

// run takes the export over, after prepare.
func (j *job) run(ctx context.Context) {
	defer close(j.done)
	began := time.Now()
	err := j.takeOver(ctx)
	j.archive, j.senders, j.sums, j.r.Names = nil, nil, nil, nil // what is remembered is only counted
	if ctx.Err() != nil {
		err = bridge.NotConnected("the bridge was stopped before the import was done: import the chat again, which stores the rest")
	}
	j.failed = err
	j.change(func(state *bridge.Import) {
		state.State = bridge.ImportDone
		if err != nil {
			state.State, state.Error = bridge.ImportFailed, new(sentence(err))
		}
	})
	end := j.now()
	log := j.i.o.Log.Info()
	if err != nil {
		log = j.i.o.Log.Error().Err(err)
	}
	log.Str("chat", end.ChatJID.Redacted()).Bool("dry_run", end.DryRun).Int("imported", end.Imported).Int("duplicates", end.Duplicates).
		Int("media", end.Media).Dur("took", time.Since(began)).Msg("chat import ended")
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
