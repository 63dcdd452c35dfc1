package session

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

func TestLogger_DropsStanzasWhateverTheLevel(t *testing.T) {
	var out bytes.Buffer
	log := newLogger(zerolog.New(&out).Level(zerolog.TraceLevel), nil)
	log.Sub("Recv").Debugf("<message>%s</message>", "secret")
	log.Sub("Socket").Debugf("secret")
	if out.Len() > 0 {
		t.Errorf("the socket's debug output got into the log: %s", out.String())
	}
	log.Sub("Socket").Warnf("Failed to decrypt frame: %v", "reason")
	if !strings.Contains(out.String(), "Failed to decrypt frame: reason") {
		t.Errorf("a warning is missing: %s", out.String())
	}
}
