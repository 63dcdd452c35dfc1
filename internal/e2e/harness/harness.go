package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/longtest"
	"bridged/internal/simnet"
)

// Main is the TestMain of a package of tests.
func Main(m *testing.M) { os.Exit(runner{m}.Run()) }

// runner runs a package's tests: it builds the program before them, and looks for leaks after
// them.
type runner struct{ *testing.M }

// Run runs the tests and returns the exit code.
func (r runner) Run() int {
	code, err := r.run()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

func (r runner) run() (code int, err error) {
	if err := buildProgram(); err != nil {
		return 1, err
	}
	longtest.AtOnce(8)
	debug.SetGCPercent(400) // the tests and their network hold little and allocate much
	code = r.M.Run()
	for _, end := range ends {
		err = errors.Join(err, end())
	}
	http.DefaultClient.CloseIdleConnections()
	if err == nil && code == 0 {
		err = leaks()
	}
	return code, err
}

// ends are the functions of [AtEnd].
var ends []func() error

// AtEnd registers a function that runs after all tests of the package.
func AtEnd(end func() error) { ends = append(ends, end) }

// leaks returns an error if goroutines remain. It waits longer than goleak, because goroutines end slowly on a
// busy machine.
func leaks() (err error) {
	// If a socket ends while a frame is still unread, whatsmeow leaks the goroutine
	// that holds the frame (socket/framesocket.go, frameComplete).
	known := goleak.IgnoreAnyFunction("go.mau.fi/whatsmeow/socket.(*FrameSocket).frameComplete")
	for late := time.Now().Add(TestTimeout / 4); ; {
		if err = goleak.Find(known); err == nil || time.Now().After(late) {
			return err
		}
	}
}

const (
	// TestTimeout bounds every wait of the tests.
	TestTimeout = 60 * time.Second
	TestToken   = "a-token-of-the-tests-0123456789"
)

// Process is a running bridged with a client for its API. Every answer to the
// client is checked against openapi.yaml.
type Process struct {
	*apitest.Client
	API     *client.Client // the typed client
	T       testing.TB
	Env     map[string]string
	Cmd     *exec.Cmd
	Log     *ProcessLog
	stdout  *ProcessLog
	Exited  chan struct{} // closed when the process has ended
	Address string        // of its listener
	Began   time.Time
	Secrets []string // must never appear in the log
}

// StartBridge runs the program on a simulated network, with its own data directory
// and sends enabled. Settings ("NAME=value") add to that or override it; a nil
// network requires one that sets WA_NETWORK_FILE.
func StartBridge(t testing.TB, network *simnet.Network, settings ...string) *Process {
	t.Helper()
	dir := t.TempDir()
	p := &Process{T: t, Began: time.Now(), Env: map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": dir, "TMPDIR": dir, "GORACE": os.Getenv("GORACE"),
		"BRIDGE_TOKEN": TestToken, "ENABLE_SEND": "true", "LISTEN_ADDR": "127.0.0.1:0",
		"DATA_DIR": filepath.Join(dir, "data"), "LOG_LEVEL": "debug", "FFMPEG": "off", // but in tests of it
		"WA_NETWORK_FILE": filepath.Join(dir, "network.json"),
	}}
	if err := network.WriteNetworkFile(p.Env["WA_NETWORK_FILE"]); err != nil {
		t.Fatal(err)
	}
	p.Set(settings...)
	p.Start()
	t.Cleanup(func() {
		if p.Running() {
			p.Stop()
		}
	})
	return p
}

// addresses counts the addresses of [OwnAddress].
var addresses atomic.Uint32

// OwnAddress returns a setting for a bridge that stops and starts again at the same address: no
// other bridge of the tests listens there, so the port is still free. Packages run in parallel,
// so the address has a part of the process id. macOS has only one loopback address.
func OwnAddress() string {
	if runtime.GOOS == "darwin" {
		return "LISTEN_ADDR=127.0.0.1:0"
	}
	pid := os.Getpid()
	return fmt.Sprintf("LISTEN_ADDR=127.%d.%d.%d:0", 1+pid>>8&127, pid&255, addresses.Add(1)&255)
}

