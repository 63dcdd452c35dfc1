package schedule

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/store"
	"bridged/internal/store/storetest"
)

const (
	grace = bridge.JID("15557654321@s.whatsapp.net")
	alan  = bridge.JID("15550000001@s.whatsapp.net")
	day   = 24 * time.Hour
	year  = 365 * day
)

// desk is an account, its callers and its scheduled messages, under a fake clock that may be wrong.
type desk struct {
	*Schedule
	t     *testing.T
	dir   string
	store *store.Store
	clock *bridge.Clock
	off   atomic.Int64 // by how much the system clock is wrong
	end   func()       // ends Run

	mu     sync.Mutex
	closed bool  // the account is not open
	refuse error // of sends
	denied error // of MaySend
	sends  []bridge.Outgoing
	resent []string
	most   int // pictures of albums that are taken before refuse
}

// at runs a test with a desk.
func at(t *testing.T, test func(d *desk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := &desk{t: t, dir: t.TempDir(), end: func() {}}
		began := time.Now()
		d.clock = bridge.ClockOf(time.Time{},
			func() time.Time { return time.Now().Add(time.Duration(d.off.Load())) }, func() time.Duration { return time.Since(began) })
		s, err := store.Open(context.Background(), store.Options{Path: storetest.NewFile(t), Log: zerolog.Nop(), Clock: d.clock})
		if err != nil {
			t.Fatal(err)
		}
		d.store = s
		d.open()
		test(d)
		d.end()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// open opens the schedule and runs it, as a start of the program does.
func (d *desk) open() {
	d.t.Helper()
	s, err := New(d.t.Context(), Options{Store: d.store, Account: d, Dir: d.dir, Grace: time.Hour, Log: zerolog.Nop()})
	if err != nil {
		d.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Run(ctx, d)
	}()
	d.Schedule, d.end = s, func() { cancel(); <-done }
}

// restart ends Run, as a stop does, and opens the schedule again after a time.
func (d *desk) restart(after time.Duration) {
	d.t.Helper()
	d.end()
	time.Sleep(after)
	d.open()
}

func (d *desk) Ready() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return bridge.NotConnected("not open")
	}
	return nil
}

func (d *desk) Send(ctx context.Context, out bridge.Outgoing) (bridge.Sent, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	m := bridge.Message{Chat: out.To, ID: out.ID, FromMe: true, SenderJID: alan, MessageType: "conversation", Content: "sent", Timestamp: bridge.At(time.Now()), Raw: []byte{1}, Status: new(bridge.DeliveryPending)}
	if d.refuse != nil && bridge.CodeOf(d.refuse) != bridge.CodeSendTimeout {
		return bridge.Sent{}, d.refuse
	}
	if err := d.store.Save(ctx, m); err != nil {
		return bridge.Sent{}, err
	}
	if d.refuse != nil {
		return bridge.Sent{}, d.refuse
	}
	d.sends = append(d.sends, out)
	err := d.store.Save(ctx, bridge.SendResult{Chat: m.Chat, ID: m.ID, Status: bridge.DeliverySent, Timestamp: m.Timestamp})
	return bridge.Sent{ID: m.ID, Chat: m.Chat, Timestamp: m.Timestamp}, err
}

func (d *desk) Resend(ctx context.Context, m bridge.Message) (bridge.Sent, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refuse != nil {
		return bridge.Sent{}, d.refuse
	}
	d.resent = append(d.resent, m.ID)
	err := d.store.Save(ctx, bridge.SendResult{Chat: m.Chat, ID: m.ID, Status: bridge.DeliverySent, Timestamp: m.Timestamp})
	return bridge.Sent{ID: m.ID, Chat: m.Chat, Timestamp: m.Timestamp}, err
}

