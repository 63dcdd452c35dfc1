package transcribe

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/demo"
	"bridged/internal/store"
	"bridged/internal/store/storetest"
)

const grace bridge.JID = "15557654321@s.whatsapp.net"

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// stage is a store with voice notes and a service that transcribes them as the test says.
type stage struct {
	t       *testing.T
	store   *store.Store
	path    string // of the store
	sounds  map[string][]byte
	missing error // of every file, if set
	url     *url.URL
	now     time.Time
	mode    bridge.TranscribeMode
	log     *logged

	mu     sync.Mutex
	asked  []asked          // guarded by mu
	answer http.HandlerFunc // guarded by mu
}

// asked is a request that the service got.
type asked struct {
	path, authorization, agent string
	length                     int64
	fields                     map[string]string
	file, fileName, fileType   string
}

type logged struct {
	mu sync.Mutex
	bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.String()
}

// newStage begins with a service that answers as it is told.
func newStage(t *testing.T, answer http.HandlerFunc) *stage {
	t.Helper()
	s := &stage{t: t, path: storetest.NewFile(t), sounds: map[string][]byte{}, now: noon, mode: bridge.TranscribeIncoming, log: new(logged), answer: answer}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections) // those that never end
	var err error
	if s.url, err = url.Parse(server.URL + "/whisper"); err != nil {
		t.Fatal(err)
	}
	s.open()
	t.Cleanup(func() { s.close() })
	return s
}

func (s *stage) open() {
	s.t.Helper()
	began := time.Now()
	clock := bridge.ClockOf(time.Time{}, func() time.Time { return s.now.Add(time.Since(began)) }, func() time.Duration { return time.Since(began) })
	opened, err := store.Open(s.t.Context(), store.Options{Path: s.path, Log: zerolog.Nop(), Transcribe: s.mode, Clock: clock})
	if err != nil {
		s.t.Fatal(err)
	}
	s.store = opened
}

func (s *stage) close() {
	s.t.Helper()
	if err := s.store.Close(); err != nil {
		s.t.Error(err)
	}
}

func (s *stage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	got := asked{path: r.URL.Path, authorization: r.Header.Get("Authorization"), agent: r.UserAgent(), length: r.ContentLength, fields: map[string]string{}}
	form, err := r.MultipartReader()
	for err == nil {
		var part *multipart.Part
		if part, err = form.NextPart(); err != nil {
			break
		}
		content, _ := io.ReadAll(part)
		if part.FormName() != "file" {
			got.fields[part.FormName()] = string(content)
			continue
		}
		got.file, got.fileName, got.fileType = string(content), part.FileName(), part.Header.Get("Content-Type")
	}
	s.mu.Lock()
	s.asked = append(s.asked, got)
	answer := s.answer
	s.mu.Unlock()
	answer(w, r)
}

// requests are those that the service got so far.
func (s *stage) requests() []asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]asked(nil), s.asked...)
}

func (s *stage) answers(answer http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

// note receives a voice note that plays for some seconds, whatever it claims.
func (s *stage) note(id string, seconds, claimed int) {
	s.t.Helper()
	s.sounds[id] = demo.Voice(seconds)
	m := bridge.Message{
		Chat: grace, ID: id, SenderJID: grace, MessageType: "audioMessage", Timestamp: bridge.At(s.now),
		Media: &bridge.Media{Type: bridge.MediaAudio, MimeType: "audio/ogg; codecs=opus", PTT: true, DurationSec: claimed},
	}
	if err := s.store.Save(s.t.Context(), m); err != nil {
		s.t.Fatal(err)
	}
}

// transcriber returns one that does not pause.
func (s *stage) transcriber(changes ...func(*Options)) *Transcriber {
	o := Options{URL: s.url, Store: s.store, OpenFile: s.openFile, UserAgent: "bridged/test", Log: zerolog.New(s.log)}
	for _, change := range changes {
		change(&o)
	}
	made := New(o)
	made.pause = func(int) time.Duration { return 0 }
	made.rest = func(int) time.Duration { return 0 }
	return made
}

func (s *stage) openFile(_ context.Context, m bridge.Message) (multipart.File, int64, error) {
	if s.missing != nil {
		return nil, 0, s.missing
	}
	path := filepath.Join(s.t.TempDir(), "sound")
	if err := os.WriteFile(path, s.sounds[m.ID], 0o600); err != nil {
		return nil, 0, err
	}
	file, err := os.Open(path)
	return file, int64(len(s.sounds[m.ID])), err
}

// work has it work until there is nothing to do for now, and returns for how long.
func (s *stage) work(on *Transcriber) time.Duration {
	s.t.Helper()
	for range 100 {
		wait, err := on.next(s.t.Context())
		if err != nil {
			s.t.Fatal(err)
		}
		if wait > 0 {
			return wait
		}
	}
	s.t.Fatal("it works without an end")
	return 0
}

// transcript is that of a message, as "text (language)"; empty for none.
func (s *stage) transcript(id string) string {
	s.t.Helper()
	m, err := s.store.Message(context.Background(), grace, id)
	if err != nil {
		s.t.Fatal(err)
	}
	if m.Transcript == nil {
		return ""
	}
	language := "unknown"
	if m.Transcript.Language != nil {
		language = *m.Transcript.Language
	}
	return fmt.Sprintf("%s (%s)", m.Transcript.Text, language)
}

// wantLog looks for what the log must say, and for what it never may.
func (s *stage) wantLog(sentences ...string) {
	s.t.Helper()
	for _, sentence := range sentences {
		if !strings.Contains(s.log.String(), sentence) {
			s.t.Errorf("the log does not say %q: %s", sentence, s.log)
		}
	}
	if strings.Contains(s.log.String(), secretWords) {
		s.t.Errorf("the log says what was said: %s", s.log)
	}
}

// secretWords are what is said in the voice notes of the tests.
const secretWords = "the engine weaves"

// says answers with a text and a language.
func says(text, language string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"task":"transcribe","language":%q,"duration":1.5,"text":%q,"segments":[{"id":0,"text":%q,"tokens":[1,2]}]}`, language, text, text)
	}
}

// status answers with one, and a body.
func status(code int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// inTurn answers one after the other, the last one from then on.
func inTurn(answers ...http.HandlerFunc) http.HandlerFunc {
	var mu sync.Mutex
	return func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		answer := answers[0]
		if len(answers) > 1 {
			answers = answers[1:]
		}
		mu.Unlock()
		answer(w, r)
	}
}
