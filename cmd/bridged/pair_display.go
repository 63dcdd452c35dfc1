package main

import (
	"fmt"
	"io"
	"slices"
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
		p.qr = *status.QR
		code, err := qr.Encode(p.qr, qr.L)
		if err != nil {
			return fmt.Errorf("draw the QR code: %w", err)
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

// layout is a way to fit a QR code and a text on a screen.
type layout struct {
	blocks  blocks
	quiet   int // modules around the code; 4 are the standard
	arrange func(picture, text []string) []string
	beside  bool
}

// layouts are tried in this order: half blocks need no new font.
var layouts = []layout{
	{halfBlocks, 4, beside, true}, {halfBlocks, 4, below, false}, {halfBlocks, 2, beside, true}, {halfBlocks, 2, below, false},
	{sextants, 4, beside, true}, {sextants, 2, beside, true}, {sextants, 2, below, false},
}

// textWidth is how wide a text beside a QR code is at least.
const textWidth = 36

// layOut arranges a QR code, if there is one, and paragraphs in the room there
// is. Where not even the smallest drawing fits, the text says how much it needs.
func layOut(code *qr.Code, said []string, columns, lines int) []string {
	if code == nil {
		return paragraphs(said, columns)
	}
	for _, l := range layouts {
		note := said
		if l.blocks.high == sextants.high {
			note = append(slices.Clone(said), enlarge(code, "If the QR code looks torn, make the terminal"))
		}
		if text, fits := l.fit(code, note, columns, lines); fits {
			return l.arrange(l.blocks.lines(code, l.quiet), text)
		}
	}
	text := compact(append(slices.Clone(said), enlarge(code, "For the QR code make the terminal")), columns)
	return text[:min(len(text), max(lines, 1))]
}

// fit wraps the paragraphs for a layout, and reports whether there is room for
// it.
func (l layout) fit(code *qr.Code, said []string, columns, lines int) (text []string, fits bool) {
	wide, high := l.blocks.size(code, l.quiet)
	if !l.beside {
		text = compact(said, columns)
		return text, wide <= columns && high+len(text) <= lines
	}
	room := columns - wide - 2
	if text = paragraphs(said, room); len(text) > high {
		text = compact(said, room)
	}
	return text, room >= textWidth && high <= lines && len(text) <= high
}

// enlarge names the size at which half blocks fit.
func enlarge(code *qr.Code, why string) string {
	wide, high := halfBlocks.size(code, 2)
	return fmt.Sprintf("%s at least %d by %d.", why, wide+2+textWidth, high)
}

// paragraphs wraps each text, with an empty line between.
func paragraphs(said []string, width int) (lines []string) {
	for i, text := range said {
		if i > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, wrap(text, max(width, 1))...)
	}
	return lines
}

// compact wraps all of it, with nothing between.
func compact(said []string, width int) (lines []string) {
	for _, text := range said {
		lines = append(lines, wrap(text, max(width, 1))...)
	}
	return lines
}
