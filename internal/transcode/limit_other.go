//go:build !linux

package transcode

import (
	"context"
	"errors"
	"os/exec"
	"time"
)

// command returns the process of ffmpeg. Only time and size limit it on this system.
func (c *Converter) command(ctx context.Context, _ time.Duration, args []string) *exec.Cmd {
	return exec.CommandContext(ctx, c.options.Program, args...)
}

// Become is only available on Linux.
func Become([]string) error { return errors.ErrUnsupported }
