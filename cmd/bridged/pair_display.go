package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"rsc.io/qr"

	"bridged/internal/bridge"
)

// pairDisplay shows a person how to link the account, as it changes.
type pairDisplay interface {
	show(status bridge.Status) error
	close() error
}

// newPairDisplay takes over the terminal, or prints line by line if stdout is
// none. code is nil without a phone number.
func newPairDisplay(w io.Writer, code *bridge.PairingCode) (pairDisplay, error) {
	if s, ok := openScreen(w); ok {
		return &pairScreen{screen: s, asked: code, now: time.Now}, nil
	}
	p := &pairLines{out: w}
	if code == nil {
		return p, printf(w, "%s\n\n", noNumber)
	}
	return p, printf(w, "Pairing code: %s\n%s\nIt is valid until %s. Or scan the QR code:\n\n",
		code.Code, code.Hint, code.ExpiresAt.Local().Format(time.TimeOnly))
}

const noNumber = "No phone number is configured, so there is no code: scan the QR code, or call again with --phone."

// pairLines prints each QR code and each note once, one after the other.
type pairLines struct {
	out      io.Writer
	qr, note string // printed last
}

func (p *pairLines) show(status bridge.Status) error {
	if status.QR != nil && *status.QR != p.qr {
		replaced := p.qr != ""
		p.qr = *status.QR
		code, err := qr.Encode(p.qr, qr.L)
		if err != nil {
			return fmt.Errorf("draw the QR code: %w", err)
		}
		if replaced {
			if _, err := fmt.Fprintln(p.out, "The QR code above is void. Scan this one:"); err != nil {
				return err
			}
		}
		if _, err := fmt.Fprintf(p.out, "%s\n\n", strings.Join(inverted(code, 2), "\n")); err != nil {
			return err
		}
	}
	if status.LastError != nil && *status.LastError != p.note {
		p.note = *status.LastError
		return printf(p.out, "Note: %s\n", p.note)
	}
	return nil
}

func (p *pairLines) close() error { return nil }

// pairScreen draws code, QR code and countdown in place.
type pairScreen struct {
	*screen
	asked *bridge.PairingCode
	now   func() time.Time
}

func (p *pairScreen) show(status bridge.Status) error {
	columns, lines, err := p.size()
	if err != nil {
		return err
	}
	var code *qr.Code
	if status.QR != nil {
		if code, err = qr.Encode(*status.QR, qr.L); err != nil {
			return fmt.Errorf("draw the QR code: %w", err)
		}
	}
	return p.draw(layOut(code, p.text(status), columns, lines))
}

// text returns what is said beside the QR code, in paragraphs.
func (p *pairScreen) text(status bridge.Status) []string {
	var said []string
	switch {
	case p.asked == nil:
		said = append(said, noNumber)
	case status.PairingCode == nil && status.QR == nil:
	case status.PairingCode == nil:
		said = append(said, "The pairing code has expired. For a new one press Ctrl-C and run bridged pair again.")
	default:
		said = append(said, bold+"Pairing code: "+printable(*status.PairingCode)+plain, printable(p.asked.Hint))
		if expires := status.PairingCodeExpiresAt; expires != nil {
			left := max(expires.Sub(p.now()), 0)
			said = append(said, "Valid for "+countdown(int(left.Seconds()))+".")
		}
	}
	switch {
	case status.Passkey != nil:
		said = append(said, "WhatsApp asks for the account's passkey. Send it to POST /api/auth/passkey, as the documentation tells.")
	case status.QR != nil:
		said = append(said, "To scan the QR code: WhatsApp > Linked devices > Link a device.")
	default:
		said = append(said, "Waiting for WhatsApp ...")
	}
	if status.LastError != nil {
		said = append(said, "Note: "+printable(*status.LastError))
	}
	return append(said, "Ctrl-C stops waiting.")
}

// countdown returns how long is left as minutes and seconds.
func countdown(seconds int) string { return fmt.Sprintf("%d:%02d", seconds/60, seconds%60) }
