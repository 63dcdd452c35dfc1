package api

import (
	"bytes"
	"context"
	"slices"
	"sort"
	"strconv"
	"sync"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/store"
)

const (
	// tailLife is how old a rendering may be that a stream still sends: no
	// older than what a slow line delivers anyway.
	tailLife = time.Second
	// tailSize is how many events the tail holds at most.
	tailSize = 1024
	// tailPage is how many events are read at once.
	tailPage = 100
)

// frame is an event as it goes over the wire.
type frame struct {
	id   int64
	kind bridge.EventType
	chat bridge.JID
	text []byte
	read time.Time
}

// wanted says whether a reader asked for it. chat is canonical.
func (f frame) wanted(types []bridge.EventType, chat bridge.JID) bool {
	return (len(types) == 0 || slices.Contains(types, f.kind)) && (chat == "" || f.chat == chat)
}

// newFrame writes an event in the form of server-sent events. JSON has no line
// breaks, so it is one line of data.
func newFrame(event bridge.Event, read time.Time) (frame, error) {
	data, err := bridge.EncodeJSON(event)
	if err != nil {
		return frame{}, err
	}
	text := frameText(event.ID, string(event.Type), data)
	return frame{event.ID, event.Type, event.ChatJID, text, read}, nil
}

func frameText(id int64, kind string, data []byte) []byte {
	var b bytes.Buffer
	b.Grow(len(data) + len(kind) + 48)
	b.WriteString("id: " + strconv.FormatInt(id, 10) + "\nevent: " + kind + "\ndata: ")
	b.Write(data)
	b.WriteString("\n\n")
	return b.Bytes()
}

// tail is the end of the log, read and encoded once for all streams that have
// caught up: what wakes ten thousand of them is read by one.
type tail struct {
	store *store.Store

	mu      sync.Mutex // guards all below
	seen    <-chan struct{}
	frames  []frame // all events after from, up to upto; never changed in place
	from    int64
	upto    int64
	hasMore bool
}

// after answers the events after a cursor and the cursor behind them; ok is
// false where the cursor is outside of the tail.
func (t *tail) after(ctx context.Context, cursor int64) (frames []frame, next int64, ok bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.refresh(ctx); err != nil {
		return nil, cursor, false, err
	}
	if cursor < t.from || cursor > t.upto {
		return nil, cursor, false, nil
	}
	first := sort.Search(len(t.frames), func(i int) bool { return t.frames[i].id > cursor })
	return t.frames[first:], t.upto, true, nil
}

// end is the cursor behind all that there is.
func (t *tail) end(ctx context.Context) (int64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		if err := t.refresh(ctx); err != nil || !t.hasMore {
			return t.upto, err
		}
	}
}

// refresh reads what was committed since the last time.
func (t *tail) refresh(ctx context.Context) error {
	changed := t.store.Changed()
	if changed == t.seen && !t.hasMore {
		return nil
	}
	return aside(func() error { return t.read(ctx, changed) })
}

func (t *tail) read(ctx context.Context, changed <-chan struct{}) error {
	if t.seen == nil {
		last, err := t.store.LastEvent(ctx)
		if err != nil {
			return err
		}
		t.from, t.upto = last, last
	}
	page, err := t.store.Events(ctx, store.EventQuery{After: t.upto, Limit: tailPage})
	if err != nil {
		return err
	}
	if page.Reset {
		t.frames, t.from = nil, page.Next
	}
	now := time.Now()
	t.forget(now)
	for _, event := range page.Events {
		f, err := newFrame(event, now)
		if err != nil {
			return err
		}
		t.frames = append(t.frames, f)
	}
	t.seen, t.upto, t.hasMore = changed, page.Next, page.More
	return nil
}

// forget drops what is too old or too much.
func (t *tail) forget(now time.Time) {
	old := max(len(t.frames)-tailSize+tailPage, 0)
	for old < len(t.frames) && now.Sub(t.frames[old].read) > tailLife {
		old++
	}
	switch {
	case old == len(t.frames):
		t.frames, t.from = nil, t.upto
	case old > 0:
		t.from, t.frames = t.frames[old-1].id, t.frames[old:]
	}
}
