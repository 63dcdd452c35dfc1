package wa_test

import (
	"flag"
	"os"
	"testing"
	"time"

	"go.mau.fi/whatsmeow"
)

// TestMain shortens whatsmeow's keepalive, which is set for the whole process:
// a silent socket is noticed within 2 s instead of 40.
func TestMain(m *testing.M) {
	flag.Parse()
	whatsmeow.KeepAliveIntervalMin, whatsmeow.KeepAliveIntervalMax = 500*time.Millisecond, 600*time.Millisecond
	whatsmeow.KeepAliveResponseDeadline = time.Second
	os.Exit(m.Run())
}
