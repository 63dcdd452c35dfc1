package transcode

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/media/mediatest"
)

// TestMain lets the tests' own program be the one that limits itself.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "limited" {
		fmt.Fprintln(os.Stderr, Become(os.Args[2:]))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func converter(t *testing.T, program string) *Converter {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return New(Options{Program: program, MaxBytes: 1 << 20, Limited: []string{self, "limited"}})
}

// realOne returns a converter with the system's ffmpeg, and a function that has it make a file.
func realOne(t *testing.T) (c *Converter, makes func(name string, args ...string) string) {
	t.Helper()
	program, err := Find("")
	if err != nil {
		t.Fatal(err)
	}
	if program == "" {
		t.Skip("ffmpeg is not installed")
	}
	dir := t.TempDir()
	return converter(t, program), func(name string, args ...string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		line := append(append([]string{"-nostdin", "-v", "error", "-y"}, args...), path)
		if out, err := exec.CommandContext(t.Context(), program, line...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		return path
	}
}

// fake returns a converter whose ffmpeg is a script. Of videos, $out is the file that it makes.
func fake(t *testing.T, script string) *Converter {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("processes are limited on Linux")
	}
	path := filepath.Join(t.TempDir(), "ffmpeg")
	text := "#!/bin/sh\nfor last; do :; done; out=${last#file:}\n" + script + "\n"
	mediatest.WriteProgram(t, path, []byte(text))
	return converter(t, path)
}

