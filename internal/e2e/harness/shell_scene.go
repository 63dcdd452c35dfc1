package harness

import (
	"os"
)

// env returns the environment of a command that talks to the bridge.
func (p *Process) CommandEnv(settings ...string) []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.Env["HOME"], "BRIDGE_TOKEN=" + p.Env["BRIDGE_TOKEN"], "LISTEN_ADDR=" + p.Address}
	return append(env, settings...)
}
