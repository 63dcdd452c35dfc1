package webhook

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/webhook/format"
)

// twoParts is a format that posts a message in two parts, the second with its file, and
// nothing of other events. Its receivers are asked first.
type twoParts struct{}

func (twoParts) Check(bridge.Webhook) error { return nil }

func (twoParts) Challenge(w bridge.Webhook) (address, answer string) {
	return w.URL + "?challenge=42&token=" + w.Options.VerifyToken, "42"
}

func (twoParts) Posts(d format.Delivery) ([]format.Post, error) {
	m := d.Event.Message
	if m == nil {
		return nil, nil
	}
	part := func(name string) format.Post {
		return format.Post{URL: d.Webhook.URL, Header: format.Header(d.Webhook), Body: []byte(name + " of " + m.ID + " ")}
	}
	second := part("second")
	second.File, second.Tail, second.Without = &format.File{Chat: d.Event.ChatJID, ID: m.ID}, []byte(" end"), []byte("second of "+m.ID+" without")
	return []format.Post{part("first"), second}, nil
}

// parts is a receiver of that format. It stores the posts that it accepts.
type parts struct {
	mu     sync.Mutex
	refuse string // a post that begins so is refused, once
	got    []string
	header http.Header
	log    bytes.Buffer // of the dispatcher
}

// Write implements io.Writer.
func (p *parts) Write(line []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.Write(line)
}

func (p *parts) logged() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// RoundTrip implements http.RoundTripper.
func (p *parts) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := func(status int, text string) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
	}
	if err := r.Context().Err(); err != nil { // as a real transport has it
		return nil, err
	}
	if r.Method == http.MethodGet {
		if r.URL.Query().Get("token") != "right" {
			return answer(http.StatusOK, "hello")
		}
		return answer(http.StatusOK, r.URL.Query().Get("challenge"))
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || r.ContentLength != int64(len(body)) {
		return nil, errors.Join(err, errors.New("the body is not as long as it says"))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuse != "" && strings.HasPrefix(string(body), p.refuse) {
		p.refuse = ""
		return answer(http.StatusBadRequest, "")
	}
	p.got, p.header = append(p.got, string(body)), r.Header
	return answer(http.StatusOK, "")
}

func (p *parts) taken() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.got)
}

// newFormatBench runs a dispatcher with that format.
func newFormatBench(t *testing.T) (*bench, *parts) {
	t.Helper()
	b, receiver := newBench(t), new(parts)
	b.stop()
	b.options = func(o *Options) {
		o.Log = zerolog.New(receiver)
		o.Transport, o.Formats = receiver, map[bridge.WebhookFormat]format.Format{"two": twoParts{}}
		o.OpenFile = func(ctx context.Context, of format.File) (io.ReadCloser, int64, error) {
			switch of.ID {
			case "LOST0":
				return nil, 0, errors.New("there is no message in " + string(of.Chat))
			case "SLOW0":
				<-ctx.Done()
				return nil, 0, ctx.Err()
			}
			file := bytes.Repeat([]byte(of.ID), 100_000)
			return io.NopCloser(bytes.NewReader(file)), int64(len(file)), nil
		}
	}
	b.start()
	return b, receiver
}

// A part that the receiver has accepted is not posted again if the next one fails. Events without a post
// are skipped. Files are sent as base64.
func TestFormats_PartsAreTakenOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, receiver := newFormatBench(t)
		receiver.refuse = "second of A0"
		w, err := b.Create(t.Context(), bridge.Webhook{
			URL: "http://parts/hook", AllowPrivate: true, Enabled: true, Cursor: -1, Format: "two",
			Options: bridge.FormatOptions{VerifyToken: "right", Headers: map[string]string{"Authorization": "Basic abc"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		b.say(grace, "A", 0, 1) // the chat is new: chat.updated comes before it
		synctest.Wait()
		want(t, "taken at first", receiver.taken(), []string{"first of A0 "})
		time.Sleep(time.Minute)
		synctest.Wait()
		file := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("A0"), 100_000))
		want(t, "taken", receiver.taken(), []string{"first of A0 ", "second of A0 " + file + " end"})
		if got := receiver.header.Get("Authorization"); got != "Basic abc" {
			t.Errorf("the webhook's own header is %q", got)
		}
		b.say(grace, "LOST", 0, 1)
		synctest.Wait()
		want(t, "taken without the file", receiver.taken()[2:], []string{"first of LOST0 ", "second of LOST0 without"})
		b.say(grace, "SLOW", 0, 1)
		time.Sleep(attemptTimeout)
		synctest.Wait()
		want(t, "taken without the file that does not come", receiver.taken()[4:], []string{"first of SLOW0 ", "second of SLOW0 without"})
		time.Sleep(time.Minute)
		if log := receiver.logged(); !strings.Contains(log, "there is no message in") || strings.Contains(log, grace.User()) {
			t.Errorf("logged %s", log)
		}
		if w = b.webhook(w.ID); w.Pending != 0 || w.Dead != 0 {
			t.Errorf("%d pending, %d dead", w.Pending, w.Dead)
		}
	})
}

// A receiver that replaces another one gets all parts, also if a try notices the change before the
// worker does.
func TestFormats_AnotherReceiverGetsAllParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, receiver := newFormatBench(t)
		receiver.refuse = "second of A0"
		w, err := b.Create(t.Context(), bridge.Webhook{
			URL: "http://parts/hook", AllowPrivate: true, Enabled: true, Cursor: -1, Format: "two", Options: bridge.FormatOptions{VerifyToken: "right"},
		})
		if err != nil {
			t.Fatal(err)
		}
		b.say(grace, "A", 0, 1)
		synctest.Wait()
		want(t, "taken at first", receiver.taken(), []string{"first of A0 "})
		if _, err := b.store.ChangeWebhook(t.Context(), w.ID, func(w *bridge.Webhook) error { w.URL = "http://parts/other"; return nil }); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := receiver.taken(); len(got) != 3 || got[1] != "first of A0 " {
			t.Errorf("the other receiver has taken %.40q", got[1:])
		}
	})
}

// A receiver that does not confirm the webhook is refused. So are invalid headers.
func TestFormats_AreChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := newFormatBench(t)
		for want, w := range map[string]bridge.Webhook{
			"it must answer with hub.challenge": {Format: "two", Options: bridge.FormatOptions{VerifyToken: "wrong"}},
			"format must be one of":             {Format: "three"},
			"must not set Host":                 {Format: "two", Options: bridge.FormatOptions{Headers: map[string]string{"host": "x"}}},
			"that no header can have":           {Format: "two", Options: bridge.FormatOptions{Headers: map[string]string{"X-A": "a\r\nb"}}},
			"has headers alone":                 {Options: bridge.FormatOptions{Base64: true}},
		} {
			w.URL, w.AllowPrivate = "http://parts/hook", true
			if _, err := b.Create(t.Context(), w); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
	})
}
