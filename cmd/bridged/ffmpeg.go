package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bridged/internal/config"
	"bridged/internal/doctor"
	"bridged/internal/transcode"
)

// newConverter returns the converter of audio and video, or nil if ffmpeg was not found.
func newConverter(c config.Config) (*transcode.Converter, error) {
	if c.FFmpegPath == "" {
		return nil, nil
	}
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the program's own file: %w", err)
	}
	return transcode.New(transcode.Options{Program: c.FFmpegPath, MaxBytes: int64(c.MediaMaxBytes), Limited: []string{program, becomeFFmpeg}}), nil
}

// becomeFFmpeg is the name of a hidden command, which transcode.Converter runs instead of ffmpeg itself.
const becomeFFmpeg = "become-ffmpeg"

// becomeFFmpegCommand limits the resources of its process and then executes ffmpeg in it.
func (e *environment) becomeFFmpegCommand() *cobra.Command {
	c := withoutEnvFile(e.newCommand(becomeFFmpeg, "Limit the resources of this process and replace it with ffmpeg.", transcode.Become))
	c.DisableFlagParsing, c.Args = true, cobra.ArbitraryArgs
	return c
}

// ffmpegCheck returns a check that reports whether ffmpeg runs and has the codecs that bridged uses.
func ffmpegCheck(c config.Config) doctor.Check {
	return doctor.Check{Name: "ffmpeg", Look: func(ctx context.Context) []doctor.Finding {
		if c.FFmpegPath == "" {
			return []doctor.Finding{{Verdict: doctor.OK, Message: "not installed: voice notes must be Ogg with Opus, and audio and video in formats that WhatsApp on computers cannot play are refused"}}
		}
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		version, missing, err := transcode.Version(ctx, c.FFmpegPath)
		switch {
		case err != nil:
			return []doctor.Finding{{Verdict: doctor.Warn, Message: fmt.Sprintf("ffmpeg does not run: %v", err), Remedy: "install another version, or set FFMPEG to its path"}}
		case len(missing) > 0:
			return []doctor.Finding{{Verdict: doctor.Warn, Message: version + " lacks " + strings.Join(missing, ", "), Remedy: "install a version that has them, such as Debian's or Alpine's"}}
		}
		return []doctor.Finding{{Verdict: doctor.OK, Message: version}}
	}}
}
