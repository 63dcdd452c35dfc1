package settings

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
)

// QueueTranscript adds a message to the queue of transcripts.
func QueueTranscript(c *sqlite.Conn, message int64) {
	c.Run("INSERT INTO transcriptions (message, asked) VALUES (?, FALSE)", message)
}

// AskTranscript adds a message to the front of the queue of transcripts. Earlier tries of the
// message no longer count.
func AskTranscript(c *sqlite.Conn, message int64, whole bool) {
	c.Run(`
		INSERT INTO transcriptions (message, asked, whole) VALUES (?, TRUE, ?)
		ON CONFLICT (message) DO UPDATE SET asked = TRUE, whole = whole OR excluded.whole, tries = 0, next_at = 0`, message, whole)
}

// RemoveTranscript removes a message from the queue of transcripts.
func RemoveTranscript(c *sqlite.Conn, message int64) {
	c.Run("DELETE FROM transcriptions WHERE message = ?", message)
}

// ReviewTranscriptions adjusts the queue after the settings changed: messages of a kind that is no
// longer transcribed leave the queue unless a caller asked for them, and messages that wait for the
// next month are tried again.
func (t *Tables) ReviewTranscriptions(ctx context.Context) error {
	return t.update(ctx, "review transcripts", func(c *sqlite.Conn) {
		c.Run("UPDATE transcriptions SET next_at = 0 WHERE next_at = ?", t.nextMonth())
		switch t.o.Transcribe {
		case bridge.TranscribeAll:
		case bridge.TranscribeIncoming:
			c.Run("DELETE FROM transcriptions WHERE NOT asked AND message IN (SELECT seq FROM messages WHERE from_me)")
		default:
			c.Run("DELETE FROM transcriptions WHERE NOT asked")
		}
	})
}

// Transcription is a try to transcribe a message.
type Transcription struct {
	ID    int64
	Tries int // including this one
	Chat  bridge.JID
	MsgID string
	Whole bool          // the chat's limit does not apply
	Used  time.Duration // of the chat's audio that was transcribed this month
}

// NextTranscription starts the next try: of messages that a caller asked for, then of the newest
// ones. It counts as a try, and there is another one after a pause, whatever happens to it. If no
// message is due, wait is the time until one is; it is 0 if the queue is empty.
func (t *Tables) NextTranscription(ctx context.Context, pause func(tries int) time.Duration) (next *Transcription, wait time.Duration, err error) {
	waits, err := view(ctx, t, "look for transcripts to make", func(c *sqlite.Conn) (wait *time.Duration) {
		var first *int64
		if c.Find("SELECT min(next_at) FROM transcriptions", nil, &first); first != nil {
			wait = new(time.Duration(max(*first-t.now(), 0)) * time.Millisecond)
		}
		return wait
	})
	switch {
	case err != nil || waits == nil:
		return nil, 0, err
	case *waits > 0:
		return nil, *waits, nil
	}
	err = t.update(ctx, "begin a transcript", func(c *sqlite.Conn) {
		var job Transcription
		var used string
		if !c.Find(`
			SELECT q.id, q.tries + 1, c.jid, m.id, q.whole, c.transcribed FROM transcriptions q JOIN messages m ON m.seq = q.message JOIN chats c ON c.id = m.chat
			WHERE q.next_at <= ? ORDER BY q.asked DESC, q.message DESC LIMIT 1`, []any{t.now()}, &job.ID, &job.Tries, &job.Chat, &job.MsgID, &job.Whole, &used) {
			return
		}
		job.Used = transcribedIn(t.month(), used)
		c.Run("UPDATE transcriptions SET tries = ?, next_at = ? WHERE id = ?", job.Tries, t.now()+pause(job.Tries).Milliseconds(), job.ID)
		next = &job
	})
	return next, time.Second, err
}

// EndTranscription removes a try from the queue and returns its message. It reports false if the
// message is not in the queue any more.
func EndTranscription(c *sqlite.Conn, of Transcription) (message int64, found bool) {
	found = c.Find("DELETE FROM transcriptions WHERE id = ? RETURNING message", []any{of.ID}, &message)
	return message, found
}

