package shell

import "github.com/rogpeppe/go-internal/testscript"

// stops stops the bridge: stops
func (s *scene) stops(*testscript.TestScript, bool, []string) { s.Stop() }

// starts starts the bridge again: starts
func (s *scene) starts(ts *testscript.TestScript, _ bool, _ []string) {
	s.Start()
	ts.Setenv("LISTEN_ADDR", s.Address)
}
