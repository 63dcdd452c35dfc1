package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestConfig_Transcribe(t *testing.T) {
	const token = "BRIDGE_TOKEN=a-token-of-the-tests-0123456789"
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("sk-of-a-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Read([]string{
		token, "TRANSCRIBE_URL= http://10.0.0.5:8000/whisper/ ", "TRANSCRIBE=Incoming", "TRANSCRIBE_KEY_FILE=" + key, "TRANSCRIBE_LANGUAGE= DEU",
		"TRANSCRIBE_MINUTES=600", "TRANSCRIBE_MODEL=whisper-1",
	})
	if err != nil || c.Transcriber.String() != "http://10.0.0.5:8000/whisper" || c.Transcribe != "incoming" || c.TranscribeKey != "sk-of-a-file" ||
		c.Language != "de" || c.TranscribeMinutes != 600 || c.TranscribeModel != "whisper-1" {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err := Read([]string{token}); err != nil || c.Transcriber != nil || c.Transcribe != "off" {
		t.Errorf("without any: %v, %q, %v", c.Transcriber, c.Transcribe, err)
	}
	for wrong, fault := range map[string]string{
		"TRANSCRIBE=incoming":                                                "TRANSCRIBE is incoming, but there is no service: set TRANSCRIBE_URL, or TRANSCRIBE=off",
		"TRANSCRIBE=incomming":                                               "TRANSCRIBE must be incoming, all or off",
		"TRANSCRIBE=yes":                                                     "TRANSCRIBE must be incoming, all or off",
		"TRANSCRIBE_URL=whisper:8000":                                        "TRANSCRIBE_URL must be the address of a service before /v1/audio/transcriptions, such as http://whisper:8000",
		"TRANSCRIBE_URL=https://me:hush@example.com":                         "TRANSCRIBE_URL must be the address",
		"TRANSCRIBE_URL=https://example.com/?a=b":                            "TRANSCRIBE_URL must be the address",
		"TRANSCRIBE_URL=https://api.openai.com/v1":                           "TRANSCRIBE_URL must be the address of a service before /v1",
		"TRANSCRIBE_URL=https://example.com/openai/v1/audio/transcriptions/": "TRANSCRIBE_URL must be the address of a service before /v1",
		"TRANSCRIBE_KEY=two words":                                           "TRANSCRIBE_KEY must be visible ASCII characters without spaces: it travels in a header",
		"TRANSCRIBE_KEY_FILE=/no/such/file":                                  "TRANSCRIBE_KEY_FILE cannot be read",
		"TRANSCRIBE_LANGUAGE=german":                                         "TRANSCRIBE_LANGUAGE must be the ISO 639 code of a language, such as de",
		"TRANSCRIBE_LANGUAGE=jp":                                             "TRANSCRIBE_LANGUAGE must be the ISO 639 code",
		"TRANSCRIBE_MINUTES=-1":                                              "TRANSCRIBE_MINUTES must be 0 to 44640, the minutes of a month; 0 means no limit",
		"TRANSCRIBE_MINUTES=200000000":                                       "TRANSCRIBE_MINUTES must be 0 to 44640",
		"TRANSCRIBE_MINUTES=ten":                                             "TRANSCRIBE_MINUTES is not understood: it must be a number",
		"TRANSCRIBE_MODLE=whisper-1":                                         "TRANSCRIBE_MODEL",
	} {
		if c, faults := Examine([]string{token, wrong}); !strings.Contains(faults.Error()+strings.Join(c.Misspelt, ""), fault) {
			t.Errorf("%s: %v", wrong, faults)
		} else if strings.Contains(faults.Error(), "hush") {
			t.Errorf("%s shows a secret: %v", wrong, faults)
		}
	}
}
