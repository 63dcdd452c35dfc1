package pairscreen

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"rsc.io/qr"

	"bridged/internal/bridge"
)

// linkText has the form and the length of WhatsApp's: 277 characters.
func linkText(seed byte) string {
	key := strings.Repeat(string([]byte{'A' + seed, 'x', '/', '7'}), 10) + "abc="
	return "https://wa.me/settings/linked_devices#2@" + strings.Repeat("Zb+"+string('a'+rune(seed)), 25) + "," + key + "," + key + "," + key + ",1"
}

// terminal understands the sequences that a screen is drawn with. Whatever else
// is written to it ends up among its characters, where tests find it.
type terminal struct {
	columns, lines int
	cells          [][]cell
	x, y           int
	dark           bool // the colours of a QR code are set
	scrolled       int
}

type cell struct {
	r    rune
	onQR bool // black on white, whatever the theme
}

func newTerminal(columns, lines int) *terminal {
	t := &terminal{columns: columns, lines: lines}
	for range lines {
		t.cells = append(t.cells, make([]cell, columns))
	}
	return t
}

func (t *terminal) Write(data []byte) (int, error) {
	for rest := string(data); rest != ""; {
		rest = t.step(rest)
	}
	return len(data), nil
}

// step takes one sequence or character from s.
func (t *terminal) step(s string) string {
	for sequence, do := range map[string]func(){
		enterScreen: func() {}, leaveScreen: func() {}, bold: func() {},
		toTheTop:   func() { t.x, t.y = 0, 0 },
		blackWhite: func() { t.dark = true },
		plain:      func() { t.dark = false },
		endOfLine:  func() { clear(t.cells[t.y][min(t.x, t.columns):]) },
		restEmpty: func() {
			for y := t.y + 1; y < t.lines; y++ {
				clear(t.cells[y])
			}
		},
		"\r\n": func() {
			if t.x, t.y = 0, t.y+1; t.y == t.lines {
				t.y, t.scrolled = t.lines-1, t.scrolled+1
			}
		},
	} {
		if rest, ok := strings.CutPrefix(s, sequence); ok {
			do()
			return rest
		}
	}
	r, size := utf8.DecodeRuneInString(s)
	if t.x < t.columns {
		t.cells[t.y][t.x] = cell{r, t.dark}
	}
	t.x++
	return s[size:]
}