func empty(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// tone is two seconds of sound, of which the second is silent.
var tone = []string{"-f", "lavfi", "-i", "aevalsrc='if(lt(t,1),0.5*sin(2760*t),0)':s=48000:d=2"}

func TestVoice_OfEachKindOfSound(t *testing.T) {
	c, makes := realOne(t)
	dir := t.TempDir()
	codings := map[string][]string{
		"tone.mp3":  {"-c:a", "libmp3lame"},
		"tone.m4a":  {"-c:a", "aac"},
		"tone.aac":  {"-c:a", "aac"},
		"tone.wav":  {},
		"tone.flac": {},
		"tone.aiff": {},
		"tone.webm": {"-c:a", "libopus", "-ac", "2"},
		"tone.mp4":  {"-c:a", "libopus"},
		"tone.caf":  {"-c:a", "pcm_s16be"},
		"tone.mka":  {"-c:a", "libvorbis"},
		"tone.ogg":  {"-c:a", "libvorbis"},
	}
	all := slices.Clone(tone) // one program makes all files, because it takes longer to start than to make them
	for name, coding := range codings {
		all = append(append(append(all, "-metadata", "title=a secret"), coding...), filepath.Join(dir, name))
	}
	makes("last.wav", all...)
	for name := range codings {
		t.Run(name, func(t *testing.T) {
			out := empty(t)
			waveform, err := c.Voice(t.Context(), filepath.Join(dir, name), out)
			if err != nil {
				t.Fatal(err)
			}
			made := read(t, out)
			head := bytes.Index(made, []byte("OpusHead"))
			if !bytes.HasPrefix(made, []byte("OggS")) || head < 0 || made[head+9] != 1 {
				t.Errorf("made is %q", made[:min(len(made), 64)])
			}
			if bytes.Contains(made, []byte("secret")) {
				t.Error("what described the sound is still there")
			}
			if len(waveform) != bars || waveform[10] < 80 || waveform[50] > 5 {
				t.Errorf("the waveform is %v", waveform)
			}
			if name != "tone.mp3" { // all notes are alike
				return
			}
			again, err := c.Waveform(t.Context(), out)
			if err != nil || len(again) != bars || again[10] < 80 || again[50] > 5 {
				t.Errorf("that of the voice note is %v, %v", again, err)
			}
		})
	}
}

func TestFilm_IsWhatTheAppsPlay(t *testing.T) {
	c, makes := realOne(t)
	film := func(size string) []string {
		return []string{"-f", "lavfi", "-i", "testsrc=s=" + size + ":d=1:r=5", "-f", "lavfi", "-i", "sine=d=1"}
	}
	for name, made := range map[string]string{
		"VP8 in WebM":            makes("a.webm", append(film("321x241"), "-c:v", "libvpx", "-c:a", "libvorbis")...),
		"MPEG-4 in AVI":          makes("a.avi", append(film("320x240"), "-c:v", "mpeg4", "-c:a", "libmp3lame")...),
		"H.264 of ten bits, MKV": makes("a.mkv", append(film("322x182"), "-c:v", "libx264", "-pix_fmt", "yuv444p10le")...),
		"without sound":          makes("b.mkv", "-f", "lavfi", "-i", "testsrc=s=64x48:d=1:r=5", "-c:v", "mpeg4"),
	} {
		t.Run(name, func(t *testing.T) {
			out := empty(t)
			if err := c.Video(t.Context(), made, out); err != nil {
				t.Fatal(err)
			}
			film := read(t, out)
			head, content := bytes.Index(film, []byte("moov")), bytes.Index(film, []byte("mdat"))
			if string(film[4:8]) != "ftyp" || head < 0 || head > content || !bytes.Contains(film, []byte("avc1")) {
				t.Errorf("made is %q…", film[:min(len(film), 64)])
			}
			if hasSound := bytes.Contains(film, []byte("mp4a")); hasSound != (name != "without sound") {
				t.Errorf("sound: %v", hasSound)
			}
		})
	}
}

// A file that names others makes ffmpeg read none of them.
func TestConverter_HostileFiles(t *testing.T) {
	c, makes := realOne(t)
	secret := makes("secret.mp3", append(append([]string{}, tone...), "-c:a", "libmp3lame")...)
	for name, content := range map[string]string{
		"HLS":              "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:2,\nfile://" + secret + "\n#EXT-X-ENDLIST\n",
		"HLS, by a path":   "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:2,\n" + secret + "\n#EXT-X-ENDLIST\n",
		"HLS, concat":      "#EXTM3U\n#EXTINF:2,\nconcat:" + secret + "|" + secret + "\n#EXT-X-ENDLIST\n",
		"ffconcat":         "ffconcat version 1.0\nfile '" + secret + "'\n",
		"DASH":             `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT2S"><Period><AdaptationSet mimeType="audio/mpeg"><Representation id="1" bandwidth="1"><BaseURL>` + secret + `</BaseURL></Representation></AdaptationSet></Period></MPD>`,
		"SDP":              "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio 5004 RTP/AVP 0\n",
		"a picture":        "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00",
		"subtitles":        "[Script Info]\nScriptType: v4.00+\n[Events]\nDialogue: 0,0:00:00.00,0:00:01.00,Default,,0,0,0,,x\n",
		"nothing":          "",
		"a GIF of 4096 MP": "GIF89a\xff\xff\xff\xff\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\xff\xff\xff\xff\x00\x02\x02\x44\x01\x00,\x00\x00\x00\x00\xff\xff\xff\xff\x00\x02\x02\x44\x01\x00;",
		"a broken MP3":     "\xff\xfb\x90\x00" + strings.Repeat("x", 500),
		"a torn RIFF":      "RIFF\xff\xff\xff\xffWAVEfmt ",
		"a silent WAVE":    "RIFF\x24\x3e\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x00\x3e\x00\x00",
		"an endless WAVE":  "RIFF\xff\xff\xff\xffWAVEfmt \x10\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00data\xff\xff\xff\xff",
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "hostile")
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if waveform, err := c.Voice(t.Context(), path, empty(t)); bridge.CodeOf(err) != bridge.CodeUnsupportedMedia {
				t.Errorf("as a voice note: %v, %v", waveform, err)
			}
			if err := c.Video(t.Context(), path, empty(t)); bridge.CodeOf(err) != bridge.CodeUnsupportedMedia {
				t.Errorf("as a film: %v", err)
			}
			if !slices.Contains([]string{"HLS", "DASH", "a picture", "a GIF of 4096 MP", "nothing"}, name) {
				return // what has no picture is refused as above
			}
			if err := c.GIF(t.Context(), path, empty(t)); bridge.CodeOf(err) != bridge.CodeUnsupportedMedia {
				t.Errorf("as a GIF: %v", err)
			}
			if still, err := c.Still(t.Context(), path, 100); bridge.CodeOf(err) != bridge.CodeUnsupportedMedia {
				t.Errorf("a still of %d bytes, %v", len(still), err)
			}
		})
	}
}

