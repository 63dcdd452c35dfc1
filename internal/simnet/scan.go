package simnet

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/simnet/people"
)

// ScanQR scans a client's QR code with the phone and returns the new device once it is linked. It fails with [ErrCheckConnection] where the
// network has voided the code's secret, which it does to the first that is scanned: see [Options] and [Phone.HoldTo].
func (p *Phone) ScanQR(ctx context.Context, qr string) (*people.Device, error) {
	_, fields, found := strings.Cut(qr, "#")
	if !found {
		// Older clients show the fields without the address before them.
		fields = qr
	}
	parts := strings.Split(fields, ",")
	if len(parts) < 4 {
		return nil, ErrBadQR
	}
	secret, err := base64.StdEncoding.DecodeString(parts[3])
	if err != nil {
		return nil, ErrBadQR
	}
	p.net.Mu.Lock()
	waiting := p.net.Pairings[parts[0]]
	p.net.Mu.Unlock()
	if waiting == nil || waiting.Gone() {
		return nil, ErrNoPairing
	}
	if identity, err := base64.StdEncoding.DecodeString(parts[2]); err != nil || len(identity) != 32 || [32]byte(identity) != waiting.Identity {
		return nil, ErrBadQR
	}
	if p.net.Voids(waiting, parts[3]) {
		return nil, ErrCheckConnection
	}
	return p.link(ctx, waiting, secret, "")
}

// ErrCheckConnection is what the phone says, "check your connection", of a QR code whose secret the network has voided.
var ErrCheckConnection = errors.New("check your connection: the secret of the QR code is void")

// HoldTo holds the phone to a screen that shows the QR code of a client, as a person does, until the client is linked: a code that is void,
// or of a connection that has ended, is followed by another. screen returns the code that is shown.
func (p *Phone) HoldTo(ctx context.Context, screen func() string) (*people.Device, error) {
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for scanned := ""; ; {
		if shown := screen(); shown != "" && shown != scanned {
			d, err := p.ScanQR(ctx, shown)
			if !errors.Is(err, ErrCheckConnection) && !errors.Is(err, ErrNoPairing) {
				return d, err
			}
			scanned = shown
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("hold the phone to the screen: %w", ctx.Err())
		}
	}
}

// Screen is the screen of a plain client, which shows its first QR code.
type Screen struct {
	mu   sync.Mutex
	code string // guarded by mu
}

// Handle draws what an event of the client's brings.
func (s *Screen) Handle(event any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e := event.(type) {
	case *events.QR:
		s.code = e.Codes[0]
	case *events.RotateADVSecret:
		s.code = strings.Replace(s.code, e.OldSecret, e.NewSecret, 1)
	}
}

// Shown returns the code on the screen, or "".
func (s *Screen) Shown() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.code
}