// StaysAtItsAddress makes later starts listen at the address of this one.
func (p *Process) StaysAtItsAddress() { p.Set("LISTEN_ADDR=" + p.Address) }

// Set changes the environment for the next start.
func (p *Process) Set(settings ...string) {
	for _, setting := range settings {
		name, value, _ := strings.Cut(setting, "=")
		p.Env[name] = value
	}
}

// Start runs the program and waits until it listens.
func (p *Process) Start() {
	p.T.Helper()
	p.Log, p.stdout = NewProcessLog(), NewProcessLog()
	p.Cmd = Bridged()
	for name, value := range maps.All(p.Env) {
		p.Cmd.Env = append(p.Cmd.Env, name+"="+value)
	}
	p.Cmd.Stdout, p.Cmd.Stderr = p.stdout, p.Log
	if err := p.Cmd.Start(); err != nil {
		p.T.Fatal(err)
	}
	exited := make(chan struct{})
	p.Exited = exited
	go func(cmd *exec.Cmd) {
		_ = cmd.Wait() // its result is in cmd.ProcessState
		close(exited)
	}(p.Cmd)
	select {
	case p.Address = <-p.Log.Listening:
		p.Client = apitest.NewClient(p.T, "http://"+p.Address, p.Env["BRIDGE_TOKEN"])
		transport := new(http.Transport)
		p.API = client.Over(apitest.Checked(p.T, transport), "http://"+p.Address, p.Env["BRIDGE_TOKEN"])
		p.T.Cleanup(transport.CloseIdleConnections)
	case <-p.Exited:
		p.T.Fatalf("bridged ended before it listened: %v\n%s", p.Cmd.ProcessState, p.Log)
	case <-time.After(TestTimeout):
		p.T.Fatalf("bridged does not listen\n%s", p.Log)
	}
}

// Running reports whether the program has not ended.
func (p *Process) Running() bool {
	select {
	case <-p.Exited:
		return false
	default:
		return true
	}
}

// Stop stops the program as an operator does and checks its promises: in time, with
// success, and nothing in the log that does not belong there.
func (p *Process) Stop() {
	p.T.Helper()
	p.Signal(syscall.SIGTERM)
	select {
	case <-p.Exited:
		if code := p.Cmd.ProcessState.ExitCode(); code != 0 {
			p.T.Errorf("exit code %d after SIGTERM, want 0", code)
		}
	case <-time.After(StopLimit):
		p.T.Errorf("still running %v after SIGTERM", StopLimit)
		p.Signal(syscall.SIGQUIT)
		<-p.Exited
	}
	p.CheckLog()
}

// Kill kills the program as a crash does. Unlike in a power cut, its writes stay
// with the system; see TestPowerCut_LosesAndDoublesNothing.
func (p *Process) Kill() {
	p.T.Helper()
	p.Signal(syscall.SIGKILL)
	<-p.Exited
	p.CheckLog()
}

func (p *Process) Restart() {
	p.T.Helper()
	p.Stop()
	p.Start()
}

func (p *Process) Signal(s syscall.Signal) {
	p.T.Helper()
	if err := p.Cmd.Process.Signal(s); err != nil {
		p.T.Fatalf("signal %v: %v", s, err)
	}
}

// phoneNumber matches whole numbers of the tests' people, also in base64.
var phoneNumber = regexp.MustCompile(`(?:491510|155501)\d{5,}|(?:NDkxNTEw|MTU1NTAx)[A-Za-z0-9_-]{7,}`)

