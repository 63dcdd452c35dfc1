package harness

import (
	"bufio"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"strings"
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
	c := &Command{t: p.T, Cmd: Bridged(args...), Lines: make(chan string, 100), Stderr: NewProcessLog()}
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
	case <-time.After(TestTimeout):
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

// env returns the environment of a command that talks to the bridge.
func (p *Process) CommandEnv(settings ...string) []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.Env["HOME"], "BRIDGE_TOKEN=" + p.Env["BRIDGE_TOKEN"], "LISTEN_ADDR=" + p.Address}
	return append(env, settings...)
}

// Command runs another bridged in the environment of p and returns its output.
func (p *Process) Command(args ...string) (string, error) {
	p.T.Helper()
	cmd := Bridged(args...)
	for name, value := range p.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Diagnosis is the output of bridged doctor.
type Diagnosis struct {
	OK       bool
	Findings []struct{ Check, Verdict, Message, Remedy string }
	Code     int
	Text     string
}

// Doctor runs bridged doctor with a process's variables and changes to them, with
// the output for people and for programs.
func (p *Process) Doctor(settings ...string) (d Diagnosis) {
	p.T.Helper()
	environ := maps.Clone(p.Env)
	if p.Address != "" {
		environ["LISTEN_ADDR"] = p.Address
	}
	for _, setting := range settings {
		name, value, _ := strings.Cut(setting, "=")
		environ[name] = value
	}
	run := func(args ...string) (output []byte, code int) {
		cmd := Bridged(append([]string{"doctor"}, args...)...)
		for name, value := range environ {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		output, err := cmd.Output()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			p.T.Fatal(err)
		}
		return output, cmd.ProcessState.ExitCode()
	}
	text, code := run()
	program, again := run("--json")
	if err := json.Unmarshal(program, &d); err != nil {
		p.T.Fatalf("bridged doctor --json: %v\n%s", err, program)
	}
	if code != again || (code == 0) != d.OK {
		p.T.Errorf("exit codes %d and %d, ok %v", code, again, d.OK)
	}
	d.Code, d.Text = code, string(text)
	for _, secret := range []string{environ["BRIDGE_TOKEN"], "491510000001"} {
		if strings.Contains(d.Text, secret) || strings.Contains(string(program), secret) {
			p.T.Errorf("the report shows %q:\n%s", secret, d.Text)
		}
	}
	return d
}

// Expect checks the verdict and the text of a check.
func (d Diagnosis) Expect(t *testing.T, check, verdict, says string) {
	t.Helper()
	for _, f := range d.Findings {
		if f.Check == check && f.Verdict == verdict && strings.Contains(f.Message, says) {
			if (verdict == "ok") != (f.Remedy == "") {
				t.Errorf("%s is %s, with the remedy %q", check, verdict, f.Remedy)
			}
			return
		}
	}
	t.Errorf("no %s of %s with %q in\n%s", verdict, check, says, d.Text)
}