// A still that is no small picture is not used, and a program that does not stop writing is killed.
func TestStill_OfAProgramThatMisbehaves(t *testing.T) {
	for name, script := range map[string]string{"endless": "exec yes", "no picture": "echo words", "nothing": "true", "too large a picture": "printf '\\377\\330\\377\\300\\000\\013\\010\\377\\377\\377\\377\\001\\001\\021\\000'"} {
		still, err := fake(t, script).Still(t.Context(), "film", 100)
		if err == nil || still != nil {
			t.Errorf("%s: a still of %d bytes, %v", name, len(still), err)
		} else if strings.Contains(err.Error(), "takes longer") {
			t.Errorf("%s: it was read until its time was over: %v", name, err)
		}
	}
}

// What would become larger than allowed is refused, not cut.
func TestVoice_TooLarge(t *testing.T) {
	c, makes := realOne(t)
	c.options.MaxBytes = 4 << 10
	_, err := c.Voice(t.Context(), makes("noise.wav", "-f", "lavfi", "-i", "anoisesrc=d=10"), empty(t))
	if bridge.CodeOf(err) != bridge.CodeUnsupportedMedia || !strings.Contains(err.Error(), "MEDIA_MAX_BYTES") {
		t.Error(err)
	}
}

// running reports whether a process still runs.
func running(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return false
	}
	state := stat[bytes.LastIndexByte(stat, ')')+2:]
	return state[0] != 'Z'
}

// hanging returns a converter whose ffmpeg never ends, and neither does its child, and a
// function that returns the ids of both.
func hanging(t *testing.T) (c *Converter, pids func() []string) {
	t.Helper()
	started := filepath.Join(t.TempDir(), "started")
	c = fake(t, `sleep 1000 & echo $$ $! > `+started+`.new; mv `+started+`.new `+started+`; wait`)
	return c, func() []string {
		for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			if data, err := os.ReadFile(started); err == nil {
				return strings.Fields(string(data))
			}
		}
		return nil
	}
}

func allEnd(t *testing.T, pids []string) {
	t.Helper()
	if len(pids) != 2 {
		t.Fatalf("processes %v", pids)
	}
	for _, pid := range pids {
		for deadline := time.Now().Add(10 * time.Second); running(pid); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("process %s still runs", pid)
			}
		}
	}
}

func TestConverter_WhatHangsIsKilledWithItsChildren(t *testing.T) {
	c, pids := hanging(t)
	c.videos.time = 3 * time.Second
	err := c.Video(t.Context(), "in", empty(t))
	if bridge.CodeOf(err) != bridge.CodeUnsupportedMedia || !strings.Contains(err.Error(), "longer than 3s") {
		t.Error(err)
	}
	allEnd(t, pids())
}

func TestConverter_WhatIsCancelledIsKilledWithItsChildren(t *testing.T) {
	c, pids := hanging(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := c.Voice(ctx, "in", "out")
		ended <- err
	}()
	both := pids()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	allEnd(t, both)
}

