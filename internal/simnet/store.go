package simnet

import (
	"go.mau.fi/whatsmeow/store"
	waLog "go.mau.fi/whatsmeow/util/log"

	"bridged/internal/simnet/people"
	"bridged/internal/simnet/signal"
)

// NewDevice makes an unpaired whatsmeow device whose store is in memory: for clients that need no session file. It starts with a few
// keys, so that whatsmeow uploads 50 at the first login and not 812.
func NewDevice(log waLog.Logger) *store.Device { return signal.NewDevice(log, people.LowKeys) }

// Rewind calls act, in which the phone sends, and then forgets what that changed in its Signal sessions and group keys: its next messages use
// keys a second time. So do clients that lose a change of a session while they send and receive at once.
func (p *Phone) Rewind(act func() error) error { return p.memory.Rewind(act) }
