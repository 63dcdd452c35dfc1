// Package transcode converts untrusted audio and video to formats that the apps play, with
// ffmpeg.
//
// ffmpeg runs in its own processes: with limits of time, memory and output, without the
// environment, on files only. It does not read formats that refer to other files, as playlists
// do. A process that is given up is killed together with its children.
package transcode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/intake"
)

const (
	audioTimeout = 2 * time.Minute
	videoTimeout = 10 * time.Minute
	// slots is the number of concurrent processes of a kind. One token tree gets at most half of
	// them, and one is reserved for BRIDGE_TOKEN.
	slots = 2
	// maxQueued limits how many conversions of a kind one token tree may run or wait for, and
	// slotTimeout how long they wait.
	maxQueued   = 8
	slotTimeout = 2 * time.Minute
	// MaxLength limits the playing time of audio and video that is converted. Silence compresses
	// so well that hours of it are a small file.
	MaxLength = 2 * time.Hour
	// killTimeout limits the wait for the output of killed processes.
	killTimeout = 2 * time.Second
	// MaxTimeout limits a conversion, including the wait for a slot.
	MaxTimeout = videoTimeout + slotTimeout + killTimeout
)

// Options configures [New].
type Options struct {
	Program  string // path of ffmpeg; see [Find]
	MaxBytes int64  // of the converted file
	// Limited is the start of a command line of this program that calls [Become].
	Limited []string
}

// Converter converts files for token trees in turn ([intake.Semaphore]), two audio files and two
// videos at a time, and takes two stills at a time. It is safe for concurrent use.
type Converter struct {
	options               Options
	audio, videos, stills kind
}

// New returns a converter.
func New(o Options) *Converter {
	return &Converter{o, newKind("audio files", audioTimeout), newKind("videos", videoTimeout), newKind("videos", StillTimeout)}
}

// Find returns the path of ffmpeg: the setting's or, if that is empty, the path found in PATH. It
// returns "" if there is none.
func Find(setting string) (path string, err error) {
	if path, err = exec.LookPath(cmp.Or(setting, "ffmpeg")); err == nil {
		return path, nil
	}
	if setting == "" {
		return "", nil
	}
	return "", err
}

// formats are the formats that ffmpeg may read. Their audio and video is in the file itself.
const formats = "mov,gif,matroska,ogg,mp3,aac,wav,w64,flac,aiff,amr,caf,au,asf,avi,flv,mpegts,mpeg,ac3,wv"

// input returns the arguments for reading a file.
func input(path string) []string {
	return []string{
		"-nostdin", "-hide_banner", "-loglevel", "quiet", "-filter_threads", "1", "-threads", "1",
		"-protocol_whitelist", "file", "-format_whitelist", formats, "-i", "file:" + path,
	}
}

// output returns the arguments for writing a file without metadata.
func (c *Converter) output(format, path string) []string {
	return []string{
		"-threads", "1", "-map_metadata", "-1", "-map_chapters", "-1", "-fflags", "+bitexact", "-flags:a", "+bitexact", "-flags:v", "+bitexact",
		"-fs", strconv.FormatInt(c.options.MaxBytes, 10), "-f", format, "-y", "file:" + path,
	}
}

// samples are the arguments for writing the first audio stream for [loudness].
var samples = []string{"-map", "0:a:0", "-ac", "1", "-ar", "8000", "-c:a", "pcm_s16le", "-f", "s16le", "pipe:1"}

// Voice converts the first audio stream of a file to a voice note (Ogg with Opus) in an empty
// file. It returns the voice note's waveform.
//
// The errors of all methods are [bridge.CodeUnsupportedMedia], [bridge.CodeTooManyConnections]
// and the error of ctx.
func (c *Converter) Voice(ctx context.Context, from, to string) ([]byte, error) {
	var heard loudness
	args := append(input(from), "-map", "0:a:0", "-ac", "1", "-ar", "48000", "-c:a", "libopus", "-b:a", "32k", "-application", "voip")
	args = append(append(args, c.output("ogg", to)...), samples...)
	if err := c.run(ctx, &c.audio, args, &heard); err != nil {
		return nil, err
	}
	if heard.isEmpty() {
		return nil, errNothing()
	}
	return heard.bars(), c.check(to)
}

// Waveform returns the waveform of a file's first audio stream.
func (c *Converter) Waveform(ctx context.Context, path string) ([]byte, error) {
	var heard loudness
	err := c.run(ctx, &c.audio, append(input(path), samples...), &heard)
	return heard.bars(), err
}

// scaled returns the filter that makes pixels square and limits the width and height of a picture. ffmpeg
// has already rotated the picture.
func scaled(side int) string {
	most := strconv.Itoa(side)
	return "scale=w='max(2,iw*sar)':h=ih,scale=w='min(" + most + ",iw)':h='min(" + most + ",ih)':force_original_aspect_ratio=decrease:force_divisible_by=2,setsar=1"
}

