package main

import (
	"context"
	"io"

	"bridged/internal/demo"
)

// demoCommand runs the bridge on a simulated network in this process.
type demoCommand struct{}

// Run runs the demo until it is interrupted.
func (demoCommand) Run(e *environment) error {
	start := func(ctx context.Context, environ []string, log io.Writer) (demo.Bridge, error) {
		return launch(ctx, environ, log)
	}
	return demo.Run(e.ctx, start, e.environ, e.stdout, e.stderr)
}
