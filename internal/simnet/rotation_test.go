package simnet_test

import (
	"errors"
	"strings"
	"testing"

	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/simnet"
)

// TestRotation_VoidsTheScannedCode: a client that goes on showing a void secret is
// never linked; the same ref with the new secret links it.
func TestRotation_VoidsTheScannedCode(t *testing.T) {
	n := newNetwork(t, func(o *simnet.Options) { o.Rotations = 3 })
	own := newPhone(t, n, "4915100000001", "Owner")
	c := newCompanion(t, n)
	c.connect()
	shown := await[*events.QR](c, nil).Codes[3]
	for range 3 {
		for range 2 { // nothing is rotated the second time
			if _, err := own.ScanQR(within(t), shown); !errors.Is(err, simnet.ErrCheckConnection) {
				t.Fatalf("a void code: %v, want ErrCheckConnection", err)
			}
		}
		e := await[*events.RotateADVSecret](c, nil)
		shown = strings.Replace(shown, e.OldSecret, e.NewSecret, 1)
	}
	var err error
	if c.device, err = own.ScanQR(within(t), shown); err != nil {
		t.Fatalf("the code after three rotations: %v", err)
	}
	c.online()
}
