package shell

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// Send describes a message to send.
type Send struct {
	To       string
	Text     string // the caption if there is a file
	File     string // its path; empty for a text
	Document bool   // whether the file is sent as a document, unchanged
	ReplyTo  string // the id of the quoted message, in the same chat
	Key      string // random if empty
	Wait     time.Duration
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

// Send sends a message once, repeats the request after lost connections, and prints the id.
func (s *Shell) Send(ctx context.Context, m Send) error {
	if m.File == "" && strings.TrimSpace(m.Text) == "" {
		return Usage("there is no text to send")
	}
	if m.Document && m.File == "" {
		return Usage("--document needs --file")
	}
	key, err := keyOr(m.Key)
	if err != nil {
		return err
	}
	m.Key = key
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
	sent, err := s.sendOnce(ctx, m.Key, func(ctx context.Context) (client.Sent, error) { return s.post(ctx, to, m) })
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

// keyOr returns the key, or a random one if it is "".
func keyOr(key string) (string, error) {
	if key == "" {
		return "shell-" + rand.Text(), nil
	}
	if len(key) > maxKey || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", Usage("--key must have 1 to %d visible ASCII characters", maxKey)
	}
	return key, nil
}

func (s *Shell) post(ctx context.Context, to bridge.JID, m Send) (sent client.Sent, err error) {
	if m.File == "" {
		return s.API.Send(ctx, client.Text{To: to, Text: m.Text, Quote: client.Quote{QuotedMsgID: m.ReplyTo}}, m.Key)
	}
	// Opening a pipe would wait for its writer.
	if info, err := os.Stat(m.File); err != nil {
		return sent, &fileError{err}
	} else if !info.Mode().IsRegular() {
		return sent, Usage("%s is not a regular file", m.File)
	}
	file, err := os.Open(m.File)
	if err != nil {
		return sent, &fileError{err}
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	read := &trackedReader{Reader: file}
	upload := client.Upload{To: to, FileName: filepath.Base(m.File), Caption: m.Text, QuotedMsgID: m.ReplyTo}
	if m.Document {
		upload.Type = bridge.MediaDocument
	}
	sent, err = s.API.SendFile(ctx, upload, read, m.Key)
	if err != nil && read.err != nil {
		return sent, &fileError{read.err}
	}
	return sent, err
}

// fileError is the error of a local file to send or import.
type fileError struct{ error }

// IsMissingFile reports whether err says that a file to send or import does not exist.
func IsMissingFile(err error) bool {
	_, is := errors.AsType[*fileError](err)
	return is && errors.Is(err, fs.ErrNotExist)
}

func (e *fileError) Unwrap() error { return e.error }

// trackedReader remembers the error of its reader and counts the bytes.
type trackedReader struct {
	io.Reader
	err   error
	count atomic.Int64
}

func (n *trackedReader) Read(p []byte) (int, error) {
	count, err := n.Reader.Read(p)
	n.count.Add(int64(count))
	if err != nil && err != io.EOF {
		n.err = err
	}
	return count, err
}

// printSent prints the id alone, for scripts, and a note that says what was done.
func (s *Shell) printSent(did string, sent client.Sent) error {
	if s.JSON {
		return s.printJSON(sent)
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

// pauses are the times between attempts whose outcome is unknown.
var pauses = []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 15 * time.Second}

// longestPause limits the pauses that the bridge requests with Retry-After.
const longestPause = 30 * time.Second

// sendOnce repeats a request until the bridge answers with the outcome. Each attempt has the same key, so
// that the message is sent once. It fails at once if the first attempt does not reach a bridge.
func (s *Shell) sendOnce(ctx context.Context, key string, send func(context.Context) (client.Sent, error)) (client.Sent, error) {
	for try := 0; ; try++ {
		sent, err := send(ctx)
		if err == nil || !mayHaveLeft(err, try > 0) {
			return sent, withKey(err, key, try > 0)
		}
		if try == len(pauses) || ctx.Err() != nil {
			return sent, hinted(fmt.Errorf("it is unknown whether the message was sent: %w", err), "%s", repeatWith(key))
		}
		if try == 0 {
			if err := s.note("The bridge did not say whether it was sent; trying again with the same key."); err != nil {
				return sent, err
			}
		}
		bridge.Sleep(ctx, pauseOf(err, pauses[try]))
	}
}

func repeatWith(key string) string {
	return fmt.Sprintf("repeat the command with --key %s, which never sends it twice", key)
}

// withKey adds a hint to an error after which the message may have been sent.
func withKey(err error, key string, isRepeated bool) error {
	switch code := bridge.CodeOf(err); {
	case err == nil:
		return nil
	case code == bridge.CodeNotConnected: // a bridge that stops while it sends returns it too
		return hinted(err, "%s\n%s", hints[code], repeatWith(key))
	case code == bridge.CodeIdempotencyMismatch && isRepeated:
		return hinted(fmt.Errorf("it is unknown whether the message was sent, and its file has changed since: %w", err), "look in the chat before you send it again")
	}
	return err
}

// mayHaveLeft reports whether a failed attempt, or one before it, may have sent the message.
func mayHaveLeft(err error, isRepeated bool) bool {
	_, isFile := errors.AsType[*fileError](err)
	_, isUsage := errors.AsType[*UsageError](err)
	if isFile || isUsage {
		return false
	}
	refused, ok := errors.AsType[*client.Error](err)
	if !ok { // no answer
		dial, ok := errors.AsType[*net.OpError](err)
		isUnreached := ok && dial.Op == "dial"
		return isRepeated || !isUnreached
	}
	switch refused.Code {
	case bridge.CodeSendRefused:
		return false
	case bridge.CodeSendTimeout, bridge.CodeRequestInProgress:
		return true
	case bridge.CodeNotConnected, bridge.CodeRateLimited, bridge.CodeUnauthorized:
		return isRepeated // the outcome of the attempt before is unknown
	}
	return refused.Status >= http.StatusInternalServerError // also from a proxy, while the bridge restarts
}

func pauseOf(err error, usual time.Duration) time.Duration {
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.RetryAfter > 0 {
		return min(refused.RetryAfter, longestPause)
	}
	return usual
}
