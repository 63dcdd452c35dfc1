package main

import "errors"

// serveCommand runs the bridge until it is told to stop.
type serveCommand struct{}

// Run serves until the context ends or a part of the bridge fails.
func (serveCommand) Run(e *environment) error {
	bridge, err := launch(e.ctx, e.environ, e.stderr)
	if e.ctx.Err() != nil && bridge == nil {
		return nil // told to stop before it had begun
	}
	if err != nil {
		return err
	}
	return errors.Join(bridge.Wait(e.ctx), bridge.Stop())
}
