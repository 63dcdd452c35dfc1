package pairing

import (
	"bytes"
	"image"
	"image/color"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// openTerminal returns both ends of a terminal of the given size.
func openTerminal(t *testing.T, columns, lines uint16) (screen, program *os.File) {
	t.Helper()
	screen = Must(os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0))(t)
	t.Cleanup(func() { _ = screen.Close() }) // this ends its reader
	fd := int(screen.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: lines}); err != nil {
		t.Fatal(err)
	}
	number := Must(unix.IoctlGetInt(fd, unix.TIOCGPTN))(t)
	program = Must(os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0))(t)
	return screen, program
}

// recordedScreen records a program's output to the terminal.
type recordedScreen struct {
	mu    sync.Mutex
	drawn []byte // guarded by mu
}

// Write appends output.
func (s *recordedScreen) Write(data []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drawn = append(s.drawn, data...)
	return len(data), nil
}

// frame returns the last complete frame.
func (s *recordedScreen) frame() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	end := bytes.LastIndex(s.drawn, []byte("\x1b[J"))
	start := bytes.LastIndex(s.drawn[:max(end, 0)], []byte("\x1b[H"))
	if start < 0 {
		return ""
	}
	return string(s.drawn[start:end])
}

// qr returns the text of the QR code on the screen, in half blocks of black on
// white, or "".
func (s *recordedScreen) qr() string {
	var rows [][]rune
	for line := range strings.SplitSeq(s.frame(), "\r\n") {
		if _, picture, found := strings.Cut(line, "\x1b[38;5;16;48;5;231m"); found {
			picture, _, _ = strings.Cut(picture, "\x1b[0m")
			rows = append(rows, []rune(picture))
		}
	}
	if len(rows) == 0 {
		return ""
	}
	const module = 4 // pixels
	img := image.NewGray(image.Rect(0, 0, len(rows[0])*module, len(rows)*2*module))
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			dark := strings.ContainsRune([]string{"▀█", "▄█"}[y/module%2], rows[y/module/2][x/module])
			img.SetGray(x, y, color.Gray{Y: map[bool]uint8{false: 255}[dark]})
		}
	}
	text, err := ReadQR(img)
	if err != nil {
		return ""
	}
	return text
}

// A phone points at the screen of bridged pair: the network voids the scanned code,
// and the new one takes its place in the same spot while the ref is still valid.
func TestPairing_ByTheTerminalsScreen(t *testing.T) {
	t.Parallel()
	n, owner := NewOwner(t, simnet.PhoneOptions{}, simnet.Options{Rotations: 2})
	b := StartBridge(t, n)
	screen, program := openTerminal(t, 132, 43)
	cmd := Bridged("pair")
	cmd.Env = b.CommandEnv("TERM=xterm")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill() // it may have ended
			_ = cmd.Wait()
		}
	})
	if err := program.Close(); err != nil {
		t.Fatal(err)
	}
	var recorded recordedScreen
	read := make(chan error, 1)
	go func() {
		_, err := io.Copy(&recorded, screen)
		read <- err
	}()
	var scanned []string
	Must(owner.HoldTo(Within(t), func() string {
		shown := recorded.qr()
		if shown != "" && !slices.Contains(scanned, shown) {
			scanned = append(scanned, shown)
		}
		return shown
	}))(t)
	if err := cmd.Wait(); err != nil {
		t.Errorf("bridged pair: %v", err)
	}
	<-read // the end of a terminal is an error of its own
	if len(scanned) != 3 || WithoutSecret(scanned[0]) != WithoutSecret(scanned[2]) {
		t.Errorf("the screen has shown %q", scanned)
	}
	b.Becomes(bridge.StateOpen)
}
