package bridge

import (
	"strings"
	"time"
)

// Transcript is the transcript of a message's audio.
type Transcript struct {
	Text     string  `json:"text"`
	Language *string `json:"language"` // as the service reports it, mostly ISO 639-1; nil if it does not
	At       Time    `json:"at"`
}

// GetText returns the text of a transcript, "" for nil.
func (t *Transcript) GetText() string {
	if t == nil {
		return ""
	}
	return t.Text
}

// Words returns the searchable text of a message: content and transcript, one per line.
func (m Message) Words() string { return joinedLines(m.Content, m.Transcript.GetText()) }

// Words returns the searchable text of a message: content and transcript, one per line.
func (m Match) Words() string { return joinedLines(m.Content, m.Transcript.GetText()) }

func joinedLines(content, transcript string) string {
	if content == "" || transcript == "" {
		return content + transcript
	}
	return content + "\n" + transcript
}

// maxTranscript limits the text of a transcript, in bytes.
const maxTranscript = 64 << 10

// NewTranscript returns a transcript within the limits. An empty language means unknown.
func NewTranscript(text, language string, at time.Time) Transcript {
	text = strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", ""))
	t := Transcript{Text: CutBytes(text, maxTranscript), At: At(at)}
	if language = PlainFileName(language); language != "" {
		t.Language = new(cut(language, maxNumber))
	}
	return t
}

// TranscribeMode says which voice notes are transcribed on arrival. Others are transcribed on
// request.
type TranscribeMode string

// The modes.
const (
	TranscribeOff      TranscribeMode = "off"
	TranscribeIncoming TranscribeMode = "incoming"
	TranscribeAll      TranscribeMode = "all" // own ones, too
)

// Wants reports whether a message is transcribed on arrival: a new voice note that may be played
// more than once.
func (mode TranscribeMode) Wants(m Message) bool {
	return m.Media != nil && m.Media.Type == MediaAudio && m.Media.PTT && !m.ViewOnce && !m.Imported &&
		(mode == TranscribeAll || mode == TranscribeIncoming && !m.FromMe)
}

// Transcribable returns nil if a transcript of a message can be requested.
func (m Message) Transcribable() error {
	switch {
	case m.Media == nil || m.Media.Type != MediaAudio && m.Media.Type != MediaVideo:
		return Invalid("the message has no audio: only voice notes, audio files and videos are transcribed")
	case m.ViewOnce:
		return Invalid("view-once messages are not transcribed")
	}
	return nil
}

// Transcription is the state of the work on transcripts.
type Transcription struct {
	Mode         TranscribeMode `json:"mode"`
	Waiting      int            `json:"waiting"`      // messages whose transcript is not there yet
	PutOff       int            `json:"putOff"`       // of Waiting, the ones that wait for the next month because its minutes are used up
	SecondsUsed  int            `json:"secondsUsed"`  // of audio that was sent to the service this month, in UTC
	SecondsLimit *int           `json:"secondsLimit"` // a month; nil if none
}

// TranscriptRequest is the answer to a request for a transcript.
type TranscriptRequest struct {
	ChatJID    JID         `json:"chatJid"`
	MsgID      string      `json:"msgId"`
	Transcript *Transcript `json:"transcript"` // nil as long as it is not made
	WaitsUntil *Time       `json:"waitsUntil"` // the next month, if this one has too few minutes left
}

// LongNote is the length at which the transcription of a voice note is limited.
const LongNote = 10 * time.Minute

// ChatMinutes returns how much of a month's audio one chat may use, so that an unknown sender's
// notes leave minutes to other chats: half of it, but at least [LongNote]; 0 means no limit.
func ChatMinutes(month time.Duration) time.Duration {
	if month == 0 {
		return 0
	}
	return max(month/2, LongNote)
}

// NextMonth returns the start of the month after a time, in UTC.
func NextMonth(after time.Time) time.Time {
	year, month, _ := after.UTC().Date()
	return time.Date(year, month+1, 1, 0, 0, 0, 0, time.UTC)
}
