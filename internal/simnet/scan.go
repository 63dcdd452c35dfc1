package simnet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/simnet/people"
)

// ScanQR scans a client's QR code with the phone and returns the new device once it is linked. It fails with [ErrCheckConnection] if the
// network has voided the code's secret, as it does with the first one scanned: see [Options] and [Phone.HoldTo].
func (p *Phone) ScanQR(ctx context.Context, qr string) (*people.Device, error) {
	waiting, secret, err := p.net.Scan(qr)
	if err != nil {
		return nil, err
	}
	return p.link(ctx, waiting, secret)
}

// HoldTo scans the codes of a client's screen, as a person holding a phone to it does, until the client is linked. If a code is void or
// its connection has ended, the phone scans the next one. screen returns the present code.
func (p *Phone) HoldTo(ctx context.Context, screen func() string) (*people.Device, error) {
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for scanned := ""; ; {
		if shown := screen(); shown != "" && shown != scanned {
			d, err := p.ScanQR(ctx, shown)
			if !errors.Is(err, ErrCheckConnection) && !errors.Is(err, ErrNoPairing) && !errors.Is(err, ErrClientGone) {
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

// Screen shows the first QR code of a plain client.
type Screen struct {
	mu   sync.Mutex
	code string // guarded by mu
}

// Handle handles the client's events.
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
