package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"bridged/internal/config"
	"bridged/internal/doctor"
	"bridged/internal/transcode"
)

// newConverter returns the converter of sounds and films; nil without ffmpeg.
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

const becomeFFmpeg = "become-ffmpeg"

// becomeFFmpegCommand limits this process and makes it ffmpeg: what a transcode.Converter
// starts. The help does not list it.
func becomeFFmpegCommand() *command {
	c := newCommand(becomeFFmpeg, "Limit this process, and make it ffmpeg.", func(_ *environment, args []string) error {
		return transcode.Become(args)
	})
	c.asGiven = true
	return c
}

// ffmpegCheck returns the check whether sounds and films can be converted.
func ffmpegCheck(c config.Config) doctor.Check {
	return doctor.Check{Name: "ffmpeg", Look: func(ctx context.Context) []doctor.Finding {
		if c.FFmpegPath == "" {
			return []doctor.Finding{{Verdict: doctor.OK, Message: "none here: voice notes have to be Ogg with Opus, and sounds and videos of formats that computers refuse are not sent"}}
		}
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		version, missing, err := transcode.Version(ctx, c.FFmpegPath)
		switch {
		case err != nil:
			return []doctor.Finding{{Verdict: doctor.Warn, Message: fmt.Sprintf("ffmpeg does not run: %v", err), Remedy: "install another one, or name it in FFMPEG"}}
		case len(missing) > 0:
			return []doctor.Finding{{Verdict: doctor.Warn, Message: version + " lacks " + strings.Join(missing, ", "), Remedy: "install one that has them, such as Debian's or Alpine's"}}
		}
		return []doctor.Finding{{Verdict: doctor.OK, Message: version}}
	}}
}
