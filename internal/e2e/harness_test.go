package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/simnet"
)

// TestMain runs the tests. Without curl, the test binary stands in for it under
// that name.
func TestMain(m *testing.M) {
	programs := map[string]func(){}
	if _, err := exec.LookPath("curl"); err != nil || filepath.Base(os.Args[0]) == "curl" {
		programs["curl"] = curl
	}
	testscript.Main(runner{m}, programs)
}

// runner builds the program, runs the tests and then looks for leaks.
type runner struct{ *testing.M }

func (r runner) Run() int {
	code, err := r.run()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

func (r runner) run() (code int, err error) {
	dir, err := os.MkdirTemp("", "bridged-e2e-*")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := buildProgram(dir); err != nil {
		return 1, err
	}
	// Most tests wait for the product's timeouts more than they compute. A
	// -parallel on the command line still wins: it is read later.
	if err := flag.Set("test.parallel", "8"); err != nil {
		return 1, err
	}
	code = r.M.Run()
	if err := stopChromium(); err != nil && code == 0 {
		return 1, fmt.Errorf("stop the browser: %w", err)
	}
	http.DefaultClient.CloseIdleConnections()
	if err := leaks(); err != nil && code == 0 {
		return 1, err
	}
	return code, nil
}

// leaks returns an error if goroutines stay. Those that are about to end take longer on a busy
// machine than goleak waits.
func leaks() (err error) {
	// If a socket ends while a frame is still unread, whatsmeow leaks the goroutine
	// that holds the frame (socket/framesocket.go, frameComplete).
	known := goleak.IgnoreAnyFunction("go.mau.fi/whatsmeow/socket.(*FrameSocket).frameComplete")
	for late := time.Now().Add(testPatience / 4); ; {
		if err = goleak.Find(known); err == nil || time.Now().After(late) {
			return err
		}
	}
}

// buildProgram builds bridged into dir and puts dir first in PATH. Under the race
// detector the program uses it, too.
func buildProgram(dir string) error {
	args := []string{"build", "-buildvcs=false", "-o", dir}
	if underRaceDetector {
		args = append(args, "-race")
	}
	build := exec.Command("go", append(args, "bridged/cmd/bridged")...)
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

const (
	// testPatience bounds every wait of the tests.
	testPatience = 60 * time.Second
	testToken    = "a-token-of-the-tests-0123456789"
)

// process is a running bridged with a client for its API. Every answer to the
// client is checked against openapi.yaml.
type process struct {
	*apitest.Client
	api     *client.Client // the typed client
	t       testing.TB
	env     map[string]string
	cmd     *exec.Cmd
	log     *processLog
	stdout  *processLog
	exited  chan struct{} // closed when the process has ended
	address string        // of its listener
	began   time.Time
	secrets []string // must never appear in the log
}

// startBridge runs the program on a simulated network, with its own data directory
// and sends enabled. Settings ("NAME=value") add to that or override it; a nil
// network requires one that sets WA_NETWORK_FILE.
func startBridge(t testing.TB, network *simnet.Network, settings ...string) *process {
	t.Helper()
	dir := t.TempDir()
	p := &process{t: t, began: time.Now(), env: map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": dir, "TMPDIR": dir, "GORACE": os.Getenv("GORACE"),
		"BRIDGE_TOKEN": testToken, "ENABLE_SEND": "true", "LISTEN_ADDR": "127.0.0.1:0",
		"DATA_DIR": filepath.Join(dir, "data"), "LOG_LEVEL": "debug", "FFMPEG": "off", // but in tests of it
		"WA_NETWORK_FILE": filepath.Join(dir, "network.json"),
	}}
	if err := network.WriteNetworkFile(p.env["WA_NETWORK_FILE"]); err != nil {
		t.Fatal(err)
	}
	p.set(settings...)
	p.start()
	t.Cleanup(func() {
		if p.running() {
			p.stop()
		}
	})
	return p
}

// addresses counts those of [ownAddress].
var addresses atomic.Uint32

// ownAddress is the setting of a bridge that starts again where it has listened: nobody else
// takes the port meanwhile, because nobody else listens at this address. macOS has only one.
func ownAddress() string {
	if runtime.GOOS == "darwin" {
		return "LISTEN_ADDR=127.0.0.1:0"
	}
	n := addresses.Add(1)
	return fmt.Sprintf("LISTEN_ADDR=127.1.%d.%d:0", n>>8, n&255)
}

// staysAtItsAddress makes later starts listen where this one does.
func (p *process) staysAtItsAddress() { p.set("LISTEN_ADDR=" + p.address) }

// set changes the environment for the next start.
func (p *process) set(settings ...string) {
	for _, setting := range settings {
		name, value, _ := strings.Cut(setting, "=")
		p.env[name] = value
	}
}

// start runs the program and waits until it listens.
func (p *process) start() {
	p.t.Helper()
	p.log, p.stdout = newProcessLog(), newProcessLog()
	p.cmd = exec.Command("bridged")
	for name, value := range maps.All(p.env) {
		p.cmd.Env = append(p.cmd.Env, name+"="+value)
	}
	p.cmd.Stdout, p.cmd.Stderr = p.stdout, p.log
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	exited := make(chan struct{})
	p.exited = exited
	go func(cmd *exec.Cmd) {
		_ = cmd.Wait() // its result is in cmd.ProcessState
		close(exited)
	}(p.cmd)
	select {
	case p.address = <-p.log.listening:
		p.Client = apitest.NewClient(p.t, "http://"+p.address, p.env["BRIDGE_TOKEN"])
		transport := new(http.Transport)
		p.api = client.Over(apitest.Checked(p.t, transport), "http://"+p.address, p.env["BRIDGE_TOKEN"])
		p.t.Cleanup(transport.CloseIdleConnections)
	case <-p.exited:
		p.t.Fatalf("bridged ended before it listened: %v\n%s", p.cmd.ProcessState, p.log)
	case <-time.After(testPatience):
		p.t.Fatalf("bridged does not listen\n%s", p.log)
	}
}

func (p *process) running() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// stop stops the program as an operator does and checks its promises: in time, with
// success, and nothing in the log that does not belong there.
func (p *process) stop() {
	p.t.Helper()
	p.signal(syscall.SIGTERM)
	select {
	case <-p.exited:
		if code := p.cmd.ProcessState.ExitCode(); code != 0 {
			p.t.Errorf("exit code %d after SIGTERM, want 0", code)
		}
	case <-time.After(stopLimit):
		p.t.Errorf("still running %v after SIGTERM", stopLimit)
		p.signal(syscall.SIGQUIT)
		<-p.exited
	}
	p.checkLog()
}

// kill kills the program as a crash does. Unlike in a power cut, its writes stay
// with the system; see TestPowerCut_LosesAndDoublesNothing.
func (p *process) kill() {
	p.t.Helper()
	p.signal(syscall.SIGKILL)
	<-p.exited
	p.checkLog()
}

func (p *process) restart() {
	p.t.Helper()
	p.stop()
	p.start()
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatalf("signal %v: %v", s, err)
	}
}

