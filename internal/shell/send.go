package shell

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// Outgoing says where a message goes, and how.
type Outgoing struct {
	To      string
	ReplyTo string // the id of the quoted message, in the same chat
	Key     string // random if empty
	Wait    time.Duration
	SendAt  string // a time; empty for now

	at *bridge.Time // the time that SendAt names
}

// later returns a message with its time, if it has one.
func (m Outgoing) later(message client.Message) client.Message {
	if m.at == nil {
		return message
	}
	return client.Later{Message: message, At: *m.at}
}

// Send describes a text or a file to send.
type Send struct {
	Outgoing
	Text        string // the caption if there is a file
	Mentions    []string
	MentionAll  bool
	LinkPreview *bool // nil for the bridge's default

	File     string // its path; empty for a text
	URL      string // of a file that the bridge fetches
	As       As     // empty: as what its bytes are
	FileName string // by default its own
	Convert  bool   // a video, into one that the apps play
	GIF      bool   // a video, repeated without its sound
	ViewOnce bool   // the apps show it once
}

// As is the form in which a file is sent: a [bridge.MediaType], or [AsVoice].
type As string

// AsVoice sends an audio file as a voice note.
const AsVoice As = "voice"

// Forms returns all forms in which a file is sent.
func Forms() (forms []As) {
	for _, kind := range bridge.MediaTypes {
		forms = append(forms, As(kind))
	}
	return append(forms, AsVoice)
}

// kind returns the API's type of a file, and whether it is a voice note.
func (as As) kind() (kind bridge.MediaType, isVoice bool) {
	if as == AsVoice {
		return bridge.MediaAudio, true
	}
	return bridge.MediaType(as), false
}

const (
	maxText = 65536 // characters of the API's longest text
	maxKey  = 255   // characters of the API's longest Idempotency-Key
)

// ReadText reads the text of a message without the line break at its end.
func ReadText(r io.Reader) (string, error) {
	data, err := io.ReadAll(io.LimitReader(r, utf8.UTFMax*maxText+2))
	if err != nil {
		return "", fmt.Errorf("read the text: %w", err)
	}
	text := strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	if utf8.RuneCountInString(text) > maxText {
		return "", Usage("the text is longer than %d characters: send it as a file with --file", maxText)
	}
	return text, nil
}

// Send sends a text or a file.
func (s *Shell) Send(ctx context.Context, m Send) error {
	if err := m.check(); err != nil {
		return err
	}
	mentions, err := s.findPeople(ctx, m.Mentions)
	if err != nil {
		return err
	}
	return s.deliver(ctx, &m.Outgoing, func(ctx context.Context, to bridge.JID, quote client.Quote, key string) (client.Sent, error) {
		kind, isVoice := m.As.kind()
		switch {
		case m.File != "":
			return s.upload(ctx, m, client.Upload{
				To: to, FileName: cmp.Or(m.FileName, filepath.Base(m.File)), Type: kind, Caption: m.Text, PTT: isVoice, Convert: m.Convert, GIF: m.GIF, ViewOnce: m.ViewOnce, QuotedMsgID: quote.QuotedMsgID, SendAt: m.at,
			}, key)
		case m.URL != "":
			return s.API.Send(ctx, m.later(client.File{To: to, URL: m.URL, Type: kind, Caption: m.Text, FileName: m.FileName, PTT: isVoice, Convert: m.Convert, GIF: m.GIF, ViewOnce: m.ViewOnce, Quote: quote}), key)
		}
		return s.API.Send(ctx, m.later(client.Text{To: to, Text: m.Text, Mentions: mentions, MentionAll: m.MentionAll, LinkPreview: m.LinkPreview, Quote: quote}), key)
	})
}