// largestSide limits the width and height of a converted video.
const largestSide = 1280

// coded is the filter that gives pixels the form that the apps play.
const coded = ",format=yuv420p"

// Video converts the first video stream of a file, with its audio, to MP4 with H.264 and AAC in
// an empty file.
func (c *Converter) Video(ctx context.Context, from, to string) error {
	args := append(input(from), "-map", "0:V:0", "-map", "0:a:0?", "-vf", scaled(largestSide)+coded, "-c:a", "aac", "-b:a", "96k", "-ac", "2", "-ar", "44100")
	return c.encodeVideo(ctx, args, to)
}

// onWhite is the filter that replaces transparency by white.
const onWhite = ",format=rgba,split[above][below];[below]lutrgb=r=255:g=255:b=255:a=255[white];[white][above]overlay=format=rgb"

// GIF converts an animated GIF to MP4 with H.264, without sound, in an empty file.
func (c *Converter) GIF(ctx context.Context, from, to string) error {
	return c.encodeVideo(ctx, append(input(from), "-map", "0:v:0", "-vf", scaled(largestSide)+onWhite+coded), to)
}

// encodeVideo encodes a video as H.264 in MP4.
func (c *Converter) encodeVideo(ctx context.Context, args []string, to string) error {
	args = append(args, "-c:v", "libx264", "-preset", "veryfast", "-crf", "26", "-maxrate", "2500k", "-bufsize", "5000k", "-profile:v", "high", "-movflags", "+faststart")
	return c.make(ctx, &c.videos, append(args, c.output("mp4", to)...), to)
}

// check refuses a file that has reached the largest size, at which ffmpeg stops.
func (c *Converter) check(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.Size() == 0:
		return errNothing()
	case info.Size() >= c.options.MaxBytes:
		return failed("converted, the file would be larger than the %d bytes that MEDIA_MAX_BYTES allows: send a shorter one", c.options.MaxBytes)
	}
	return nil
}

func errNothing() *bridge.Error {
	return failed("the file cannot be converted: nothing in it can be played; check it, or send it as a document")
}

func failed(format string, args ...any) *bridge.Error {
	return bridge.Fail(bridge.CodeUnsupportedMedia, format, args...)
}

// kind limits the processes for one kind of file.
type kind struct {
	noun  string
	time  time.Duration // limit of one process
	slots *intake.Semaphore
}

func newKind(noun string, most time.Duration) kind {
	return kind{noun, most, intake.NewSemaphore(intake.Limits{Slots: slots, Queued: maxQueued, Wait: slotTimeout})}
}

// acquire waits for a slot. Call release to free it.
func (k *kind) acquire(ctx context.Context) (release func(), err error) {
	release, err = k.slots.Acquire(ctx)
	if errors.Is(err, intake.ErrNoSlot) {
		busy := bridge.Fail(bridge.CodeTooManyConnections, "too many other %s are being converted: try again later", k.noun)
		busy.RetryAfter = 30 * time.Second
		return release, busy
	}
	return release, err
}

// run runs ffmpeg to its end. out gets its output, and may be nil.
func (c *Converter) run(ctx context.Context, k *kind, args []string, out io.Writer) error {
	release, err := k.acquire(ctx)
	defer release()
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, k.time)
	defer cancel()
	process := c.command(limited, k.time, args)
	process.Env = []string{} // not ours
	process.WaitDelay = killTimeout
	heard, isHeard := out.(*loudness)
	if isHeard {
		heard.stop = cancel
	}
	process.Stdout = out
	err = process.Run() // ffmpeg's output may quote the file, so it is not logged
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case isHeard && heard.isTooLong():
		return failed("the recording is longer than %v: send a shorter one", MaxLength).Because(err)
	case limited.Err() != nil:
		return failed("the file takes longer than %v to convert: send a shorter one", k.time).Because(err)
	}
	return failed("the file cannot be converted: it is damaged, too large, or of a kind that ffmpeg does not read; check it, or send it as a document").Because(fmt.Errorf("ffmpeg: %w", err))
}

// Version returns ffmpeg's version, and the required codecs that it lacks.
func Version(ctx context.Context, program string) (version string, missing []string, err error) {
	ask := func(arg string) (string, error) {
		command := exec.CommandContext(ctx, program, "-hide_banner", arg)
		command.Env, command.WaitDelay = []string{}, killTimeout
		answer, err := command.Output()
		return string(answer), err
	}
	if version, err = ask("-version"); err != nil {
		return "", nil, err
	}
	version, _, _ = strings.Cut(version, "\n")
	version, _, _ = strings.Cut(version, " Copyright")
	coders, err := ask("-encoders")
	if err != nil {
		return "", nil, err
	}
	for _, needed := range []string{"libopus", "libx264", "aac"} {
		if !strings.Contains(coders, " "+needed+" ") {
			missing = append(missing, needed)
		}
	}
	return version, missing, nil
}
