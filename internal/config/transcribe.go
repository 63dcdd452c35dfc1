package config

import (
	"net/url"
	"strings"

	"golang.org/x/text/language"

	"bridged/internal/bridge"
)

// mostMinutes are the minutes of the longest month.
const mostMinutes = 31 * 24 * 60

// checkTranscribe parses the settings for the transcription of voice notes.
func (c *Config) checkTranscribe(faults *Faults) {
	c.TranscribeKey = secret("TRANSCRIBE_KEY", c.TranscribeKey, c.TranscribeKeyFile, faults)
	if strings.ContainsFunc(c.TranscribeKey, func(r rune) bool { return r <= ' ' || r > '~' }) {
		faults.add("TRANSCRIBE_KEY must be visible ASCII characters without spaces: it travels in a header")
	}
	if c.TranscribeURL = strings.TrimSpace(c.TranscribeURL); c.TranscribeURL != "" {
		c.checkTranscribeURL(faults)
	}
	c.Transcribe = strings.ToLower(strings.TrimSpace(c.Transcribe))
	switch mode := bridge.TranscribeMode(c.Transcribe); mode {
	case bridge.TranscribeOff:
	case bridge.TranscribeIncoming, bridge.TranscribeAll:
		if c.TranscribeURL == "" {
			faults.add("TRANSCRIBE is %s, but there is no service: set TRANSCRIBE_URL, or TRANSCRIBE=off", mode)
		}
	default:
		faults.add("TRANSCRIBE must be incoming, all or off")
	}
	if code := strings.ToLower(strings.TrimSpace(c.TranscribeLanguage)); code != "" {
		base, err := language.ParseBase(code)
		if err != nil {
			faults.add("TRANSCRIBE_LANGUAGE must be the ISO 639 code of a language, such as de")
		}
		c.Language = base.String()
	}
	if c.TranscribeMinutes < 0 || c.TranscribeMinutes > mostMinutes {
		faults.add("TRANSCRIBE_MINUTES must be 0 to %d, the minutes of a month; 0 means no limit", mostMinutes)
	}
}

// checkTranscribeURL parses the URL of the service without the route of its API, although most
// programs expect the route in their URL.
func (c *Config) checkTranscribeURL(faults *Faults) {
	const must = "TRANSCRIBE_URL must be the address of a service before /v1/audio/transcriptions, such as http://whisper:8000"
	at, err := url.Parse(c.TranscribeURL)
	if err != nil || at.Hostname() == "" || at.Scheme != "http" && at.Scheme != "https" || at.User != nil || at.RawQuery != "" || at.Fragment != "" {
		faults.add("%s", must)
		return
	}
	at.Path = strings.TrimRight(at.Path, "/")
	if strings.HasSuffix(at.Path, "/v1/audio/transcriptions") || strings.HasSuffix(at.Path, "/v1") {
		faults.add("%s", must)
		return
	}
	c.Transcriber = at
}