// SendAlbum stores an album and sends as much of it as the account takes.
func (d *desk) SendAlbum(ctx context.Context, album bridge.OutgoingAlbum) (bridge.SentAlbum, error) {
	parent := bridge.Message{Chat: album.To, ID: album.ID, FromMe: true, SenderJID: alan, MessageType: "albumMessage", Timestamp: bridge.At(time.Now()), Raw: []byte{1}, Status: new(bridge.DeliveryPending)}
	parent.Album = &bridge.Album{Images: len(album.Items)}
	rows := []bridge.Message{parent}
	for i, prepare := range album.Items {
		file, cleanup, err := prepare(ctx)
		defer cleanup()
		if err != nil {
			return bridge.SentAlbum{}, err
		}
		if _, err := os.Stat(file.Path); err != nil {
			d.t.Error(err)
		}
		item := parent
		item.ID, item.MessageType, item.Content, item.Parts = fmt.Sprint(album.ID, "ITEM", i), "imageMessage", file.Caption, bridge.Parts{AlbumID: &album.ID}
		rows = append(rows, item)
	}
	for _, row := range rows {
		if err := d.store.Save(ctx, row); err != nil {
			return bridge.SentAlbum{}, err
		}
	}
	return d.ResendAlbum(ctx, rows)
}

func (d *desk) ResendAlbum(ctx context.Context, rows []bridge.Message) (sent bridge.SentAlbum, err error) {
	for _, row := range rows {
		if !row.MayResend() {
			continue
		}
		d.mu.Lock()
		refuse := d.refuse
		if row.Album == nil && d.most > 0 {
			d.most--
			refuse = nil
		}
		d.mu.Unlock()
		if refuse != nil && row.Album == nil {
			return sent, refuse
		}
		if sent.ID == "" {
			sent.Sent = bridge.Sent{ID: row.ID, Chat: row.Chat, Timestamp: row.Timestamp}
		}
		d.mu.Lock()
		d.resent = append(d.resent, row.ID)
		d.mu.Unlock()
		if err := d.store.Save(ctx, bridge.SendResult{Chat: row.Chat, ID: row.ID, Status: bridge.DeliverySent, Timestamp: row.Timestamp}); err != nil {
			return sent, err
		}
	}
	return sent, nil
}

func (d *desk) MaySend(_ context.Context, m bridge.Scheduled) (bridge.Token, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return bridge.Token{ID: m.Token}, d.denied
}

// set changes what the account and the callers do.
func (d *desk) set(closed bool, refuse, denied error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed, d.refuse, d.denied = closed, refuse, denied
	d.Wake()
}

