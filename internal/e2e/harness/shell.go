package harness

import (
	"bufio"
	"os/exec"
	"testing"
	"time"
)

// Command runs next to the test.
type Command struct {
	t      testing.TB
	Cmd    *exec.Cmd
	Lines  chan string
	Stderr *ProcessLog
}

// Begin starts a command of a bridge.
func (p *Process) Begin(settings []string, args ...string) *Command {
	p.T.Helper()
	c := &Command{t: p.T, Cmd: exec.Command("bridged", args...), Lines: make(chan string, 100), Stderr: NewProcessLog()}
	c.Cmd.Env, c.Cmd.Stderr = p.CommandEnv(settings...), c.Stderr
	out, err := c.Cmd.StdoutPipe()
	if err == nil {
		err = c.Cmd.Start()
	}
	if err != nil {
		p.T.Fatal(err)
	}
	go func() {
		defer close(c.Lines)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			c.Lines <- lines.Text()
		}
	}()
	p.T.Cleanup(func() {
		if c.Cmd.ProcessState == nil {
			_ = c.Cmd.Process.Kill() // it may have ended
			_ = c.Cmd.Wait()
		}
	})
	return c
}

// Line waits for the next line.
func (c *Command) Line() string {
	c.t.Helper()
	select {
	case line, ok := <-c.Lines:
		if !ok {
			c.t.Fatalf("the command has ended: %s", c.Stderr)
		}
		return line
	case <-time.After(TestPatience):
		c.t.Fatalf("the command prints nothing: %s", c.Stderr)
	}
	return ""
}

// Ends waits for the end and returns the exit code.
func (c *Command) Ends() int {
	c.t.Helper()
	for range c.Lines { // to its end, before Wait closes it
	}
	_ = c.Cmd.Wait() // its result is in ProcessState
	return c.Cmd.ProcessState.ExitCode()
}
