package e2e

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
	return must(by.SendAudio(within(t), to, simnet.Media{Data: demo.Voice(seconds), Mimetype: "audio/ogg; codecs=opus", Seconds: uint32(seconds), Voice: true}))(t)
}

// untilTranscribed follows the log until a message has a transcript.
func (s *eventStream) untilTranscribed(id simnet.MessageID) bridge.Transcript {
	s.t.Helper()
	for {
		if e := s.next(); e.Message != nil && e.Message.ID == id && slices.Contains(e.Changes, bridge.ChangedTranscript) {
			return *e.Message.Transcript
		}
	}
}

func TestTranscripts_OfAVoiceNote(t *testing.T) {
	t.Parallel()
	service := newWhisper(t, writes("Die Brücke ist gesperrt.", "german"))
	c := pairedCast(t, append(service.settings(bridge.TranscribeIncoming), "MCP=read", "TRANSCRIBE_MINUTES=10")...)
	p := c.bridge
	p.secrets = append(p.secrets, "sk-of-the-service", "Brücke")
	events := p.stream("?after=now&types=message.updated")
	id := speaks(t, c.ben, c.owner.PN(), 3)
	if got := events.untilTranscribed(id); got.Text != "Die Brücke ist gesperrt." || *got.Language != "de" {
		t.Errorf("transcript: %+v", got)
	}
	if sound := <-service.heard; sound != string(demo.Voice(3)) {
		t.Errorf("the service got another sound, of %d bytes", len(sound))
	}
	shown := message(id, c.ben, "audioMessage", "", object{
		"media":      object{"type": "audio", "mimetype": "audio/ogg; codecs=opus", "size": len(demo.Voice(3)), "durationSec": 3, "ptt": true, "downloadUrl": bridge.DownloadPath(bridge.JID(c.ben.PN().String()), id)},
		"transcript": object{"text": "Die Brücke ist gesperrt.", "language": "de", "at": recent},
	})
	p.answers(path("/api/chats/%s/messages/", c.ben.PN())+id, object{"chatJid": c.ben.PN().String(), "message": shown})
	found := matches("BRUCKE", match(c.ben.PN(), shown))
	p.answers("/api/messages/search?q=BRUCKE&fold=accents", found)
	p.answers("/api/messages/search?q=BRUCKE", matches("BRUCKE"))

	if out, err := p.inShell("messages", c.ben.Number()); err != nil || !strings.Contains(out, "[audio] Die Brücke ist gesperrt.") {
		t.Errorf("in the shell: %q, %v", out, err)
	}
	if out, err := p.inShell("search", "brücke"); err != nil || !strings.Contains(out, "Die Brücke ist gesperrt.") {
		t.Errorf("found in the shell: %q, %v", out, err)
	}
	agent := must(p.connect(t, testToken, nil))(t)
	agent.want("list_messages", map[string]any{"jid": c.ben.PN().String()}, "Die Brücke ist gesperrt.", "untrusted")
	agent.want("search_messages", map[string]any{"q": "gesperrt"}, "Die Brücke ist gesperrt.", "untrusted")
	metrics := string(p.Get("/metrics").Want(http.StatusOK).Body)
	for _, line := range []string{`bridged_transcription_tries_total{result="done"} 1`, "bridged_transcripts_waiting 0", "bridged_transcribed_seconds 3"} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("metrics without %s", line)
		}
	}

	p.doctor().expect(t, "transcripts", "ok", "TRANSCRIBE is incoming; 0 wait, 1 minutes used this month of 10")

	p.restart()
	p.answers("/api/messages/search?q=BRUCKE&fold=accents", found)
	must(c.ben.Revoke(within(t), c.owner.PN(), id))(t)
	eventually(t, func() error {
		m, err := p.api.Message(t.Context(), bridge.JID(c.ben.PN().String()), id)
		if err == nil && (m.DeletedAt == nil || m.Transcript != nil) {
			err = fmt.Errorf("message: %+v", m)
		}
		return err
	})
	p.answers("/api/messages/search?q=gesperrt", matches("gesperrt"))
	p.vanishes(map[string][]byte{"the transcript": []byte("gesperrt")})
}