// check returns an error if the flags contradict each other.
func (m Send) check() error {
	hasFile := m.File != "" || m.URL != ""
	switch {
	case m.File != "" && m.URL != "":
		return Usage("give --file or --url, not both")
	case !hasFile && strings.TrimSpace(m.Text) == "":
		return Usage("there is no text to send")
	case !hasFile && (m.As != "" || m.Convert || m.GIF || m.ViewOnce || m.FileName != ""):
		return Usage("--as, --document, --convert, --gif, --view-once and --file-name need --file or --url")
	case m.URL != "" && m.As == "":
		return Usage("--url needs --as, such as --as image")
	case hasFile && (len(m.Mentions) > 0 || m.MentionAll || m.LinkPreview != nil):
		return Usage("--mention, --mention-all and --link-preview are for texts, not for files")
	}
	return nil
}

// deliver sends a message once, repeats the request after lost connections, and prints the id. It waits for
// the delivery if m says so.
func (s *Shell) deliver(ctx context.Context, m *Outgoing, post func(ctx context.Context, to bridge.JID, quote client.Quote, key string) (client.Sent, error)) error {
	key, err := keyOr(m.Key)
	if err != nil {
		return err
	}
	if m.at, err = s.future("--send-at", m.SendAt); err != nil {
		return err
	}
	if m.at != nil && m.Wait > 0 {
		return Usage("give --send-at or --wait, not both")
	}
	to, err := s.find(ctx, m.To)
	if err != nil {
		return err
	}
	cursor := ""
	if m.Wait > 0 {
		if cursor, err = s.API.LastEvent(ctx); err != nil {
			return err
		}
	}
	sent, err := once(ctx, s, key, func(ctx context.Context) (client.Sent, error) {
		return post(ctx, to, client.Quote{QuotedMsgID: m.ReplyTo}, key)
	})
	if err != nil {
		return err
	}
	if err := s.printSent("Sent to", sent); err != nil {
		return err
	}
	if m.Wait > 0 {
		return s.awaitDelivery(ctx, sent, cursor, m.Wait)
	}
	return nil
}

// upload sends a file.
func (s *Shell) upload(ctx context.Context, m Send, upload client.Upload, key string) (sent client.Sent, err error) {
	err = withFile(m.File, func(file io.Reader) error {
		sent, err = s.API.SendFile(ctx, upload, file, key)
		return err
	})
	return sent, err
}

// printSent prints the id alone, for scripts, and a note that says what was done.
func (s *Shell) printSent(did string, sent client.Sent) error {
	if s.JSON {
		return s.printJSON(sent)
	}
	if sent.SendAt != nil {
		did = "Scheduled for " + s.when(sent.SendAt) + " to"
	}
	how := "%s %s."
	if sent.Replayed {
		how = "%s %s before, with the same key."
	}
	if err := s.note(how, did, sent.Chat); err != nil {
		return err
	}
	return s.print("%s\n", Printable(sent.ID))
}

// awaitDelivery follows the log from before the message until a phone has received the message.
func (s *Shell) awaitDelivery(ctx context.Context, sent client.Sent, cursor string, wait time.Duration) error {
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	m, err := s.API.Message(ctx, sent.Chat, sent.ID)
	if err != nil {
		return err
	}
	if done, err := s.isDelivered(m); done {
		return err
	}
	query := client.EventQuery{After: cursor, Chats: []bridge.JID{sent.Chat}, Types: []bridge.EventType{bridge.EventMessageStatus}}
	for event, err := range s.API.Events(waiting, query) {
		if err != nil && waiting.Err() == nil {
			return err
		}
		if event.Message == nil || event.Message.ID != sent.ID {
			continue
		}
		if done, err := s.isDelivered(*event.Message); done {
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return hinted(fmt.Errorf("sent, but no phone has received it within %s", wait), "it is delivered when the phone is online; do not send it again")
}

// isDelivered reports whether the delivery has ended, with an error if it has failed.
func (s *Shell) isDelivered(m bridge.Message) (bool, error) {
	if m.Status == nil {
		return false, nil
	}
	switch *m.Status {
	case bridge.DeliveryDelivered, bridge.DeliveryRead, bridge.DeliveryPlayed:
		return true, s.note("It is %s.", *m.Status)
	case bridge.DeliveryFailed:
		return true, fmt.Errorf("the network refused the message")
	}
	return false, nil
}
