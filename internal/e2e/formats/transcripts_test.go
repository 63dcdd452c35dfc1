package formats

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/demo"
	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/agent"
	. "bridged/internal/e2e/harness/browser"
	"bridged/internal/simnet"
)

// whisper is a service that transcribes, as the test says.
type whisper struct {
	*httptest.Server
	heard chan string // the files that came

	mu     sync.Mutex
	answer http.HandlerFunc // guarded by mu
}

func newWhisper(t testing.TB, answer http.HandlerFunc) *whisper {
	w := &whisper{heard: make(chan string, 100), answer: answer}
	w.Server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		file, _, err := r.FormFile("file")
		if r.URL.Path != "/v1/audio/transcriptions" || r.Header.Get("Authorization") != "Bearer sk-of-the-service" || err != nil {
			http.Error(out, "no", http.StatusBadRequest)
			return
		}
		sound, _ := io.ReadAll(file)
		w.heard <- string(sound)
		w.mu.Lock()
		answer := w.answer
		w.mu.Unlock()
		answer(out, r)
	}))
	t.Cleanup(w.Close)
	t.Cleanup(w.CloseClientConnections)
	return w
}

func (w *whisper) answers(answer http.HandlerFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = answer
}

// settings make a bridge use the service.
func (w *whisper) settings(mode bridge.TranscribeMode) []string {
	return []string{"TRANSCRIBE_URL=" + w.URL, "TRANSCRIBE=" + string(mode), "TRANSCRIBE_KEY=sk-of-the-service"}
}

