package bridge

import (
	"strings"
	"time"
)

// Transcript has the words of a message's sound, as a service wrote them down.
type Transcript struct {
	Text     string  `json:"text"`
	Language *string `json:"language"` // as the service names it, mostly by ISO 639-1; nil where it does not
	At       Time    `json:"at"`
}

// textOf returns the text of a transcript; nil has none.
func (t *Transcript) textOf() string {
	if t == nil {
		return ""
	}
	return t.Text
}

// Words returns all that a search looks at, content and transcript, one a line.
func (m Message) Words() string { return joinedLines(m.Content, m.Transcript.textOf()) }

// Words returns all that a search looks at, content and transcript, one a line.
func (m Match) Words() string { return joinedLines(m.Content, m.Transcript.textOf()) }

func joinedLines(content, transcript string) string {
	if content == "" || transcript == "" {
		return content + transcript
	}
	return content + "\n" + transcript
}

// maxTranscript limits the text of a transcript, in bytes.
const maxTranscript = 64 << 10

// NewTranscript returns a transcript within the limits. An empty language is none.
func NewTranscript(text, language string, at time.Time) Transcript {
	text = strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", ""))
	t := Transcript{Text: CutBytes(text, maxTranscript), At: At(at)}
	if language = PlainFileName(language); language != "" {
		t.Language = new(cut(language, maxNumber))
	}
	return t
}

// TranscribeMode says which voice notes are transcribed as they come. Others are on request.
type TranscribeMode string

// The modes.
const (
	TranscribeOff      TranscribeMode = "off"
	TranscribeIncoming TranscribeMode = "incoming"
	TranscribeAll      TranscribeMode = "all" // own ones, too
)

// Wants reports whether a message is transcribed as it comes: a voice note that may be
// listened to more than once, and that is not of the past.
func (mode TranscribeMode) Wants(m Message) bool {
	return m.Media != nil && m.Media.Type == MediaAudio && m.Media.PTT && !m.ViewOnce && !m.Imported &&
		(mode == TranscribeAll || mode == TranscribeIncoming && !m.FromMe)
}

// Transcribable returns nil where a transcript of a message can be asked for.
func (m Message) Transcribable() error {
	switch {
	case m.Media == nil || m.Media.Type != MediaAudio && m.Media.Type != MediaVideo:
		return Invalid("the message has no sound: only voice notes, sounds and videos are transcribed")
	case m.ViewOnce:
		return Invalid("the message is shown once: it is not transcribed")
	}
	return nil
}

// Transcription is what is known of the work on transcripts.
type Transcription struct {
	Mode         TranscribeMode `json:"mode"`
	Waiting      int            `json:"waiting"`      // messages whose transcript is not there yet
	PutOff       int            `json:"putOff"`       // those of them that wait for the next month: this one has too few minutes left
	SecondsUsed  int            `json:"secondsUsed"`  // of sound that was sent to the service this month, in UTC
	SecondsLimit *int           `json:"secondsLimit"` // a month; nil for none
}

// TranscriptRequest answers who asked for a transcript.
type TranscriptRequest struct {
	ChatJID    JID         `json:"chatJid"`
	MsgID      string      `json:"msgId"`
	Transcript *Transcript `json:"transcript"` // nil as long as it is not made
	WaitsUntil *Time       `json:"waitsUntil"` // the next month, where this one has too few minutes left
}

// LongNote is the length of a voice note from which on its transcription is limited.
const LongNote = 10 * time.Minute

// ChatMinutes returns how much of a month's sound may be transcribed of one chat, so that a stranger's
// notes leave minutes to other chats: half of it, but never less than [LongNote]; 0 is no limit.
func ChatMinutes(month time.Duration) time.Duration {
	if month == 0 {
		return 0
	}
	return max(month/2, LongNote)
}

// NextMonth returns when the month after a moment begins, in UTC.
func NextMonth(after time.Time) time.Time {
	year, month, _ := after.UTC().Date()
	return time.Date(year, month+1, 1, 0, 0, 0, 0, time.UTC)
}
