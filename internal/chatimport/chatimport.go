// Package chatimport imports chats that the apps have exported into the store.
//
// [Importer.Start] reads the complete export before it stores anything, and reports all errors in the export and in the
// request. Then the import runs in the background and has an id. After an import that ended early, the same import stores the
// rest; nothing is lost or stored twice.
//
// Exports are untrusted. An import holds a few megabytes of memory, independent of the export. It ends when its caller leaves
// before it has begun, when its token ends, when it is cancelled and when the process stops.
package chatimport

import (
	"cmp"
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
	Files *files.Imported
	// Limits bounds the unpacked size of an export.
	Limits chatexport.Limits
	// Quota limits the stored bytes of all imports of a token tree; 0 means no limit. It does not apply to BRIDGE_TOKEN.
	Quota int64
	// Reserve is the free space that imports leave on the disk; nil reserves nothing.
	Reserve *disk.Reserve
	// Me returns the account; nil if none is paired.
	Me       func() *bridge.User
	Lifetime context.Context // ends running imports
	// Zone is the default time zone of exports; nil if the operator has set none.
	Zone *time.Location
	Now  func() time.Time
	// Progress is called when an import, which is not a dry run, or its undoing begins and ends, and after each
	// hundredth of it; nil for never.
	Progress func(chat bridge.JID, imp bridge.ImportProgress)
	Log      zerolog.Logger
}

// Importer imports exports. It is safe for concurrent use.
type Importer struct {
	o     Options
	slots *intake.Quota // of running imports
	wait  time.Duration // maxWait except in tests
	run   time.Duration // maxRun except in tests

	mu   sync.Mutex // guards the fields from here on, except work
	jobs []*job     // the last ones
	// busy has the chats into which an import runs, and undoing the imports that are being undone. Their channels are closed
	// when they end.
	busy    map[bridge.JID]chan struct{}
	undoing map[string]chan struct{}
	work    sync.WaitGroup
}

// running limits the running imports: one of each token tree, two of all, and a third one of BRIDGE_TOKEN.
var running = intake.Quotas{All: 3, Others: 2, Each: 1}

// maxWait limits how long an import waits for a slot and its chat.
const maxWait = 5 * time.Minute

// maxRun limits an import, so that two endless ones do not hold the slots of all other tokens. It does not apply to
// BRIDGE_TOKEN.
const maxRun = time.Hour

// New returns an Importer. It resumes undoing the imports that were being undone when the process ended.
func New(ctx context.Context, o Options) (*Importer, error) {
	i := &Importer{
		o: o, slots: intake.NewQuota(running, maxWait, 0), wait: maxWait, run: maxRun,
		busy: make(map[bridge.JID]chan struct{}), undoing: make(map[string]chan struct{}),
	}
	return i, i.resume(ctx)
}

// Close waits until the running imports have ended, as Options.Lifetime demands.
func (i *Importer) Close() { i.work.Wait() }

// Zone returns the time zone in which exports are read and written unless the caller names one; UTC if the operator has set none.
func (i *Importer) Zone() *time.Location { return cmp.Or(i.o.Zone, time.UTC) }

// Upload returns a reader of an uploaded export. It fails when the disk's reserve is reached.
func (i *Importer) Upload(from io.Reader) io.Reader { return i.o.Reserve.Reader(from) }

