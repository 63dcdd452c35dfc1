// Package transcode turns sounds and films that strangers made into what the apps play, with
// ffmpeg.
//
// ffmpeg runs in processes of its own: with limits of time, memory and output, without the
// environment, on files alone. It reads no formats that name other files, as playlists do.
// A process that is given up is killed with all that it has started.
package transcode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/intake"
)

const (
	soundTime = 2 * time.Minute
	filmTime  = 10 * time.Minute
	// slots are the processes of a kind at once: half of them are the most of one token tree, and
	// one is BRIDGE_TOKEN's.
	slots = 2
	// maxQueued bounds how many of a token tree convert or wait for one of a kind, and waitTime how
	// long they wait.
	maxQueued = 8
	waitTime  = 2 * time.Minute
	// MaxSound limits how long a sound or a video plays that is converted. Silence compresses so
	// well that hours of it are a small file.
	MaxSound = 2 * time.Hour
	// killTime is how long the output of killed processes is waited for.
	killTime = 2 * time.Second
	// MaxTime bounds a conversion with the wait for its turn.
	MaxTime = filmTime + waitTime + killTime
)

// Options configures [New].
type Options struct {
	Program  string // of ffmpeg; see [Find]
	MaxBytes int64  // of what is made
	// Limited begins a command line of this program that calls [Become].
	Limited []string
}

// Converter converts files for token trees in turn ([intake.Semaphore]), two sounds and two films
// at a time. It is safe for concurrent use.
type Converter struct {
	options       Options
	sounds, films kind
}

// New returns a converter.
func New(o Options) *Converter {
	return &Converter{o, newKind("sounds", soundTime), newKind("films", filmTime)}
}

// Find returns the path of ffmpeg: the setting's, or that on the search path for an empty one.
// It is empty where that has none.
func Find(setting string) (path string, err error) {
	if path, err = exec.LookPath(cmp.Or(setting, "ffmpeg")); err == nil {
		return path, nil
	}
	if setting == "" {
		return "", nil
	}
	return "", err
}

// formats are those of ffmpeg that are read. They have their sounds and pictures in the file.
const formats = "mov,matroska,ogg,mp3,aac,wav,w64,flac,aiff,amr,caf,au,asf,avi,flv,mpegts,mpeg,ac3,wv"

// input returns the arguments that read a file.
func input(path string) []string {
	return []string{
		"-nostdin", "-hide_banner", "-loglevel", "quiet", "-filter_threads", "1", "-threads", "1",
		"-protocol_whitelist", "file", "-format_whitelist", formats, "-i", "file:" + path,
	}
}

// output returns the arguments that write a file without what describes it.
func (c *Converter) output(format, path string) []string {
	return []string{
		"-threads", "1", "-map_metadata", "-1", "-map_chapters", "-1", "-fflags", "+bitexact", "-flags:a", "+bitexact", "-flags:v", "+bitexact",
		"-fs", strconv.FormatInt(c.options.MaxBytes, 10), "-f", format, "-y", "file:" + path,
	}
}

// samples are the arguments that write the first sound for [loudness].
var samples = []string{"-map", "0:a:0", "-ac", "1", "-ar", "8000", "-c:a", "pcm_s16le", "-f", "s16le", "pipe:1"}

// Voice writes the first sound of a file as a voice note, Ogg with Opus, into an empty file. It
// returns the voice note's waveform.
//
// The errors of all methods are [bridge.CodeUnsupportedMedia], [bridge.CodeTooManyConnections]
// and that of ctx.
func (c *Converter) Voice(ctx context.Context, from, to string) ([]byte, error) {
	var heard loudness
	args := append(input(from), "-map", "0:a:0", "-ac", "1", "-ar", "48000", "-c:a", "libopus", "-b:a", "32k", "-application", "voip")
	args = append(append(args, c.output("ogg", to)...), samples...)
	if err := c.run(ctx, &c.sounds, args, &heard); err != nil {
		return nil, err
	}
	if heard.isEmpty() {
		return nil, errNothing()
	}
	return heard.bars(), c.check(to)
}

// Waveform returns that of a sound.
func (c *Converter) Waveform(ctx context.Context, path string) ([]byte, error) {
	var heard loudness
	err := c.run(ctx, &c.sounds, append(input(path), samples...), &heard)
	return heard.bars(), err
}

// upright is the filter that makes square pixels, of which a picture has at most 1280 in width
// and height. ffmpeg has turned it already.
const upright = "scale=w='max(2,iw*sar)':h=ih,scale=w='min(1280,iw)':h='min(1280,ih)':force_original_aspect_ratio=decrease:force_divisible_by=2,setsar=1,format=yuv420p"

// Film writes the first film of a file, with its sound, as MP4 with H.264 and AAC into an empty
// file.
func (c *Converter) Film(ctx context.Context, from, to string) error {
	args := append(input(from), "-map", "0:V:0", "-map", "0:a:0?", "-vf", upright,
		"-c:v", "libx264", "-preset", "veryfast", "-crf", "26", "-maxrate", "2500k", "-bufsize", "5000k", "-profile:v", "high",
		"-c:a", "aac", "-b:a", "96k", "-ac", "2", "-ar", "44100", "-movflags", "+faststart")
	return c.make(ctx, &c.films, append(args, c.output("mp4", to)...), to)
}

// check refuses a file at whose largest size ffmpeg has stopped.
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

func errNothing() error {
	return failed("the file cannot be converted: nothing in it can be played; check it, or send it as a document")
}

func failed(format string, args ...any) *bridge.Error {
	return bridge.Fail(bridge.CodeUnsupportedMedia, format, args...)
}

// kind bounds the processes of a kind.
type kind struct {
	noun  string
	time  time.Duration // of a process
	slots *intake.Semaphore
}

func newKind(noun string, most time.Duration) kind {
	return kind{noun, most, intake.NewSemaphore(intake.Limits{Slots: slots, Queued: maxQueued, Wait: waitTime})}
}

// begin waits for a slot, which release gives back.
func (k *kind) begin(ctx context.Context) (release func(), err error) {
	release, err = k.slots.Acquire(ctx)
	if errors.Is(err, intake.ErrNoSlot) {
		busy := bridge.Fail(bridge.CodeTooManyConnections, "too many other %s are being converted: try again later", k.noun)
		busy.RetryAfter = 30 * time.Second
		return release, busy
	}
	return release, err
}

// run runs ffmpeg to its end.
func (c *Converter) run(ctx context.Context, k *kind, args []string, heard *loudness) error {
	release, err := k.begin(ctx)
	defer release()
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, k.time)
	defer cancel()
	process := c.command(limited, k.time, args)
	process.Env = []string{} // and none of ours
	process.WaitDelay = killTime
	if heard != nil {
		process.Stdout, heard.stop = heard, cancel
	}
	err = process.Run() // what ffmpeg says may quote the file, and is not for the log
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case heard != nil && heard.isTooLong():
		return failed("the sound is longer than %v: send a shorter one", MaxSound).Because(err)
	case limited.Err() != nil:
		return failed("the file takes longer than %v to convert: send a shorter one", k.time).Because(err)
	}
	return failed("the file cannot be converted: it is damaged, too large, or of a kind that ffmpeg does not read; check it, or send it as a document").Because(fmt.Errorf("ffmpeg: %w", err))
}

// Version returns how ffmpeg names its version, and which of the coders that are needed it lacks.
func Version(ctx context.Context, program string) (version string, missing []string, err error) {
	ask := func(arg string) (string, error) {
		command := exec.CommandContext(ctx, program, "-hide_banner", arg)
		command.Env, command.WaitDelay = []string{}, killTime
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
