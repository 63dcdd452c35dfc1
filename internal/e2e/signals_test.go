//go:build unix

package e2e

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// A terminal that is closed sends SIGHUP: it must end the bridge as SIGTERM does.
func TestHangUp_EndsInOrder(t *testing.T) {
	p := startBridge(t, newNetwork(t))
	p.signal(syscall.SIGHUP)
	p.wantEnd(p.cmd, p.exited)
	p.checkLog()
}

// A bridge that was started with nohup outlives its terminal.
func TestHangUp_IsIgnoredUnderNohup(t *testing.T) {
	p := startBridge(t, newNetwork(t))
	p.stop()
	_, exited := p.runWith(t, exec.Command("sh", "-c", "trap '' HUP; exec bridged"))
	p.signal(syscall.SIGHUP)
	p.wantHealth(t)
	p.signal(syscall.SIGTERM)
	p.wantEnd(p.cmd, exited)
}

// A program that reads the log through a pipe, such as one that rotates it, may end first.
func TestLogReader_MayGoAway(t *testing.T) {
	p := startBridge(t, newNetwork(t))
	p.stop()
	reader, exited := p.runWith(t, exec.Command("bridged"))
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	for range 3 { // each is a line of the log
		p.wantHealth(t)
	}
	p.signal(syscall.SIGTERM)
	p.wantEnd(p.cmd, exited)
}

// runWith starts a command in the bridge's environment and reads its log until it listens.
func (p *process) runWith(t *testing.T, cmd *exec.Cmd) (reader *os.File, exited chan struct{}) {
	t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reader.Close() }) // it may be closed
	for name, value := range p.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Stderr = writer
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	p.cmd, exited = cmd, make(chan struct{})
	go func() {
		defer close(exited)
		_ = cmd.Wait() // its result is in cmd.ProcessState
	}()
	p.log = newProcessLog()
	for buffer := make([]byte, 4096); ; {
		n, err := reader.Read(buffer)
		if _, writeErr := p.log.Write(buffer[:n]); err != nil || writeErr != nil {
			t.Fatalf("bridged ended before it listened: %v\n%s", err, p.log)
		}
		select {
		case p.address = <-p.log.listening:
			return reader, exited
		default:
		}
	}
}

func (p *process) wantHealth(t *testing.T) {
	t.Helper()
	resp, err := http.Get("http://" + p.address + "/healthz")
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
func (p *process) wantEnd(cmd *exec.Cmd, exited <-chan struct{}) {
	p.t.Helper()
	select {
	case <-exited:
		if code := cmd.ProcessState.ExitCode(); code != 0 {
			p.t.Errorf("exit code %d, want 0", code)
		}
	case <-time.After(stopLimit):
		p.t.Errorf("still running after %v", stopLimit)
		p.signal(syscall.SIGQUIT)
		<-exited
	}
}