// Request describes an import.
type Request struct {
	Export   *media.Received // the import closes it
	Chat     string          // the JID of a chat, or the name of a new one
	FileName string
	Names    map[string]bridge.JID
	Zone     *time.Location   // of the phone; nil to detect it
	Order    bridge.DateOrder // of the dates; empty to detect it
	DryRun   bool
	// By is the caller, and Tree its token tree: see [bridge.Token].
	By   *bridge.CalledBy
	Tree int64
	// While ends the import when the caller's token ends; nil never does.
	While context.Context
	// May returns an error for a chat into which the caller may not import; nil allows all.
	May func(chat bridge.JID) error
	// Outsiders filters people: it returns the ones that are hidden from the caller. nil hides none.
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

// Start starts an import after it has a slot and has read the complete export. Until then it ends with ctx. Its errors have
// [bridge.CodeInvalid], [bridge.CodePayloadTooLarge], [bridge.CodeAmbiguousDates], [bridge.CodeAmbiguousTimezone],
// [bridge.CodeUnknownDates], [bridge.CodeTooManyConnections] and [bridge.CodeNotFound] for a person who is hidden
// from the caller, or come from May, the store and ctx.
func (i *Importer) Start(ctx context.Context, r Request) (id string, err error) {
	chat, name, err := i.chatOf(ctx, r)
	if err != nil {
		r.Export.Close()
		return "", err
	}
	j := i.newJob(r, chat, name)
	stays := context.AfterFunc(ctx, func() { j.end(errLeft) })
	leave, err := i.acquire(j)
	if err == nil {
		if r.Tree != 0 {
			j.endAfter(i.run)
		}
		preparing, cancel := context.WithCancel(ctx) // ctx identifies the caller
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
	i.announce(j.now())
	i.work.Go(func() {
		defer leave()
		defer j.end(nil)
		defer r.Export.Close()
		j.run()
	})
	return j.state.ID, nil
}

func (i *Importer) newJob(r Request, chat bridge.JID, name string) *job {
	j := &job{i: i, r: r, tree: r.Tree, name: name, done: make(chan struct{})}
	ctx, end := context.WithCancelCause(i.o.Lifetime)
	var stops []func() bool
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
		ID: rand.Text(), State: bridge.ImportRunning, DryRun: r.DryRun, ChatJID: chat, By: r.By, StartedAt: bridge.At(i.o.Now()), Doubtful: []bridge.AmbiguousLine{}, UnknownNames: []string{},
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

// acquire waits until an import has a slot and no other import runs into its chat. leave releases both.
func (i *Importer) acquire(j *job) (leave func(), err error) {
	waiting, cancel := context.WithTimeout(j.ctx, i.wait)
	defer cancel()
	slot, err := i.slots.Take(waiting, j.tree, 1, func() {})
	if err == nil {
		slot.Complete() // it is never cancelled for others
		if err = i.lockChat(waiting, j.state.ChatJID); err != nil {
			slot.Release()
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
		i.unlockChat(j.state.ChatJID)
		slot.Release()
	}, nil
}

// lockChat waits until no other import runs into a chat. Two at once would not see each other's messages and store them twice.
func (i *Importer) lockChat(ctx context.Context, chat bridge.JID) error {
	for {
		i.mu.Lock()
		ended, isBusy := i.busy[chat]
		if !isBusy {
			i.busy[chat] = make(chan struct{})
		}
		i.mu.Unlock()
		if !isBusy {
			return nil
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (i *Importer) unlockChat(chat bridge.JID) {
	i.mu.Lock()
	defer i.mu.Unlock()
	close(i.busy[chat])
	delete(i.busy, chat)
}

// chatOf returns the chat of an import. It returns the name, too, if the chat's JID is made from it.
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

// hidden returns the people that are hidden from the caller, out of some.
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

// sentence returns an error's text for callers.
func sentence(err error) string {
	var known *bridge.Error
	if errors.As(err, &known) && known.Code != bridge.CodeInternal {
		return known.Msg
	}
	return "something went wrong inside the service; its log says what"
}

// datesError returns the error of ambiguous dates for callers.
func datesError(err error) error {
	ambiguous, ok := errors.AsType[*chatexport.Ambiguous](err)
	if !ok {
		return err
	}
	e := bridge.Fail(bridge.CodeAmbiguousDates, "the dates of the export can be read in more than one order, %s: say which with dateOrder", bridge.Join(ambiguous.Orders, " and "))
	e.Dates = &bridge.AmbiguousDates{Orders: ambiguous.Orders, Examples: ambiguous.Examples}
	return fmt.Errorf("detect the format of the export: %w", e)
}