func (t *terminal) String() string {
	var b strings.Builder
	for _, line := range t.cells {
		for _, c := range line {
			if c.r == 0 {
				c.r = ' '
			}
			b.WriteRune(c.r)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// The pixels of a character.
const cellWidth, cellHeight = 8, 16

// picture paints what the terminal shows; themes differ in the colour of the
// ground.
func (t *terminal) picture(ground color.Gray) image.Image {
	img := image.NewGray(image.Rect(0, 0, t.columns*cellWidth, t.lines*cellHeight))
	ink := color.Gray{Y: 255 - ground.Y}
	for py := range t.lines * cellHeight {
		for px := range t.columns * cellWidth {
			c := t.cells[py/cellHeight][px/cellWidth]
			front, back := ink, ground
			if c.onQR {
				front, back = color.Gray{Y: 0}, color.Gray{Y: 255}
			}
			if isInk(c.r, px%cellWidth, py%cellHeight) {
				img.SetGray(px, py, front)
			} else {
				img.SetGray(px, py, back)
			}
		}
	}
	return img
}

// isInk reports whether a character covers a pixel of its cell. Letters are a
// grey that is good enough for a decoder to stumble over.
func isInk(r rune, x, y int) bool {
	for dark := range 4 {
		if halfBlocks.draw(dark) == r {
			return dark>>(y*2/cellHeight)&1 == 1
		}
	}
	for dark := range 64 {
		if sextants.draw(dark) == r {
			return dark>>(x*2/cellWidth+2*(y*3/cellHeight))&1 == 1
		}
	}
	return r > ' ' && (x+y)%3 == 0
}

// shownOn returns what a terminal shows of a status.
func shownOn(t *testing.T, columns, lines int, statuses ...bridge.Status) *terminal {
	t.Helper()
	terminal := newTerminal(columns, lines)
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	p := &pairScreen{
		out: terminal, size: func() (int, int, error) { return columns, lines, nil },
		asked: &bridge.PairingCode{Code: "ABCD-EFGH", Hint: "On the phone: WhatsApp > Linked devices > Link a device > Link with phone number instead, then enter the code."},
		now:   func() time.Time { return now },
	}
	for _, status := range statuses {
		if err := p.Show(status); err != nil {
			t.Fatal(err)
		}
		now = now.Add(10 * time.Second)
	}
	return terminal
}

func pairingStatus(seed byte) bridge.Status {
	text, code, expires := linkText(seed), "ABCD-EFGH", bridge.At(time.Date(2026, 11, 21, 12, 2, 40, 0, time.UTC))
	return bridge.Status{Status: bridge.StateNeedsPair, QR: &text, PairingCode: &code, PairingCodeExpiresAt: &expires}
}

// A terminal of 80 by 24 has room for both: nothing is wrapped or scrolls away,
// and a new code replaces the old one.
func TestPairScreen_FitsIntoASmallTerminal(t *testing.T) {
	if got := len(linkText(0)); got != 277 {
		t.Fatalf("the text has %d characters", got)
	}
	for _, size := range [][2]int{{80, 24}, {90, 40}, {132, 43}, {200, 60}, {75, 33}} {
		shown := shownOn(t, size[0], size[1], pairingStatus(0), pairingStatus(1))
		text := strings.Join(strings.Fields(shown.String()), " ")
		for _, want := range []string{"Pairing code: ABCD-EFGH", "Valid for 2:30.", "Ctrl-C"} {
			if !strings.Contains(text, want) {
				t.Errorf("%v: without %q:\n%s", size, want, shown)
			}
		}
		if shown.scrolled > 0 || strings.Contains(text, "\x1b") || strings.Contains(text, "2:40") {
			t.Errorf("%v: scrolled %d lines:\n%s", size, shown.scrolled, shown)
		}
		for _, line := range shown.cells {
			for i, c := range line {
				if c.onQR && c.r == 0 {
					t.Errorf("%v: a hole at %d", size, i)
				}
			}
		}
	}
}

func TestPairScreen_TooSmallForTheQRCode(t *testing.T) {
	shown := shownOn(t, 60, 12, pairingStatus(0)).String()
	if !strings.Contains(shown, "Pairing code: ABCD-EFGH") || !strings.Contains(strings.Join(strings.Fields(shown), " "), "make the terminal at least 103 by 33") {
		t.Errorf("it shows:\n%s", shown)
	}
}

func TestPairScreen_SaysWhatHappens(t *testing.T) {
	status := pairingStatus(0)
	status.PairingCode, status.PairingCodeExpiresAt = nil, nil
	if shown := shownOn(t, 132, 43, status).String(); !strings.Contains(shown, "The pairing code has expired") || strings.Contains(shown, "ABCD-EFGH") {
		t.Errorf("after the code has expired:\n%s", shown)
	}
	note := "WhatsApp cannot be reached\x1b[2J"
	shown := shownOn(t, 80, 24, pairingStatus(0), bridge.Status{Status: bridge.StateNeedsPair, LastError: &note}).String()
	if !strings.Contains(shown, "Waiting for WhatsApp") || !strings.Contains(shown, `Note: WhatsApp cannot be reached\x1b[2J`) || strings.Contains(shown, "█") {
		t.Errorf("without codes:\n%s", shown)
	}
}

// Every drawing has the modules of the code, and light ones around it.
func TestQR_DrawingsHaveTheModules(t *testing.T) {
	code, err := qr.Encode(linkText(0), qr.L)
	if err != nil || code.Size != 61 {
		t.Fatalf("%d modules, %v", code.Size, err)
	}
	for name, b := range map[string]blocks{"half blocks": halfBlocks, "sextants": sextants} {
		for _, quiet := range []int{0, 2, 4} {
			lines := b.lines(code, quiet)
			for y := range len(lines) * b.high {
				for x := range utf8.RuneCountInString(lines[0]) * b.wide {
					r := []rune(lines[y/b.high])[x/b.wide]
					at := func(i, size, of int) int { return (i%size)*of/size + of/size/2 }
					if got, want := isInk(r, at(x, b.wide, cellWidth), at(y, b.high, cellHeight)), code.Black(x-quiet, y-quiet); got != want {
						t.Fatalf("%s, quiet zone %d: module %d, %d is dark: %t, want %t", name, quiet, x, y, got, want)
					}
				}
			}
		}
	}
}

// TestQR_IsReadable gives the screens to a decoder, as a phone's camera does.
func TestQR_IsReadable(t *testing.T) {
	zbar, err := exec.LookPath("zbarimg")
	if err != nil {
		t.Skip("zbarimg (zbar-tools) is not installed; TestQR_DrawingsHaveTheModules compares the modules")
	}
	for _, size := range [][2]int{{80, 24}, {75, 33}, {132, 43}, {90, 48}} {
		for name, ground := range map[string]color.Gray{"light": {Y: 255}, "dark": {Y: 0}, "grey": {Y: 90}} {
			t.Run(fmt.Sprintf("%s, %d by %d", name, size[0], size[1]), func(t *testing.T) {
				var b bytes.Buffer
				if err := png.Encode(&b, shownOn(t, size[0], size[1], pairingStatus(0)).picture(ground)); err != nil {
					t.Fatal(err)
				}
				file := filepath.Join(t.TempDir(), "screen.png")
				if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
				read, err := exec.Command(zbar, "--quiet", "--raw", file).Output()
				if got := strings.TrimSpace(string(read)); got != linkText(0) {
					t.Errorf("decoded %q, %v", got, err)
				}
			})
		}
	}
}
