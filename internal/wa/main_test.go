package wa_test

import (
	"flag"
	"runtime/debug"
	"testing"
	"time"

	"go.mau.fi/whatsmeow"
	"go.uber.org/goleak"

	"bridged/internal/longtest"
	"bridged/internal/wa"
)

// preKeyBatch is the number of one-time keys of the tests' new sessions, which
// would otherwise generate 812 each.
const preKeyBatch = 12

// TestMain shortens times for the whole process: a silent socket is noticed within
// 2 s instead of 40, a lost one counts as closed after 3 s instead of 30, and
// history is retried soon. It fails if the tests leave goroutines behind.
func TestMain(m *testing.M) {
	longtest.AtOnce(6)
	flag.Parse()
	debug.SetGCPercent(400) // the tests hold little and allocate much
	whatsmeow.KeepAliveIntervalMin, whatsmeow.KeepAliveIntervalMax = 500*time.Millisecond, 600*time.Millisecond
	whatsmeow.KeepAliveResponseDeadline = time.Second
	wa.SetConnectingTimeout(3 * time.Second)
	wa.SetPingTimeout(500 * time.Millisecond)
	wa.HurryHistory()
	wa.SetPreKeyBatch(preKeyBatch)
	goleak.VerifyTestMain(m,
		// A frame that arrives while whatsmeow disconnects blocks its goroutine
		// forever; no other code can reach it.
		goleak.IgnoreAnyFunction("go.mau.fi/whatsmeow/socket.(*FrameSocket).frameComplete"),
		// A request of whatsmeow's own goroutine that is sent just then waits for
		// its time limit of 75 s.
		goleak.IgnoreAnyFunction("go.mau.fi/whatsmeow.(*Client).handleAppStateSyncKeyShare"))
}