// says schedules a text, from now on.
func (d *desk) says(to bridge.JID, text string, in time.Duration) string {
	d.t.Helper()
	m, err := d.Add(d.t.Context(), bridge.Outgoing{To: to, Content: bridge.Text{Text: text}}, bridge.At(time.Now().Add(in)), false, bridge.Token{ID: 7, Tree: 7}, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	return m.ID
}

// sent returns the texts that were sent, after time has passed.
func (d *desk) sent(after time.Duration) (texts []string) {
	d.t.Helper()
	time.Sleep(after)
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, out := range d.sends {
		texts = append(texts, out.Content.(bridge.Text).Text)
	}
	return texts
}

// status returns the status of a message; "" if it is no longer scheduled.
func (d *desk) status(id string) bridge.ScheduledStatus {
	d.t.Helper()
	m, err := d.store.ScheduledMessage(d.t.Context(), id)
	if err != nil && bridge.CodeOf(err) != bridge.CodeNotFound {
		d.t.Fatal(err)
	}
	if m.Status != "" && (m.Error == nil) != (m.Status == bridge.ScheduledWaiting || m.Status == bridge.ScheduledSending) {
		d.t.Errorf("%s with the error %+v", m.Status, m.Error)
	}
	return m.Status
}

func (d *desk) want(what string, got, want any) {
	d.t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		d.t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestRun_SendsAtTheTime(t *testing.T) {
	at(t, func(d *desk) {
		d.says(grace, "second", 2*time.Hour)
		d.says(grace, "first", time.Hour)
		d.says(alan, "third", 5*day)
		d.want("early", d.sent(time.Hour-time.Millisecond), "[]")
		d.want("at the time", d.sent(time.Millisecond), "[first]")
		d.want("an hour later", d.sent(time.Hour), "[first second]")
		d.want("days later", d.sent(5*day), "[first second third]")
	})
}

// TestRun_WaitsForTheAccount within the grace period, and marks later messages as missed.
func TestRun_WaitsForTheAccount(t *testing.T) {
	at(t, func(d *desk) {
		d.set(true, nil, nil)
		late, inTime := d.says(grace, "too late", time.Minute), d.says(alan, "in time", 10*time.Minute)
		d.want("closed", d.sent(65*time.Minute), "[]")
		d.set(false, nil, nil)
		d.want("open", d.sent(2*time.Second), "[in time]")
		d.want("the late one", d.status(late), bridge.ScheduledMissed)
		d.want("the other", d.status(inTime), "")
		if _, err := d.SendNow(d.t.Context(), late, bridge.Token{}, nil); err != nil {
			d.t.Error(err)
		}
		d.want("sent now", d.sent(0), "[in time too late]")
	})
}

// TestRun_AfterARestart sends what became due while the program was off, within the grace period.
func TestRun_AfterARestart(t *testing.T) {
	at(t, func(d *desk) {
		d.says(grace, "in time", 30*time.Minute)
		missed := d.says(grace, "too late", time.Minute)
		d.restart(80 * time.Minute)
		d.want("sent", d.sent(0), "[in time]")
		d.want("the late one", d.status(missed), bridge.ScheduledMissed)
	})
}

// TestRun_ClockJumps neither send a year's messages at once nor anything twice.
func TestRun_ClockJumps(t *testing.T) {
	at(t, func(d *desk) {
		for week := range 50 {
			d.says(grace, fmt.Sprint("week ", week), time.Duration(week)*7*day+time.Hour)
		}
		d.off.Store(int64(year))
		d.want("after a jump ahead", d.sent(time.Minute), "[]")
		d.want("at the time by the clock that runs", d.sent(time.Hour), "[week 0]")
		d.off.Store(0)
		d.want("after the jump was corrected", d.sent(time.Minute), "[week 0]")
		d.off.Store(int64(-30 * day))
		d.want("after a jump back", d.sent(time.Hour), "[week 0]")
		d.off.Store(0)
		d.want("in the next week", d.sent(7*day), "[week 0 week 1]")
		// A jump that the network confirms, as after a suspended machine, is real.
		d.off.Store(int64(30 * 7 * day))
		d.clock.Confirm(time.Now().Add(30 * 7 * day))
		texts := d.sent(time.Minute)
		if len(texts) > 3 {
			d.t.Errorf("%d messages were sent at once", len(texts)-2)
		}
		counts, err := d.store.ScheduledCounts(d.t.Context())
		if err != nil || counts[bridge.ScheduledMissed] < 28 {
			d.t.Errorf("%v %v", counts, err)
		}
		d.want("in the next two weeks", len(d.sent(14*day)), len(texts)+2)
		slices.Sort(texts)
		d.want("twice", len(slices.Compact(texts)), len(texts))
	})
}

// TestRun_RepeatsWhatMayHaveLeft under the same id, also after a restart, but not after the grace period.
func TestRun_RepeatsWhatMayHaveLeft(t *testing.T) {
	unknown := bridge.Fail(bridge.CodeSendTimeout, "no answer")
	at(t, func(d *desk) {
		id := d.says(grace, "hi", time.Minute)
		d.set(false, unknown, nil)
		d.sent(2 * time.Minute)
		d.want("while unknown", d.status(id), bridge.ScheduledSending)
		if _, err := d.Change(d.t.Context(), id, Patch{Text: new("changed")}, bridge.Token{}); bridge.CodeOf(err) != bridge.CodeAlreadySending {
			d.t.Errorf("a message that may have left was changed: %v", err)
		}
		if err := d.store.FailPending(d.t.Context()); err != nil {
			d.t.Fatal(err)
		}
		d.restart(time.Minute)
		d.set(false, nil, nil)
		d.sent(2 * time.Minute)
		d.want("sent again", d.resent, "["+id+"]")
		d.want("then", d.status(id), "")

		lost := d.says(grace, "lost", time.Minute)
		d.set(false, unknown, nil)
		d.sent(2 * time.Hour)
		d.want("after the grace period", d.status(lost), bridge.ScheduledMissed)
		d.set(false, nil, nil)
		d.sent(time.Hour)
		d.want("not by itself", d.resent, "["+id+"]")
		if _, err := d.SendNow(d.t.Context(), lost, bridge.Token{}, nil); err != nil {
			d.t.Error(err)
		}
		d.want("on request", d.resent, "["+id+" "+lost+"]")
	})
}

// TestRun_SendsTheRestOfAnAlbum after a time without an answer, also after a restart. A refused rest is sent on request.
func TestRun_SendsTheRestOfAnAlbum(t *testing.T) {
	at(t, func(d *desk) {
		add := func() string {
			t.Helper()
			var album bridge.AlbumFiles
			for range 3 {
				from, err := os.CreateTemp(d.t.TempDir(), "")
				if err != nil {
					d.t.Fatal(err)
				}
				if err := from.Close(); err != nil {
					d.t.Fatal(err)
				}
				album = append(album, bridge.File{Type: bridge.MediaImage, Path: from.Name()})
			}
			m, err := d.Add(d.t.Context(), bridge.Outgoing{To: grace, Content: album}, bridge.At(time.Now().Add(time.Minute)), false, bridge.Token{}, nil)
			if err != nil {
				d.t.Fatal(err)
			}
			return m.ID
		}
		files := func() int {
			t.Helper()
			entries, err := os.ReadDir(d.dir)
			if err != nil {
				d.t.Fatal(err)
			}
			return len(entries)
		}
		id := add()
		d.most = 1
		d.set(false, bridge.Fail(bridge.CodeSendTimeout, "no answer"), nil)
		d.restart(0)
		d.want("its files", files(), 3)
		d.sent(2 * time.Minute)
		d.want("while unknown", d.status(id), bridge.ScheduledSending)
		d.restart(time.Minute)
		d.set(false, nil, nil)
		d.sent(2 * time.Minute)
		d.want("sent", d.resent, fmt.Sprint([]string{id, id + "ITEM0", id + "ITEM1", id + "ITEM2"}))
		d.want("then", d.status(id), "")
		d.want("its files after it was sent", files(), 0)

		refused := add()
		d.most, d.resent = 2, nil
		d.set(false, bridge.Fail(bridge.CodeSendRefused, "no"), nil)
		d.sent(2 * time.Minute)
		d.want("refused", d.status(refused), bridge.ScheduledFailed)
		if m, err := d.store.ScheduledMessage(d.t.Context(), refused); err != nil || m.Error.Error != "no; send it now to send the rest" || !m.Begun {
			d.t.Errorf("%+v, %v", m.Error, err)
		}
		d.set(false, nil, nil)
		if _, err := d.SendNow(d.t.Context(), refused, bridge.Token{}, nil); err != nil {
			d.t.Error(err)
		}
		d.want("on request", d.resent, fmt.Sprint([]string{refused, refused + "ITEM0", refused + "ITEM1", refused + "ITEM2"}))
	})
}

// TestRun_Refusals are stored, unless they say when to try again.
func TestRun_Refusals(t *testing.T) {
	at(t, func(d *desk) {
		d.set(false, bridge.Fail(bridge.CodeNotInGroup, "the account is not in that group"), nil)
		refused := d.says(grace, "refused", time.Minute)
		d.sent(2 * time.Minute)
		d.want("refused", d.status(refused), bridge.ScheduledFailed)
		d.set(false, &bridge.Error{Code: bridge.CodeNewChatsLimited, Msg: "wait", RetryAfter: 10 * time.Minute}, nil)
		waits := d.says(alan, "waits", time.Minute)
		d.sent(2 * time.Minute)
		d.want("limited", d.status(waits), bridge.ScheduledWaiting)
		d.set(false, nil, nil)
		d.want("before the pause is over", d.sent(8*time.Minute), "[]")
		d.want("after it", d.sent(2*time.Minute), "[waits]")
		d.set(false, &bridge.Error{Code: bridge.CodeReachoutRestricted, Msg: "locked", RetryAfter: 10 * time.Minute}, nil)
		locked := d.says(alan, "locked", time.Minute)
		d.sent(2 * time.Minute)
		d.want("locked", d.status(locked), bridge.ScheduledFailed)
		d.set(false, nil, nil)
		if _, err := d.Change(d.t.Context(), locked, Patch{SendAt: new(bridge.At(time.Now().Add(time.Minute)))}, bridge.Token{}); err != nil {
			d.t.Error(err)
		}
		d.want("at a new time", d.sent(time.Minute), "[waits locked]")
		d.sent(31 * day)
		d.want("after a month", d.status(refused), "")
	})
}

// TestRun_EndsWithItsToken: the messages of a token that has ended are not sent, not even those of next month.
func TestRun_EndsWithItsToken(t *testing.T) {
	at(t, func(d *desk) {
		id := d.says(grace, "hi", 2*day)
		d.set(false, nil, bridge.Fail(bridge.CodeUnauthorized, "the token was revoked"))
		d.sent(time.Second)
		d.want("revoked", d.status(id), bridge.ScheduledFailed)
		d.want("at its time", d.sent(3*day), "[]")
	})
	at(t, func(d *desk) {
		d.set(false, nil, bridge.Fail(bridge.CodeSendDisabled, "sending is switched off"))
		id := d.says(grace, "hi", day)
		d.sent(2 * time.Minute)
		d.want("before its time", d.status(id), bridge.ScheduledWaiting)
		d.sent(day)
		d.want("with sending switched off", d.status(id), bridge.ScheduledFailed)
	})
}

// TestNew_RemovesFilesWithoutAMessage, which a kill between file and message leaves.
func TestNew_RemovesFilesWithoutAMessage(t *testing.T) {
	at(t, func(d *desk) {
		file := filepath.Join(d.t.TempDir(), "fetched")
		if err := os.WriteFile(file, []byte("the words of a paper"), 0o600); err != nil {
			d.t.Fatal(err)
		}
		m, err := d.Add(d.t.Context(), bridge.Outgoing{To: grace, Content: bridge.File{Type: bridge.MediaDocument, Path: file}}, bridge.At(time.Now().Add(time.Hour)), false, bridge.Token{}, nil)
		if err != nil {
			d.t.Fatal(err)
		}
		for _, name := range []string{"3EB0LOST", "3EB0HALF.part"} {
			if err := os.WriteFile(filepath.Join(d.dir, name), nil, 0o600); err != nil {
				d.t.Fatal(err)
			}
		}
		d.restart(0)
		entries, err := os.ReadDir(d.dir)
		if err != nil || len(entries) != 1 || entries[0].Name() != m.ID {
			d.t.Errorf("%v %v", entries, err)
		}
		if _, err := d.Cancel(d.t.Context(), m.ID); err != nil {
			d.t.Error(err)
		}
		if entries, err = os.ReadDir(d.dir); err != nil || len(entries) != 0 {
			d.t.Errorf("%v %v", entries, err)
		}
	})
}