// DropTranscription gives up transcribing a message.
func (t *Tables) DropTranscription(ctx context.Context, of Transcription) error {
	return t.update(ctx, "give up a transcript", func(c *sqlite.Conn) { EndTranscription(c, of) })
}

// PostponeTranscription postpones the next try until a time. A try that was not made does not
// count.
func (t *Tables) PostponeTranscription(ctx context.Context, of Transcription, until time.Time, made bool) error {
	return t.update(ctx, "postpone a transcript", func(c *sqlite.Conn) {
		c.Run("UPDATE transcriptions SET next_at = max(next_at * ?1, ?2), tries = tries - NOT ?1 WHERE id = ?3", made, until.UnixMilli(), of.ID)
	})
}

// settingTranscribed holds a month and the milliseconds of audio that were transcribed in it.
const settingTranscribed = "store.transcribed"

// month returns the month in UTC in the form of the setting.
func (t *Tables) month() string { return t.db.Clock().Now().UTC().Format("2006-01") }

// transcribedIn returns how much audio was transcribed in a month, from the setting or a chat's row.
func transcribedIn(month, setting string) time.Duration {
	of, count, _ := strings.Cut(setting, " ")
	ms, err := strconv.ParseInt(count, 10, 64)
	if of != month || err != nil {
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}

// Minutes limits the audio that is transcribed in a month; 0 means no limit.
type Minutes struct{ All, Chat time.Duration }

// admit reports whether sums are within the limits.
func (m Minutes) admit(all, chat time.Duration) bool {
	return (m.All == 0 || all <= m.All) && (m.Chat == 0 || chat <= m.Chat)
}

// CountTranscribed counts audio of a chat that is about to be transcribed, unless that exceeds the
// limits. A negative length takes back audio that was not sent after all.
func (t *Tables) CountTranscribed(ctx context.Context, chat bridge.JID, length time.Duration, limits Minutes) (counted bool, err error) {
	err = t.update(ctx, "count what is transcribed", func(c *sqlite.Conn) {
		month := t.month()
		var ofChat string
		c.Find("SELECT transcribed FROM chats WHERE jid = ?", []any{chat}, &ofChat)
		all := max(transcribedIn(month, Get(c, settingTranscribed))+length, 0) // a new month may have begun
		one := max(transcribedIn(month, ofChat)+length, 0)
		if counted = length < 0 || limits.admit(all, one); counted {
			Set(c, settingTranscribed, fmt.Sprintf("%s %d", month, all.Milliseconds()))
			c.Run("UPDATE chats SET transcribed = ? WHERE jid = ?", fmt.Sprintf("%s %d", month, one.Milliseconds()), chat)
		}
	})
	return counted, err
}

// TranscribedOf returns how much audio of a chat was transcribed this month.
func (t *Tables) TranscribedOf(ctx context.Context, chat bridge.JID) (time.Duration, error) {
	return view(ctx, t, "look up what was transcribed", func(c *sqlite.Conn) time.Duration {
		var used string
		c.Find("SELECT transcribed FROM chats WHERE jid = ?", []any{chat}, &used)
		return transcribedIn(t.month(), used)
	})
}

// TranscriptWork is the state of the queue of transcripts.
type TranscriptWork struct {
	Waiting int           // messages
	PutOff  int           // messages that wait for the next month
	Used    time.Duration // of audio that was transcribed this month
}

// Transcribed returns the state of the queue of transcripts.
func (t *Tables) Transcribed(ctx context.Context) (work TranscriptWork, err error) {
	err = t.db.View(ctx, func(c *sqlite.Conn) {
		c.Find("SELECT count(*), count(*) FILTER (WHERE next_at = ?) FROM transcriptions", []any{t.nextMonth()}, &work.Waiting, &work.PutOff)
		work.Used = transcribedIn(t.month(), Get(c, settingTranscribed))
	})
	return work, err
}

// nextMonth returns when the next month begins, in milliseconds.
func (t *Tables) nextMonth() int64 { return bridge.NextMonth(t.db.Clock().Now()).UnixMilli() }
