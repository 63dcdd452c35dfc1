package transcode

import (
	"bytes"
	"context"
	"errors"
	"image/jpeg"
	"strconv"
	"time"
)

const (
	// StillTimeout limits the taking of a still.
	StillTimeout = 10 * time.Second
	// maxStill limits a still in bytes. One of 100 pixels has about 3 KB.
	maxStill = 64 << 10
	// looked is the number of frames at the beginning of a video of which the most typical one is
	// taken: the first one is often black.
	looked = 50
)

// Length measures how long a file's first audio stream plays.
func (c *Converter) Length(ctx context.Context, path string) (time.Duration, error) {
	var heard loudness
	err := c.run(ctx, &c.audio, append(input(path), samples...), &heard)
	return heard.length(), err
}

// Still returns a JPEG of a video, upright, whose longer side has at most so many pixels.
func (c *Converter) Still(ctx context.Context, path string, side int) ([]byte, error) {
	filter := scaled(side) + ",thumbnail=n=" + strconv.Itoa(looked)
	args := append(input(path), "-map", "0:V:0", "-vf", filter, "-frames:v", "1", "-pix_fmt", "yuvj420p", "-q:v", "5",
		"-threads", "1", "-flags:v", "+bitexact", "-c:v", "mjpeg", "-f", "mjpeg", "pipe:1")
	var still buffer
	if err := c.run(ctx, &c.stills, args, &still); err != nil {
		return nil, err
	}
	head, err := jpeg.DecodeConfig(bytes.NewReader(still.data))
	if err != nil || max(head.Width, head.Height) > side {
		return nil, errNothing().Because(err)
	}
	return still.data, nil
}

// buffer holds at most [maxStill] bytes. It does not embed [bytes.Buffer], whose ReadFrom [io.Copy]
// would call in place of Write.
type buffer struct{ data []byte }

// Write implements io.Writer.
func (b *buffer) Write(p []byte) (int, error) {
	if len(b.data)+len(p) > maxStill {
		return 0, errors.New("the still is too large")
	}
	b.data = append(b.data, p...)
	return len(p), nil
}
