package main

import "errors"

// serveCommand runs the bridge until it is told to stop.
type serveCommand struct{}

// Run is called by kong.
func (serveCommand) Run(e *environment) error {
	c, err := readConfig(e.environ)
	if err != nil {
		return err
	}
	bridge, err := start(e.ctx, c, newLog(e.stderr, c.level, c.LogFormat))
	if err != nil {
		return err
	}
	return errors.Join(bridge.wait(e.ctx), bridge.stop())
}
