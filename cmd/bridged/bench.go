package main

import (
	"context"
	"io"

	"bridged/internal/bench"
)

// benchCommand measures the bridge on this machine.
type benchCommand struct {
	bench.Options
}

// Run measures, and prints a report.
func (c *benchCommand) Run(e *environment) error {
	start := func(ctx context.Context, environ []string, log io.Writer) (bench.Bridge, error) {
		return launch(ctx, environ, log)
	}
	streams := bench.Streams{Stdout: e.stdout, Stderr: e.stderr}
	if isTerminal(e.stderr) {
		streams.Progress = e.stderr
	}
	return bench.Run(e.ctx, c.Options, start, streams)
}
