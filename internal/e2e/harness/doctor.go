package harness

import (
	"encoding/json"
	"errors"
	"maps"
	"os/exec"
	"strings"
	"testing"
)

// diagnosis is the output of bridged doctor.
type diagnosis struct {
	OK       bool
	Findings []struct{ Check, Verdict, Message, Remedy string }
	Code     int
	Text     string
}

// Doctor runs bridged doctor with a process's variables and changes to them, with
// the output for people and for programs.
func (p *Process) Doctor(settings ...string) (d diagnosis) {
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
		cmd := exec.Command("bridged", append([]string{"doctor"}, args...)...)
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
func (d diagnosis) Expect(t *testing.T, check, verdict, says string) {
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