// CheckLog looks for lines that must not be in the log: data races, unstructured
// output, and secrets.
func (p *Process) CheckLog() {
	p.T.Helper()
	text := p.Log.String()
	for line := range strings.Lines(text) {
		if !json.Valid([]byte(line)) {
			p.T.Errorf("the log has lines that are not JSON (a panic, a data race, a stray print?), the first is %q", line)
			break
		}
	}
	if stray := p.stdout.String(); stray != "" {
		p.T.Errorf("stray words on the standard output: %q", stray)
	}
	for _, secret := range append(p.Secrets, p.Env["BRIDGE_TOKEN"]) {
		if i := strings.Index(text, secret); i >= 0 {
			p.T.Errorf("the log contains the secret %q: %s", secret, lineAt(text, i))
		}
	}
	if at := phoneNumber.FindStringIndex(text); at != nil {
		p.T.Errorf("the log contains a whole phone number: %s", lineAt(text, at[0]))
	}
	if p.T.Failed() {
		p.T.Logf("the log of bridged:\n%s", p.Log.withoutRequests())
	}
}

func lineAt(text string, i int) string {
	begin := strings.LastIndexByte(text[:i], '\n') + 1
	line, _, _ := strings.Cut(text[begin:], "\n")
	return line
}

// ProcessLog collects a process's log and finds its address in it.
type ProcessLog struct {
	Listening chan string

	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
	seen int          // the checked part of text; guarded by mu
}

func NewProcessLog() *ProcessLog { return &ProcessLog{Listening: make(chan string, 1)} }

func (l *ProcessLog) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(data)
	for {
		line, _, whole := bytes.Cut(l.text.Bytes()[l.seen:], []byte("\n"))
		if !whole {
			return len(data), nil
		}
		l.seen += len(line) + 1
		var event struct{ Message, Address string }
		if json.Unmarshal(line, &event) == nil && event.Message == "listening" {
			l.Listening <- event.Address
		}
	}
}

func (l *ProcessLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// WaitForLog waits until the log contains a text. A line may follow the answer that
// it is about.
func (p *Process) WaitForLog(t testing.TB, text string) {
	t.Helper()
	Eventually(t, func() error {
		if !strings.Contains(p.Log.String(), text) {
			return fmt.Errorf("the log has no %s", text)
		}
		return nil
	})
}

// withoutRequests returns the log without successful requests.
func (l *ProcessLog) withoutRequests() string {
	var kept strings.Builder
	for line := range strings.Lines(l.String()) {
		if !strings.Contains(line, `"status":200`) {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// Eventually calls ask until it returns nil.
func Eventually(t testing.TB, ask func() error) {
	t.Helper()
	ctx := Within(t)
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := ask()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("not within %v: %v", TestTimeout, err)
		case <-ticker.C:
		}
	}
}

// Status returns the auth status.
func (p *Process) Status() bridge.Status {
	p.T.Helper()
	ctx, cancel := context.WithTimeout(p.T.Context(), TestTimeout)
	defer cancel()
	return Must(p.API.Status(ctx))(p.T)
}

// CallOnce calls a route that takes an Idempotency-Key and returns the answer.
func CallOnce[T any](t testing.TB, p *Process, method, path string, body any, key string) (answer T) {
	t.Helper()
	if err := p.API.CallOnce(Within(t), method, path, body, key, &answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

// Becomes waits for a status.
func (p *Process) Becomes(want bridge.State) bridge.Status {
	p.T.Helper()
	status, err := p.API.WaitState(Within(p.T), want)
	if err != nil {
		p.T.Fatalf("status %s, want %s (lastError %s): %v", status.Status, want, OrNone(status.LastError), err)
	}
	return status
}

func OrNone(s *string) string {
	if s == nil {
		return "none"
	}
	return *s
}

// Code requests a pairing code for a phone.
func (p *Process) Code(phone *simnet.Phone) string {
	p.T.Helper()
	return Must(p.API.Pair(Within(p.T), phone.Number()))(p.T).Code
}

// Pair links the phone's account by QR code, because a pairing code costs each side
// a slow derivation of keys, and waits until it is open and synced.
func Pair(t testing.TB, p *Process, phone *simnet.Phone) *simnet.Device {
	t.Helper()
	device := Must(phone.HoldTo(Within(t), p.QR))(t)
	p.Becomes(bridge.StateOpen)
	if err := device.WaitSynced(Within(t)); err != nil {
		t.Fatal(err)
	}
	if err := device.WaitHistory(Within(t)); err != nil {
		t.Fatal(err)
	}
	return device
}