// inShell runs a command of the shell for the bridge.
func (p *process) inShell(args ...string) (string, error) {
	p.t.Helper()
	p.set("LISTEN_ADDR=" + p.address)
	return p.command(args...)
}

// TestTranscripts_OnRequest are made without TRANSCRIBE and without ENABLE_SEND, also of what
// came before there was a service, and of one that a kill broke off.
func TestTranscripts_OnRequest(t *testing.T) {
	t.Parallel()
	hangs := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	service := newWhisper(t, hangs)
	c := pairedCast(t)
	p := c.bridge
	id := speaks(t, c.ben, c.owner.PN(), 2)
	if err := c.device.WaitAcknowledged(within(t), id); err != nil {
		t.Fatal(err)
	}
	ask := path("/api/chats/%s/messages/", c.ben.PN()) + id + "/transcript"
	refused(t, p.Post(ask, nil), http.StatusBadRequest, bridge.CodeInvalid, "TRANSCRIBE_URL")
	p.stop()
	p.set(append(service.settings(bridge.TranscribeOff), "ENABLE_SEND=false")...)
	p.start()
	p.becomes(bridge.StateOpen)
	other := speaks(t, c.ben, c.owner.PN(), 1) // which nobody asks for
	if err := c.device.WaitAcknowledged(within(t), other); err != nil {
		t.Fatal(err)
	}
	p.Post(ask, nil).Want(http.StatusAccepted)
	<-service.heard
	p.kill()
	service.answers(writes("kept", "en"))
	p.start()
	p.becomes(bridge.StateOpen)
	events := p.stream("?after=now&types=message.updated")
	p.Post(ask, nil).Want(http.StatusAccepted)
	if got := events.untilTranscribed(id); got.Text != "kept" {
		t.Errorf("transcript: %+v", got)
	}
	if <-service.heard; len(service.heard) != 0 {
		t.Errorf("the service was asked %d times more", len(service.heard))
	}
	p.Post(ask, nil).Want(http.StatusOK)
	refused(t, p.Post(path("/api/chats/%s/messages/3EB0/transcript", c.ben.PN()), nil), http.StatusNotFound, bridge.CodeNotFound)
}

// A voice note has its transcript below the player, or a button for it, and a search in the
// console shows the words.
func TestConsole_ShowsTranscripts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Und dann ging es weiter. ", 40)
	service := newWhisper(t, writes("Die Brücke ist gesperrt. "+long, "de"))
	v := visit(t, service.settings(bridge.TranscribeOff)...)
	id := speaks(t, v.ben, v.owner.PN(), 3)
	if err := v.device.WaitAcknowledged(within(t), id); err != nil {
		t.Fatal(err)
	}
	v.resize(1280, 800, false)
	v.openChat(v.ben.PN())
	in := func(selector string) string {
		return fmt.Sprintf("document.querySelector(%q)", `.msg[data-id="`+id+`"] `+selector)
	}
	v.waitFor(in(".voice-player") + ` && ` + in(`button[form="transcribe"]`) + `.checkVisibility()`)
	v.run(in(`button[form="transcribe"]`) + `.click()`)
	v.wantText("Die Brücke ist gesperrt.")
	v.waitFor(`!` + in(`button[form="transcribe"]`) + ` && ` + in(".transcript.clip"))
	const height = `.getBoundingClientRect().height`
	short := evaluate[float64](v.browser, in(".transcript")+height)
	v.run(in(".more summary") + `.click()`)
	v.waitFor(fmt.Sprintf("%s > %f", in(".transcript")+height, short))
	v.onTouch(320)
	v.wantInside("a transcript", ".transcript")
	v.open("/console/search?q=brucke")
	v.waitFor(`document.querySelector("main").textContent.includes("Die Brücke ist gesperrt.") && document.querySelector("main mark").textContent === "Brücke"`)
	v.wantNoFaults()
}
