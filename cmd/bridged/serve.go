package main

import "errors"

// serveCommand runs the bridge until it is told to stop.
type serveCommand struct{}

// Run serves until the context ends or a part of the bridge fails.
func (serveCommand) Run(e *environment) error {
	bridge, err := launch(e.ctx, e.environ, e.stderr)
	if err != nil {
		return err
	}
	return errors.Join(bridge.Wait(e.ctx), bridge.Stop())
}
