//go:build unix

package operations

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	. "bridged/internal/e2e/harness"
)

// A terminal that is closed sends SIGHUP: it must end the bridge as SIGTERM does.
func TestHangUp_EndsInOrder(t *testing.T) {
	p := StartBridge(t, NewNetwork(t))
	p.Signal(syscall.SIGHUP)
	wantEnd(p, p.Cmd, p.Exited)
	p.CheckLog()
}

// A bridge that was started with nohup outlives its terminal.
func TestHangUp_IsIgnoredUnderNohup(t *testing.T) {
	p := StartBridge(t, NewNetwork(t))
	p.Stop()
	_, exited := runWith(p, t, exec.Command("sh", "-c", "trap '' HUP; exec bridged"))
	p.Signal(syscall.SIGHUP)
	wantHealth(p, t)
	p.Signal(syscall.SIGTERM)
	wantEnd(p, p.Cmd, exited)
}

// A program that reads the log through a pipe, such as one that rotates it, may end first.
func TestLogReader_MayGoAway(t *testing.T) {
	p := StartBridge(t, NewNetwork(t))
	p.Stop()
	reader, exited := runWith(p, t, Bridged())
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	for range 3 { // each is a line of the log
		wantHealth(p, t)
	}
	p.Signal(syscall.SIGTERM)
	wantEnd(p, p.Cmd, exited)
}

// runWith starts a command in the bridge's environment and reads its log until it listens.
func runWith(p *Process, t *testing.T, cmd *exec.Cmd) (reader *os.File, exited chan struct{}) {
	t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reader.Close() }) // it may be closed
	for name, value := range p.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Stderr = writer
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	p.Cmd, exited = cmd, make(chan struct{})
	go func() {
		defer close(exited)
		_ = cmd.Wait() // its result is in cmd.ProcessState
	}()
	p.Log = NewProcessLog()
	for buffer := make([]byte, 4096); ; {
		n, err := reader.Read(buffer)
		if _, writeErr := p.Log.Write(buffer[:n]); err != nil || writeErr != nil {
			t.Fatalf("bridged ended before it listened: %v\n%s", err, p.Log)
		}
		select {
		case p.Address = <-p.Log.Listening:
			return reader, exited
		default:
		}
	}
}

func wantHealth(p *Process, t *testing.T) {
	t.Helper()
	resp, err := http.Get("http://" + p.Address + "/healthz")
	if err != nil {
		t.Fatalf("the bridge does not answer: %v", err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("healthz answers %d", resp.StatusCode)
	}
}

// wantEnd waits until a process has ended in order.
func wantEnd(p *Process, cmd *exec.Cmd, exited <-chan struct{}) {
	p.T.Helper()
	select {
	case <-exited:
		if code := cmd.ProcessState.ExitCode(); code != 0 {
			p.T.Errorf("exit code %d, want 0", code)
		}
	case <-time.After(StopLimit):
		p.T.Errorf("still running after %v", StopLimit)
		p.Signal(syscall.SIGQUIT)
		<-exited
	}
}
