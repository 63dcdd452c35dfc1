package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/search"
)

// queueTranscript has a message transcribed that has a new file, if those of its kind are. A
// transcript of an earlier file is no longer made.
func (t *writeTx) queueTranscript(seq int64, m bridge.Message) {
	if m.Media == nil {
		return
	}
	t.Run("DELETE FROM transcriptions WHERE message = ?", seq)
	if t.s.o.Transcribe.Wants(m) {
		t.Run("INSERT INTO transcriptions (message, asked) VALUES (?, FALSE)", seq)
		t.queued = true
	}
}

// AskTranscript has a message transcribed next, unless it is already. A message that was tried
// before begins anew. whole lets it use what its chat may no longer use of the month's minutes. It
// fails with [bridge.CodeNotFound] if the message is not stored.
func (s *Store) AskTranscript(ctx context.Context, chat bridge.JID, id string, whole bool) error {
	return s.writeAs(ctx, "ask for a transcript", func(t *writeTx) {
		m, found := t.findMessage(chat, id)
		switch {
		case !found || m.deleted != 0:
			t.Fail(bridge.NotFound("there is no message %s in the chat %s in the store", id, chat))
		case t.detailsIn(m.details).Transcript == nil:
			t.Run(`
				INSERT INTO transcriptions (message, asked, whole) VALUES (?, TRUE, ?)
				ON CONFLICT (message) DO UPDATE SET asked = TRUE, whole = whole OR excluded.whole, tries = 0, next_at = 0`, m.seq, whole)
			t.queued = true
		}
	})
}

// ReviewTranscriptions fits what waits to the settings: it gives up the transcripts that nobody
// asked for, and that messages like theirs no longer get, and lets those be tried that wait for the
// next month.
func (s *Store) ReviewTranscriptions(ctx context.Context) error {
	return s.writeAs(ctx, "review transcripts", func(t *writeTx) {
		t.Run("UPDATE transcriptions SET next_at = 0 WHERE next_at = ?", s.nextMonth())
		switch s.o.Transcribe {
		case bridge.TranscribeAll:
		case bridge.TranscribeIncoming:
			t.Run("DELETE FROM transcriptions WHERE NOT asked AND message IN (SELECT seq FROM messages WHERE from_me)")
		default:
			t.Run("DELETE FROM transcriptions WHERE NOT asked")
		}
	})
}

// TranscriptsQueued gives a token when there are more transcripts to make; for a single listener.
func (s *Store) TranscriptsQueued() <-chan struct{} { return s.queued }

// Transcription is a try to make the transcript of a message.
type Transcription struct {
	id    int64
	Tries int // this one included
	Chat  bridge.JID
	MsgID string
	Whole bool          // see [Store.AskTranscript]
	Used  time.Duration // of the chat's sound that was transcribed this month
}

// NextTranscription begins the next try: of messages that were asked for, then of the newest ones.
// It counts, and there is another one after a pause, whatever happens to this one. If none is due,
// wait says for how long; 0 is until there are more.
func (s *Store) NextTranscription(ctx context.Context, pause func(tries int) time.Duration) (next *Transcription, wait time.Duration, err error) {
	waits, err := readAs(ctx, s, "look for transcripts to make", func(r *readTx) (wait *time.Duration) {
		var first *int64
		if r.Find("SELECT min(next_at) FROM transcriptions", nil, &first); first != nil {
			wait = new(time.Duration(max(*first-s.now(), 0)) * time.Millisecond)
		}
		return wait
	})
	switch {
	case err != nil || waits == nil:
		return nil, 0, err
	case *waits > 0:
		return nil, *waits, nil
	}
	err = s.writeAs(ctx, "begin a transcript", func(t *writeTx) {
		var job Transcription
		var used string
		if !t.Find(`
			SELECT q.id, q.tries + 1, c.jid, m.id, q.whole, c.transcribed FROM transcriptions q JOIN messages m ON m.seq = q.message JOIN chats c ON c.id = m.chat
			WHERE q.next_at <= ? ORDER BY q.asked DESC, q.message DESC LIMIT 1`, []any{t.at}, &job.id, &job.Tries, &job.Chat, &job.MsgID, &job.Whole, &used) {
			return
		}
		job.Used = transcribedIn(s.month(), used)
		t.Run("UPDATE transcriptions SET tries = ?, next_at = ? WHERE id = ?", job.Tries, t.at+pause(job.Tries).Milliseconds(), job.id)
		next = &job
	})
	return next, time.Second, err
}

