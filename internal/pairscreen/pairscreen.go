// Package pairscreen shows in a terminal how to link the account: pairing code, QR code and
// countdown. It draws in place, or prints line by line if the output is not a terminal.
package pairscreen

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
	"rsc.io/qr"

	"bridged/internal/bridge"
	"bridged/internal/shell"
)

// Display shows how to link the account and updates that.
type Display interface {
	Show(status bridge.Status) error
	Close() error // restores the terminal
}

// New takes over the terminal, or prints line by line if w is not a terminal. code is nil if no
// phone number was given.
func New(w io.Writer, code *bridge.PairingCode) (Display, error) {
	if p, ok := openScreen(w); ok {
		p.asked, p.now = code, time.Now
		return p, nil
	}
	p := &pairLines{out: w}
	if code == nil {
		return p, shell.Printf(w, "%s\n\n", noNumber)
	}
	return p, shell.Printf(w, "Pairing code: %s\n%s\nIt is valid until %s. Or scan the QR code:\n\n",
		code.Code, code.Hint, code.ExpiresAt.Local().Format(time.TimeOnly))
}

const noNumber = "No phone number is configured, so there is no code: scan the QR code, or call again with --phone."

// pairLines prints each QR code and each note once.
type pairLines struct {
	out      io.Writer
	qr, note string // printed last
}

// Show prints new codes and notes.
func (p *pairLines) Show(status bridge.Status) error {
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
		return shell.Printf(p.out, "Note: %s\n", p.note)
	}
	return nil
}

// Close does nothing.
func (p *pairLines) Close() error { return nil }

// pairScreen draws code, QR code and countdown on the whole terminal, and restores its content
// afterwards.
type pairScreen struct {
	out   io.Writer
	size  func() (columns, lines int, err error)
	drawn string // last
	asked *bridge.PairingCode
	now   func() time.Time
}

// Show draws the status over the previous one.
func (p *pairScreen) Show(status bridge.Status) error {
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

// text returns the paragraphs next to the QR code.
func (p *pairScreen) text(status bridge.Status) []string {
	var said []string
	switch {
	case p.asked == nil:
		said = append(said, noNumber)
	case status.PairingCode == nil && status.QR == nil:
	case status.PairingCode == nil:
		said = append(said, "The pairing code has expired. For a new one press Ctrl-C and run bridged pair again.")
	default:
		said = append(said, bold+"Pairing code: "+shell.Printable(*status.PairingCode)+plain, shell.Printable(p.asked.Hint))
		if expires := status.PairingCodeExpiresAt; expires != nil {
			left := max(expires.Sub(p.now()), 0)
			said = append(said, fmt.Sprintf("Valid for %d:%02d.", left/time.Minute, left%time.Minute/time.Second))
		}
	}
	switch {
	case status.Passkey != nil:
		said = append(said, "WhatsApp asks for the account's passkey. Send it to POST /api/auth/passkey, as the documentation says.")
	case status.QR != nil:
		said = append(said, "To scan the QR code: WhatsApp > Linked devices > Link a device.")
	default:
		said = append(said, "Waiting for WhatsApp ...")
	}
	if status.LastError != nil {
		said = append(said, "Note: "+shell.Printable(*status.LastError))
	}
	return append(said, "Ctrl-C stops waiting.")
}

// These are sequences of ECMA-48 and xterm. The colours are from the fixed palette, which themes
// do not change.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l\x1b[2J" // the other buffer, without a cursor
	leaveScreen = "\x1b[0m\x1b[?25h\x1b[?1049l"
	toTheTop    = "\x1b[H"
	endOfLine   = "\x1b[K"
	restEmpty   = "\x1b[J"
	blackWhite  = "\x1b[38;5;16;48;5;231m"
	bold        = "\x1b[1m"
	plain       = "\x1b[0m"
)

// openScreen takes over a terminal. It returns false if w is not a terminal, or cannot move its
// cursor.
func openScreen(w io.Writer) (*pairScreen, bool) {
	file, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" || !term.IsTerminal(int(file.Fd())) {
		return nil, false
	}
	s := &pairScreen{out: file, size: func() (int, int, error) { return term.GetSize(int(file.Fd())) }}
	if _, _, err := s.size(); err != nil {
		return nil, false
	}
	_, err := io.WriteString(file, enterScreen)
	return s, err == nil
}

// draw shows lines. It writes no line break after the last one, because that would scroll the
// first one away.
func (s *pairScreen) draw(lines []string) error {
	frame := toTheTop + strings.Join(lines, plain+endOfLine+"\r\n") + plain + endOfLine + restEmpty
	if frame == s.drawn {
		return nil
	}
	s.drawn = frame
	_, err := io.WriteString(s.out, frame)
	return err
}

// Close restores the terminal.
func (s *pairScreen) Close() error {
	_, err := io.WriteString(s.out, leaveScreen)
	return err
}
