package transcode

import "context"

// Container is a container format. Streams that the apps can play are copied into it.
type Container string

// These are the containers of videos, and of audio in AAC or Opus.
const (
	MP4 Container = "mp4"
	M4A Container = "ipod" // as ffmpeg names it
	Ogg Container = "ogg"
)

// Remux copies the first video stream of a file with its audio, or its first audio stream alone,
// into an empty file in another container. It does not re-encode them.
func (c *Converter) Remux(ctx context.Context, from, to string, container Container) error {
	k, streams := &c.audio, []string{"-map", "0:a:0"}
	if container == MP4 {
		k, streams = &c.videos, []string{"-map", "0:V:0", "-map", "0:a:0?"}
	}
	args := append(append(input(from), streams...), "-c", "copy")
	if container != Ogg {
		args = append(args, "-movflags", "+faststart")
	}
	return c.make(ctx, k, append(args, c.output(string(container), to)...), to)
}

// Audio writes the first audio stream of a file as AAC in MP4 into an empty file.
func (c *Converter) Audio(ctx context.Context, from, to string) error {
	args := append(input(from), "-map", "0:a:0", "-af", "aformat=channel_layouts=mono|stereo", "-c:a", "aac", "-b:a", "128k", "-ar", "44100", "-movflags", "+faststart")
	return c.make(ctx, &c.audio, append(args, c.output(string(M4A), to)...), to)
}

// make runs ffmpeg and checks the file that it makes.
func (c *Converter) make(ctx context.Context, k *kind, args []string, to string) error {
	if err := c.run(ctx, k, args, nil); err != nil {
		return err
	}
	return c.check(to)
}