// phoneNumber matches whole numbers of the tests' people, also in base64.
var phoneNumber = regexp.MustCompile(`(?:491510|155501)\d{5,}|(?:NDkxNTEw|MTU1NTAx)[A-Za-z0-9_-]{7,}`)

// checkLog looks for lines that must not be in the log: data races, unstructured
// output, and secrets.
func (p *process) checkLog() {
	p.t.Helper()
	text := p.log.String()
	for line := range strings.Lines(text) {
		if !json.Valid([]byte(line)) {
			p.t.Errorf("the log has lines that are not JSON (a panic, a data race, a stray print?), the first is %q", line)
			break
		}
	}
	if stray := p.stdout.String(); stray != "" {
		p.t.Errorf("stray words on the standard output: %q", stray)
	}
	for _, secret := range append(p.secrets, p.env["BRIDGE_TOKEN"]) {
		if i := strings.Index(text, secret); i >= 0 {
			p.t.Errorf("the log contains the secret %q: %s", secret, lineAt(text, i))
		}
	}
	if at := phoneNumber.FindStringIndex(text); at != nil {
		p.t.Errorf("the log contains a whole phone number: %s", lineAt(text, at[0]))
	}
	if p.t.Failed() {
		p.t.Logf("the log of bridged:\n%s", p.log.withoutRequests())
	}
}

func lineAt(text string, i int) string {
	begin := strings.LastIndexByte(text[:i], '\n') + 1
	line, _, _ := strings.Cut(text[begin:], "\n")
	return line
}

// processLog collects a process's log and finds its address in it.
type processLog struct {
	listening chan string

	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
	seen int          // the checked part of text; guarded by mu
}

func newProcessLog() *processLog { return &processLog{listening: make(chan string, 1)} }

func (l *processLog) Write(data []byte) (int, error) {
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
			l.listening <- event.Address
		}
	}
}

func (l *processLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// waitForLog waits until the log contains a text. A line may follow the answer that
// it is about.
func (p *process) waitForLog(t testing.TB, text string) {
	t.Helper()
	eventually(t, func() error {
		if !strings.Contains(p.log.String(), text) {
			return fmt.Errorf("the log has no %s", text)
		}
		return nil
	})
}

// withoutRequests returns the log without successful requests.
func (l *processLog) withoutRequests() string {
	var kept strings.Builder
	for line := range strings.Lines(l.String()) {
		if !strings.Contains(line, `"status":200`) {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// eventually calls ask until it returns nil.
func eventually(t testing.TB, ask func() error) {
	t.Helper()
	ctx := within(t)
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := ask()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("not within %v: %v", testPatience, err)
		case <-ticker.C:
		}
	}
}

// status returns the auth status.
func (p *process) status() bridge.Status {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), testPatience)
	defer cancel()
	return must(p.api.Status(ctx))(p.t)
}

// callOnce calls a route that takes an Idempotency-Key and returns the answer.
func callOnce[T any](t testing.TB, p *process, method, path string, body any, key string) (answer T) {
	t.Helper()
	if err := p.api.CallOnce(within(t), method, path, body, key, &answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

// becomes waits for a status.
func (p *process) becomes(want bridge.State) bridge.Status {
	p.t.Helper()
	status, err := p.api.WaitState(within(p.t), want)
	if err != nil {
		p.t.Fatalf("status %s, want %s (lastError %s): %v", status.Status, want, orNone(status.LastError), err)
	}
	return status
}

func orNone(s *string) string {
	if s == nil {
		return "none"
	}
	return *s
}

// code requests a pairing code for a phone.
func (p *process) code(phone *simnet.Phone) string {
	p.t.Helper()
	return must(p.api.Pair(within(p.t), phone.Number()))(p.t).Code
}

// pair links the phone's account by QR code, because a pairing code costs each side
// a slow derivation of keys, and waits until it is open and synced.
func pair(t testing.TB, p *process, phone *simnet.Phone) *simnet.Device {
	t.Helper()
	device := must(phone.HoldTo(within(t), p.qr))(t)
	p.becomes(bridge.StateOpen)
	if err := device.WaitSynced(within(t)); err != nil {
		t.Fatal(err)
	}
	if err := device.WaitHistory(within(t)); err != nil {
		t.Fatal(err)
	}
	return device
}
