package transcribe

import (
	"net/url"
	"os"
	"testing"
)

// TestTranscriber_WhisperServer runs against whisper.cpp's own server at the address in
// BRIDGED_WHISPER_URL, which interop/whisper/run builds and starts. Its model has not learned
// anything: it hears no words, in a language that it makes up.
func TestTranscriber_WhisperServer(t *testing.T) {
	address := os.Getenv("BRIDGED_WHISPER_URL")
	if address == "" {
		t.Skip("set BRIDGED_WHISPER_URL, as interop/whisper/run does")
	}
	for name, language := range map[string]string{"any": "", "German": "de"} {
		s := newStage(t, nil)
		var err error
		if s.url, err = url.Parse(address); err != nil {
			t.Fatal(err)
		}
		s.note("V1", 2, 2)
		s.work(s.transcriber(func(o *Options) { o.Model, o.Language = "whisper-1", language }))
		m, err := s.store.Message(t.Context(), grace, "V1")
		if err != nil || m.Transcript == nil || m.Transcript.Language == nil || len(*m.Transcript.Language) < 2 || len(*m.Transcript.Language) > 3 {
			t.Fatalf("%s: %+v, %v: %s", name, m.Transcript, err, s.log)
		}
		if language != "" && *m.Transcript.Language != language {
			t.Errorf("%s: the language is %s", name, *m.Transcript.Language)
		}
	}
}
