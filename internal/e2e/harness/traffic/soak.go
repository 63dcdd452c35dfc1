package traffic

import (
	"context"
	"testing"
	"time"

	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// Soak is a running program with everyone who uses it.
type Soak struct {
	T       testing.TB
	Network *simnet.Network
	Bridge  *Process
	Device  *simnet.Device
	Web     *Website
	Began   time.Time
	Kills   int
	Cuts    int

	Owner, Lee, Mia *simnet.Phone // lee gets the API's messages, mia sends files and polls
	Load            *Traffic
	Posts           *flakyReceiver
	Calls           *soakClient
	Sends           soakSends
	Files           soakFiles
	polls           soakPolls
	streams         soakStreams
	Life            *SoakLife
}

// Pause waits for so long, or until ctx ends.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