// SaveTranscript keeps a transcript, and reports false where the message was deleted meanwhile, or
// got another file.
func (s *Store) SaveTranscript(ctx context.Context, of Transcription, made bridge.Transcript) (saved bool, err error) {
	err = s.writeAs(ctx, "save a transcript", func(t *writeTx) {
		var seq int64
		var content, column string
		if !t.Find("DELETE FROM transcriptions WHERE id = ? RETURNING message", []any{of.id}, &seq) ||
			!t.Find("SELECT content, ifnull(details, '') FROM messages WHERE seq = ? AND deleted_at IS NULL", []any{seq}, &content, &column) {
			return
		}
		d := t.detailsIn(column)
		d.Transcript, saved = (*transcriptDetails)(&made), true
		folded, bare := search.Columns(content, made.Text)
		t.Run("UPDATE messages SET folded = ?, bare = ?, details = ? WHERE seq = ?", folded, bare, t.pack(d), seq)
		t.contentChanged(seq, bridge.ChangedTranscript)
	})
	return saved, err
}

// DropTranscription gives up the transcript of a message.
func (s *Store) DropTranscription(ctx context.Context, of Transcription) error {
	return s.writeAs(ctx, "give up a transcript", func(t *writeTx) { t.Run("DELETE FROM transcriptions WHERE id = ?", of.id) })
}

// PostponeTranscription has a try not begin before a moment; it does not count where it was not
// made.
func (s *Store) PostponeTranscription(ctx context.Context, of Transcription, until time.Time, made bool) error {
	return s.writeAs(ctx, "postpone a transcript", func(t *writeTx) {
		t.Run("UPDATE transcriptions SET next_at = max(next_at * ?1, ?2), tries = tries - NOT ?1 WHERE id = ?3", made, until.UnixMilli(), of.id)
	})
}

// settingTranscribed has a month and the milliseconds of sound that were transcribed in it.
const settingTranscribed = "store.transcribed"

// month returns the month in UTC as the setting has it.
func (s *Store) month() string { return s.o.Clock.Now().UTC().Format("2006-01") }

// transcribedIn returns how much sound was transcribed in a month, as the setting or a chat's row says.
func transcribedIn(month, setting string) time.Duration {
	of, count, _ := strings.Cut(setting, " ")
	ms, err := strconv.ParseInt(count, 10, 64)
	if of != month || err != nil {
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}

// Minutes limits the sound that is transcribed in a month; 0 is no limit.
type Minutes struct{ All, Chat time.Duration }

// admit reports whether sums are within the limits.
func (m Minutes) admit(all, chat time.Duration) bool {
	return (m.All == 0 || all <= m.All) && (m.Chat == 0 || chat <= m.Chat)
}

// CountTranscribed counts sound of a chat that is about to be transcribed, unless that is more than
// the limits. A negative length takes back what was not sent after all.
func (s *Store) CountTranscribed(ctx context.Context, chat bridge.JID, length time.Duration, limits Minutes) (counted bool, err error) {
	err = s.writeAs(ctx, "count what is transcribed", func(t *writeTx) {
		month := s.month()
		var ofChat string
		t.Find("SELECT transcribed FROM chats WHERE jid = ?", []any{chat}, &ofChat)
		all := max(transcribedIn(month, readSetting(t.Conn, settingTranscribed))+length, 0) // the month may be another one by now
		one := max(transcribedIn(month, ofChat)+length, 0)
		if counted = length < 0 || limits.admit(all, one); counted {
			t.setSetting(settingTranscribed, fmt.Sprintf("%s %d", month, all.Milliseconds()))
			t.Run("UPDATE chats SET transcribed = ? WHERE jid = ?", fmt.Sprintf("%s %d", month, one.Milliseconds()), chat)
		}
	})
	return counted, err
}

// TranscribedOf returns how much sound of a chat was transcribed this month.
func (s *Store) TranscribedOf(ctx context.Context, chat bridge.JID) (time.Duration, error) {
	return readAs(ctx, s, "look up what was transcribed", func(r *readTx) time.Duration {
		var used string
		r.Find("SELECT transcribed FROM chats WHERE jid = ?", []any{chat}, &used)
		return transcribedIn(s.month(), used)
	})
}

// TranscriptWork is how far the work on transcripts is.
type TranscriptWork struct {
	Waiting int           // messages
	PutOff  int           // those of them that wait for the next month
	Used    time.Duration // of sound that was transcribed this month
}

// Transcribed returns how far the work on transcripts is.
func (s *Store) Transcribed(ctx context.Context) (work TranscriptWork, err error) {
	err = s.read(ctx, func(r *readTx) {
		r.Find("SELECT count(*), count(*) FILTER (WHERE next_at = ?) FROM transcriptions", []any{s.nextMonth()}, &work.Waiting, &work.PutOff)
		work.Used = transcribedIn(s.month(), readSetting(r.Conn, settingTranscribed))
	})
	return work, err
}

// nextMonth returns when the next month begins, in milliseconds.
func (s *Store) nextMonth() int64 { return bridge.NextMonth(s.o.Clock.Now()).UnixMilli() }
