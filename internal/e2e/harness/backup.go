package harness

import (
	"os/exec"
)

// Command runs another bridged in the environment of p and returns its output.
func (p *Process) Command(args ...string) (string, error) {
	p.T.Helper()
	cmd := exec.Command("bridged", args...)
	for name, value := range p.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}