// A token tree converts one file at a time, and so many wait; BRIDGE_TOKEN has a slot of its own.
func TestConverter_TokenTreesTakeTurns(t *testing.T) {
	c, pids := hanging(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, maxQueued)
	one := bridge.WithTree(ctx, 7)
	film := func() { ended <- c.Video(one, "in", "out") }
	go film()
	first := pids()
	refused := make(chan error, 1)
	for range maxQueued { // one of them is too many
		go func() {
			err := c.Video(one, "in", "out")
			if bridge.CodeOf(err) == bridge.CodeTooManyConnections {
				refused <- err
				return
			}
			ended <- err
		}()
	}
	<-refused
	c.videos.time = time.Millisecond
	if err := c.Video(ctx, "in", "out"); bridge.CodeOf(err) != bridge.CodeUnsupportedMedia || !strings.Contains(err.Error(), "takes longer") {
		t.Errorf("of BRIDGE_TOKEN: %v", err)
	}
	cancel()
	for range maxQueued {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	allEnd(t, first)
}

// A sound that plays for hours is given up, however small its file is.
func TestWaveform_TooLong(t *testing.T) {
	c, makes := realOne(t)
	flac := makes("silence.flac", "-f", "lavfi", "-i", "anullsrc=r=1000:cl=mono", "-t", strconv.Itoa(int(MaxLength.Seconds())+60), "-c:a", "flac")
	if info, err := os.Stat(flac); err != nil || info.Size() > 2<<20 {
		t.Fatalf("%v, %v", info, err)
	}
	if _, err := c.Waveform(t.Context(), flac); bridge.CodeOf(err) != bridge.CodeUnsupportedMedia || !strings.Contains(err.Error(), "longer than 2h") {
		t.Error(err)
	}
}

func TestConverter_FailuresOfPrograms(t *testing.T) {
	for name, script := range map[string]string{
		"ends with a fault":  "exit 3",
		"makes nothing":      "exit 0",
		"writes without end": `cat /dev/zero > "$out"`,
		"is killed":          "kill -9 $$",
		"is too large":       `head -c 2000000 /dev/zero > "$out"`,
	} {
		t.Run(name, func(t *testing.T) {
			c, out := fake(t, script), empty(t)
			if err := c.Video(t.Context(), "in", out); bridge.CodeOf(err) != bridge.CodeUnsupportedMedia {
				t.Error(err)
			}
			if info, err := os.Stat(out); err != nil || info.Size() > c.options.MaxBytes+32<<20 {
				t.Errorf("%d bytes were written, %v", info.Size(), err)
			}
		})
	}
	endless := fake(t, "cat /dev/zero")
	endless.audio.time = time.Second
	if _, err := endless.Waveform(t.Context(), "in"); bridge.CodeOf(err) != bridge.CodeUnsupportedMedia {
		t.Errorf("an endless sound: %v", err)
	}
	gone := converter(t, filepath.Join(t.TempDir(), "none"))
	if err := gone.Video(t.Context(), "in", empty(t)); bridge.CodeOf(err) != bridge.CodeUnsupportedMedia {
		t.Errorf("no program: %v", err)
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if path, err := Find(""); path != "" || err != nil {
		t.Errorf("on an empty path: %q, %v", path, err)
	}
	if path, err := Find(filepath.Join(dir, "none")); path != "" || err == nil {
		t.Errorf("a wrong setting: %q, %v", path, err)
	}
	own := filepath.Join(dir, "ffmpeg")
	if err := os.WriteFile(own, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, setting := range []string{"", own} {
		if path, err := Find(setting); path != own || err != nil {
			t.Errorf("%q: %q, %v", setting, path, err)
		}
	}
}

func TestVersion(t *testing.T) {
	c, _ := realOne(t)
	version, missing, err := Version(t.Context(), c.options.Program)
	if err != nil || !strings.HasPrefix(version, "ffmpeg version ") || len(missing) != 0 {
		t.Errorf("%q, without %v, %v", version, missing, err)
	}
	poor := fake(t, `[ "$2" = -version ] && echo ffmpeg version 1 Copyright || echo ' A..... aac  x'`)
	version, missing, err = Version(t.Context(), poor.options.Program)
	if want := []string{"libopus", "libx264"}; err != nil || version != "ffmpeg version 1" || fmt.Sprint(missing) != fmt.Sprint(want) {
		t.Errorf("%q, without %v, %v", version, missing, err)
	}
}

func TestLoudness_OfAnyLengthAndPieces(t *testing.T) {
	for _, seconds := range []int{0, 1, 60, 3600} {
		var l loudness
		// The second half is loud. It is written in parts of odd lengths, of which many end within a sample.
		sound := make([]byte, seconds*16000)
		for i := len(sound)/2 + 1; i < len(sound); i += 2 {
			sound[i] = byte(0x40 - i/2&1*0x80)
		}
		for part := range slices.Chunk(sound, max(1, 2*seconds-1)) {
			if _, err := l.Write(part); err != nil {
				t.Fatal(err)
			}
		}
		got := l.bars()
		if len(got) != bars || len(l.pieces) >= maxPieces {
			t.Fatalf("%d seconds: %d bars of %d pieces", seconds, len(got), len(l.pieces))
		}
		if seconds > 0 && (got[0] != 0 || got[bars/2-2] != 0 || got[bars/2+2] != 100 || got[bars-1] != 100) {
			t.Errorf("%s seconds: %v", strconv.Itoa(seconds), got)
		}
	}
}