// writes answers with a text.
func writes(text, language string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"text":%q,"language":%q}`, text, language)
	}
}

// speaks sends a voice note of some seconds and returns its id.
func speaks(t testing.TB, by *simnet.Phone, to simnet.JID, seconds int) simnet.MessageID {
	t.Helper()
	return Must(by.SendAudio(Within(t), to, simnet.Media{Data: demo.Voice(seconds), Mimetype: "audio/ogg; codecs=opus", Seconds: uint32(seconds), Voice: true}))(t)
}

// untilTranscribed follows the log until a message has a transcript.
func untilTranscribed(s *EventStream, id simnet.MessageID) bridge.Transcript {
	s.T.Helper()
	for {
		if e := s.Next(); e.Message != nil && e.Message.ID == id && slices.Contains(e.Changes.Fields, bridge.ChangedTranscript) {
			return *e.Message.Transcript
		}
	}
}

func TestTranscripts_OfAVoiceNote(t *testing.T) {
	t.Parallel()
	service := newWhisper(t, writes("Die Brücke ist gesperrt.", "german"))
	c := PairedCast(t, append(service.settings(bridge.TranscribeIncoming), "MCP=read", "TRANSCRIBE_MINUTES=10", OwnAddress())...)
	p := c.Bridge
	p.Secrets = append(p.Secrets, "sk-of-the-service", "Brücke")
	events := p.Stream("?after=now&types=message.updated")
	id := speaks(t, c.Ben, c.Owner.PN(), 3)
	if got := untilTranscribed(events, id); got.Text != "Die Brücke ist gesperrt." || *got.Language != "de" {
		t.Errorf("transcript: %+v", got)
	}
	if sound := <-service.heard; sound != string(demo.Voice(3)) {
		t.Errorf("the service got another sound, of %d bytes", len(sound))
	}
	shown := Message(id, c.Ben, "audioMessage", "", Object{
		"media":      Object{"type": "audio", "mimetype": "audio/ogg; codecs=opus", "size": len(demo.Voice(3)), "durationSec": 3, "ptt": true, "viewOnce": false, "downloadUrl": bridge.DownloadPath(bridge.JID(c.Ben.PN().String()), id)},
		"transcript": Object{"text": "Die Brücke ist gesperrt.", "language": "de", "at": Recent},
	})
	p.Answers(Path("/api/chats/%s/messages/", c.Ben.PN())+id, Object{"chatJid": c.Ben.PN().String(), "message": shown})
	found := Matches("BRUCKE", Match(c.Ben.PN(), shown))
	p.Answers("/api/messages/search?q=BRUCKE&fold=accents", found)
	p.Answers("/api/messages/search?q=BRUCKE", Matches("BRUCKE"))

	if out, err := inShell(p, "messages", c.Ben.Number()); err != nil || !strings.Contains(out, "[audio] Die Brücke ist gesperrt.") {
		t.Errorf("in the shell: %q, %v", out, err)
	}
	if out, err := inShell(p, "search", "brücke"); err != nil || !strings.Contains(out, "Die Brücke ist gesperrt.") {
		t.Errorf("found in the shell: %q, %v", out, err)
	}
	agent := Must(Connect(p, t, TestToken, nil))(t)
	agent.Want("list_messages", map[string]any{"jid": c.Ben.PN().String()}, "Die Brücke ist gesperrt.", "untrusted")
	agent.Want("search_messages", map[string]any{"q": "gesperrt"}, "Die Brücke ist gesperrt.", "untrusted")
	metrics := string(p.Get("/metrics").Want(http.StatusOK).Body)
	for _, line := range []string{`bridged_transcription_tries_total{result="done"} 1`, "bridged_transcripts_waiting 0", "bridged_transcribed_seconds 3"} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("metrics without %s", line)
		}
	}

	p.Doctor().Expect(t, "transcripts", "ok", "TRANSCRIBE is incoming; 0 wait, 1 minutes used this month of 10")

	p.Restart()
	p.Answers("/api/messages/search?q=BRUCKE&fold=accents", found)
	Must(c.Ben.Revoke(Within(t), c.Owner.PN(), id))(t)
	Eventually(t, func() error {
		m, err := p.API.Message(t.Context(), bridge.JID(c.Ben.PN().String()), id)
		if err == nil && (m.DeletedAt == nil || m.Transcript != nil) {
			err = fmt.Errorf("message: %+v", m)
		}
		return err
	})
	p.Answers("/api/messages/search?q=gesperrt", Matches("gesperrt"))
	p.Vanishes(map[string][]byte{"the transcript": []byte("gesperrt")})
}

// inShell runs a command of the shell for the bridge.
func inShell(p *Process, args ...string) (string, error) {
	p.T.Helper()
	p.StaysAtItsAddress()
	return p.Command(args...)
}

// TestTranscripts_OnRequest are made without TRANSCRIBE and without ENABLE_SEND, also of what
// came before there was a service, and of one that a kill broke off.
func TestTranscripts_OnRequest(t *testing.T) {
	t.Parallel()
	hangs := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	service := newWhisper(t, hangs)
	c := PairedCast(t)
	p := c.Bridge
	id := speaks(t, c.Ben, c.Owner.PN(), 2)
	if err := c.Device.WaitAcknowledged(Within(t), id); err != nil {
		t.Fatal(err)
	}
	ask := Path("/api/chats/%s/messages/", c.Ben.PN()) + id + "/transcript"
	Refused(t, p.Post(ask, nil), http.StatusBadRequest, bridge.CodeInvalid, "TRANSCRIBE_URL")
	p.Stop()
	p.Set(append(service.settings(bridge.TranscribeOff), "ENABLE_SEND=false")...)
	p.Start()
	p.Becomes(bridge.StateOpen)
	other := speaks(t, c.Ben, c.Owner.PN(), 1) // which nobody asks for
	if err := c.Device.WaitAcknowledged(Within(t), other); err != nil {
		t.Fatal(err)
	}
	p.Post(ask, nil).Want(http.StatusAccepted)
	<-service.heard
	p.Kill()
	service.answers(writes("kept", "en"))
	p.Start()
	p.Becomes(bridge.StateOpen)
	events := p.Stream("?after=now&types=message.updated")
	p.Post(ask, nil).Want(http.StatusAccepted)
	if got := untilTranscribed(events, id); got.Text != "kept" {
		t.Errorf("transcript: %+v", got)
	}
	if <-service.heard; len(service.heard) != 0 {
		t.Errorf("the service was asked %d times more", len(service.heard))
	}
	p.Post(ask, nil).Want(http.StatusOK)
	Refused(t, p.Post(Path("/api/chats/%s/messages/3EB0/transcript", c.Ben.PN()), nil), http.StatusNotFound, bridge.CodeNotFound)
}

// A voice note has its transcript below the player, or a button for it, and a search in the
// console shows the words.
func TestConsole_ShowsTranscripts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Und dann ging es weiter. ", 40)
	service := newWhisper(t, writes("Die Brücke ist gesperrt. "+long, "de"))
	v := Visit(t, service.settings(bridge.TranscribeOff)...)
	id := speaks(t, v.Ben, v.Owner.PN(), 3)
	if err := v.Device.WaitAcknowledged(Within(t), id); err != nil {
		t.Fatal(err)
	}
	v.Resize(1280, 800, false)
	v.OpenChat(v.Ben.PN())
	in := func(selector string) string {
		return fmt.Sprintf("document.querySelector(%q)", `.msg[data-id="`+id+`"] `+selector)
	}
	v.WaitFor(in(".voice-player") + ` && ` + in(`button[form="transcribe"]`) + `.checkVisibility()`)
	v.ClickIt(in(`button[form="transcribe"]`))
	v.WantText("Die Brücke ist gesperrt.")
	v.WaitFor(`!` + in(`button[form="transcribe"]`) + ` && ` + in(".transcript.clip"))
	const height = `.getBoundingClientRect().height`
	short := Evaluate[float64](v.Browser, in(".transcript")+height)
	v.ClickIt(in(".more summary"))
	v.WaitFor(fmt.Sprintf("%s > %f", in(".transcript")+height, short))
	v.Resize(320, 844, false)
	v.WantInside("a transcript", ".transcript")
	v.Open("/console/search?q=brucke")
	v.WaitFor(`document.querySelector("main").textContent.includes("Die Brücke ist gesperrt.") && document.querySelector("main mark").textContent === "Brücke"`)
	v.WantNoFaults()
}
