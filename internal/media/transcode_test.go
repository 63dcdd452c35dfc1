package media

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/demo"
	"bridged/internal/media/mediatest"
	"bridged/internal/media/probe"
	"bridged/internal/transcode"
)

// TestMain lets the tests' own program be the one that becomes ffmpeg.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "limited" {
		fmt.Fprintln(os.Stderr, transcode.Become(os.Args[2:]))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// withFFmpeg gives a preparer the system's ffmpeg.
func withFFmpeg(t *testing.T) (w *web, makes func(args ...string) []byte) {
	t.Helper()
	program, err := transcode.Find("")
	if err != nil {
		t.Fatal(err)
	}
	if program == "" {
		t.Skip("ffmpeg is not installed")
	}
	w = newWeb(t)
	w.opts.Converter = converter(t, program)
	return w, func(args ...string) []byte {
		t.Helper()
		path := filepath.Join(t.TempDir(), "made")
		line := append(append([]string{"-nostdin", "-v", "error", "-y"}, args...), path)
		if out, err := exec.CommandContext(t.Context(), program, line...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		made, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
}

func converter(t *testing.T, program string) *transcode.Converter {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return transcode.New(transcode.Options{Program: program, MaxBytes: 4 << 20, Limited: []string{self, "limited"}})
}

// prepared prepares a file that a caller sends, and returns what it has become.
func (w *web) prepared(file []byte, contentType string, req Request) (bridge.File, []byte, error) {
	w.t.Helper()
	defer mediatest.WantOnly(w.t, w.dir, 0)
	received, err := w.Receive(w.t.Context(), Incoming{From: bytes.NewReader(file), Declared: int64(len(file))})
	if err != nil {
		w.t.Fatal(err)
	}
	defer received.Close()
	f, err := w.PrepareReceived(w.t.Context(), req, received, "file", contentType)
	if err != nil {
		return f, nil, err
	}
	become, err := os.ReadFile(f.Path)
	if err != nil || f.Size != int64(len(become)) {
		w.t.Errorf("%d bytes, described as %d, %v", len(become), f.Size, err)
	}
	return f, become, nil
}

var (
	threeSeconds = []string{"-f", "lavfi", "-i", "aevalsrc='if(lt(t,1.5),0.5*sin(2760*t),0)':s=48000:d=3"}
	voiceNote    = Request{Type: bridge.MediaAudio, PTT: true}
	page         = []byte("<!DOCTYPE html><html><body>Please log in</body></html>")
	shown        = Request{Type: bridge.MediaVideo, Convert: true}
)

func TestTranscode_AnySoundIsAVoiceNote(t *testing.T) {
	w, makes := withFFmpeg(t)
	dir := t.TempDir()
	sounds := map[string]struct {
		args        []string
		contentType string
		mimeType    string
	}{
		"MP3":          {[]string{"-f", "mp3"}, "audio/mpeg", "audio/mpeg"},
		"M4A":          {[]string{"-f", "ipod"}, "audio/mp4", ""},
		"AAC":          {[]string{"-f", "adts"}, "audio/aac", ""},
		"WAV":          {[]string{"-f", "wav"}, "", ""},
		"FLAC":         {[]string{"-f", "flac"}, "audio/flac", ""},
		"Opus in WebM": {[]string{"-c:a", "libopus", "-f", "webm"}, "audio/webm;codecs=opus", ""},
		"Opus in MP4":  {[]string{"-c:a", "libopus", "-f", "mp4"}, "video/mp4", ""},
		"CAF":          {[]string{"-f", "caf"}, "application/octet-stream", ""},
		"AMR":          {[]string{"-c:a", "pcm_alaw", "-f", "au"}, "", ""},
		"Vorbis":       {[]string{"-c:a", "libvorbis", "-f", "ogg"}, "audio/ogg", "audio/ogg"},
	}
	all := slices.Clone(threeSeconds) // one program makes all files, because it takes longer to start than to make them
	for name, c := range sounds {
		all = append(append(all, c.args...), filepath.Join(dir, name))
	}
	makes(append(all, "-f", "wav")...)
	for name, c := range sounds {
		t.Run(name, func(t *testing.T) {
			w.t = t
			req := voiceNote
			req.MimeType = c.mimeType
			if err := w.CheckReceived(req); err != nil {
				t.Fatal(err)
			}
			file, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			f, become, err := w.prepared(file, c.contentType, req)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.HasPrefix(become, []byte("OggS")) || f.MimeType != bridge.VoiceType || f.Seconds != 3 || !f.PTT {
				t.Errorf("became %+v", f)
			}
			if len(f.Waveform) != 64 || f.Waveform[10] < 80 || f.Waveform[55] > 5 {
				t.Errorf("the waveform is %v", f.Waveform)
			}
		})
	}
}

// A voice note stays as it is, and its waveform is heard: that of a constant bit rate, too.
func TestTranscode_VoiceNotesStay(t *testing.T) {
	w, makes := withFFmpeg(t)
	file := makes(append(slices.Clone(threeSeconds), "-c:a", "libopus", "-vbr", "off", "-ac", "2", "-f", "ogg")...)
	f, become, err := w.prepared(file, "audio/ogg", voiceNote)
	if err != nil || !bytes.Equal(become, file) || f.Waveform[10] < 80 || f.Waveform[55] > 5 {
		t.Errorf("became %d bytes of %d with the waveform %v, %v", len(become), len(file), f.Waveform, err)
	}
	w.opts.Converter = converter(t, "/nowhere/ffmpeg")
	if f, _, err := w.prepared(file, "audio/ogg", voiceNote); err != nil || len(f.Waveform) != 64 {
		t.Errorf("with an ffmpeg that fails: %v, %v", f.Waveform, err)
	}
}

func TestTranscode_FilmsAreShown(t *testing.T) {
	w, makes := withFFmpeg(t)
	film := []string{"-f", "lavfi", "-i", "testsrc=s=1601x901:d=2:r=2", "-f", "lavfi", "-i", "sine=d=2"}
	webm := makes(append(slices.Clone(film), "-c:v", "libvpx", "-deadline", "realtime", "-c:a", "libopus", "-f", "webm")...)
	f, become, err := w.prepared(webm, "video/webm", shown)
	if err != nil || f.Width != 1280 || f.Height != 720 || f.Seconds != 2 || f.MimeType != "video/mp4" {
		t.Fatalf("WebM became %+v, %v", f, err)
	}
	// What has become of it needs no more converting, also if something else would convert it.
	w.opts.Converter = converter(t, "/nowhere/ffmpeg")
	if again, same, err := w.prepared(become, "video/mp4", shown); err != nil || !bytes.Equal(same, become) || again.Width != 1280 {
		t.Errorf("again: %+v, %v", again, err)
	}
	w.opts.Converter = nil
	if _, same, err := w.prepared(become, "video/quicktime", shown); err != nil || !bytes.Equal(same, become) {
		t.Errorf("again, without ffmpeg: %v", err)
	}
}

// TestTranscode_AnimatedGIFs: they become videos that the apps repeat, with white where they are transparent.
func TestTranscode_AnimatedGIFs(t *testing.T) {
	w, makes := withFFmpeg(t)
	moving := gif.GIF{Delay: []int{50, 50, 50}, Disposal: []byte{gif.DisposalBackground, gif.DisposalBackground, gif.DisposalBackground}}
	for x := range 3 {
		frame := image.NewPaletted(image.Rect(0, 0, 61, 41), color.Palette{color.Transparent, color.RGBA{R: 255, A: 255}})
		draw.Draw(frame, image.Rect(20*x, 0, 20*x+20, 41), image.NewUniform(color.RGBA{R: 255, A: 255}), image.Point{}, draw.Src)
		moving.Image = append(moving.Image, frame)
	}
	var file bytes.Buffer
	if err := gif.EncodeAll(&file, &moving); err != nil {
		t.Fatal(err)
	}
	for _, req := range []Request{{Type: bridge.MediaImage, Caption: "look", MimeType: "image/gif"}, {Type: bridge.MediaVideo, Caption: "look", ViewOnce: true}} {
		f, film, err := w.prepared(file.Bytes(), "image/gif", req)
		if err != nil {
			t.Fatal(err)
		}
		f.Path, f.Size, f.Thumbnail = "", 0, nil
		if diff := cmp.Diff(bridge.File{Type: bridge.MediaVideo, MimeType: "video/mp4", GIF: true, Caption: "look", ViewOnce: req.ViewOnce, Seconds: 2, Width: 60, Height: 40}, f); diff != "" {
			t.Errorf("%s (-want +got):\n%s", req.Type, diff)
		}
		path := filepath.Join(t.TempDir(), "film.mp4")
		if err := os.WriteFile(path, film, 0o600); err != nil {
			t.Fatal(err)
		}
		first, err := png.Decode(bytes.NewReader(makes("-i", path, "-frames:v", "1", "-c:v", "png", "-f", "image2pipe")))
		if err != nil {
			t.Fatal(err)
		}
		if red, white := first.At(8, 20), first.At(48, 20); !near(red, color.RGBA{R: 255, A: 255}) || !near(white, color.White) {
			t.Errorf("the first frame has %v and %v", red, white)
		}
	}
	received, err := w.Receive(t.Context(), Incoming{From: bytes.NewReader(file.Bytes()), Declared: int64(file.Len())})
	if err != nil {
		t.Fatal(err)
	}
	kind, err := w.TypeOf(received, true)
	received.Close()
	if kind != bridge.MediaVideo || err != nil {
		t.Errorf("without a type it is %s, %v", kind, err)
	}
	if f, _, err := w.prepared(makes("-f", "lavfi", "-i", "testsrc=s=64x48:d=1:r=5", "-pix_fmt", "yuv420p", "-f", "mp4"), "", Request{Type: bridge.MediaVideo, GIF: true}); err != nil || !f.GIF {
		t.Errorf("a video as a GIF: %+v, %v", f, err)
	}
}

func TestTranscode_FilmsKeepTheirRotation(t *testing.T) {
	w, makes := withFFmpeg(t)
	path := filepath.Join(t.TempDir(), "film.mp4")
	lying := makes("-f", "lavfi", "-i", "testsrc=s=320x180:d=1:r=5", "-c:v", "mpeg4", "-f", "mp4")
	if err := os.WriteFile(path, lying, 0o600); err != nil {
		t.Fatal(err)
	}
	standing := makes("-i", path, "-c", "copy", "-metadata:s:v:0", "rotate=90", "-f", "mp4")
	f, _, err := w.prepared(standing, "video/mp4", shown)
	still, _ := jpeg.DecodeConfig(bytes.NewReader(f.Thumbnail))
	if err != nil || f.Width != 180 || f.Height != 320 || still.Width != 56 || still.Height != 100 {
		t.Errorf("became %d by %d, with a thumbnail of %d by %d, %v", f.Width, f.Height, still.Width, still.Height, err)
	}
}

func TestTranscode_TheSoundOfAFilm(t *testing.T) {
	w, makes := withFFmpeg(t)
	film := makes(append(slices.Clone(threeSeconds), "-f", "lavfi", "-i", "testsrc=s=64x48:d=3:r=5", "-c:v", "libx264", "-f", "mp4")...)
	if f, _, err := w.prepared(film, "video/mp4", voiceNote); err != nil || f.Seconds != 3 || f.MimeType != bridge.VoiceType {
		t.Errorf("became %+v, %v", f, err)
	}
}

// What ffmpeg cannot read, or must not, is refused as it is without ffmpeg.
func TestTranscode_Refusals(t *testing.T) {
	w, makes := withFFmpeg(t)
	song := makes(append(slices.Clone(threeSeconds), "-f", "mp3")...)
	silent := makes("-f", "lavfi", "-i", "testsrc=s=64x48:d=1:r=5", "-c:v", "libvpx", "-f", "webm")
	for name, c := range map[string]struct {
		file []byte
		req  Request
		says string
	}{
		"a picture as voice note":        {mediatest.PNG(t, mediatest.Quarters(4, 4)), voiceNote, "not audio"},
		"a playlist as voice note":       {[]byte("#EXTM3U\n#EXTINF:2,\nfile:///etc/passwd\n"), voiceNote, "not audio"},
		"a page as voice note":           {page, voiceNote, "not audio"},
		"noise as voice note":            {bytes.Repeat([]byte{0, 7, 0xfe}, 500), voiceNote, "cannot be converted"},
		"a silent film as voice note":    {silent, voiceNote, "cannot be converted"},
		"a song as film":                 {song, shown, "send it as audio"},
		"a picture as film":              {mediatest.GIF(t, mediatest.Quarters(4, 4)), shown, "not a video"},
		"a film that broke off, as film": {silent[:100], shown, "cannot be converted"},
	} {
		t.Run(name, func(t *testing.T) {
			w.t = t
			if _, _, err := w.prepared(c.file, "", c.req); bridge.CodeOf(err) != bridge.CodeUnsupportedMedia || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %s", err, c.says)
			}
		})
	}
	served := w.serveWith
	served(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "audio/mpeg")
		_, _ = rw.Write(page)
	})
	req := voiceNote
	req.URL = w.url
	_, cleanup, err := w.Prepare(t.Context(), req)
	cleanup()
	if bridge.CodeOf(err) != bridge.CodeFetchFailed {
		t.Errorf("a page instead of a sound: %v", err)
	}
}

func TestTranscode_WithoutFFmpegTheRemedyIsNamed(t *testing.T) {
	w := newWeb(t)
	for name, c := range map[string]struct {
		file []byte
		req  Request
	}{
		"a song as voice note":  {mediatest.MP3(9), voiceNote},
		"a WebM film":           {[]byte("\x1aE\xdf\xa3\x01\x00\x00\x00\x00\x00\x00\x1fB\x86\x81\x01B\xf7\x81\x01B\xf2\x81\x04B\xf3\x81\x08B\x82\x84webmB\x87\x81\x02B\x85\x81\x02"), shown},
		"a film without coding": {mediatest.MP4("isom", 1000, mediatest.Track{Handler: "vide", Width: 4, Height: 4}), shown},
	} {
		if _, _, err := w.prepared(c.file, "", c.req); bridge.CodeOf(err) != bridge.CodeUnsupportedMedia || !strings.Contains(err.Error(), installFFmpeg) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What ffmpeg makes takes its room from the cache, and a disk without any is no fault of the file.
func TestTranscode_FullDisk(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("a small disk is mounted on Linux")
	}
	disk, makeRoom := mediatest.FullOfFiles(t)
	dir := t.TempDir()
	program, made := filepath.Join(dir, "ffmpeg"), filepath.Join(dir, "made")
	mediatest.Write(t, made, append(demo.Voice(2), make([]byte, 200<<10)...))
	script := "#!/bin/sh\nfor a; do case $a in file:*) out=${a#file:};; esac; done\ncat " + made + " > $out 2>&- || exit 1\nhead -c 16000 /dev/zero\n"
	mediatest.WriteProgram(t, program, []byte(script))
	p := NewPreparer(PreparerOptions{
		TempDir: filepath.Join(disk, "tmp"), MaxBytes: 4 << 20, Room: makeRoom, Converter: converter(t, program), Log: zerolog.Nop(),
	})
	voice := func() (int64, error) {
		received, err := p.Receive(t.Context(), Incoming{From: strings.NewReader("RIFF\x04\x00\x00\x00WAVE")})
		if err != nil {
			t.Fatal(err)
		}
		defer received.Close()
		f, err := p.PrepareReceived(t.Context(), voiceNote, received, "x", "")
		return f.Size, err
	}
	if size, err := voice(); err != nil || size < 200<<10 {
		t.Errorf("%d bytes, %v", size, err)
	}
	for makeRoom(1) {
	}
	mediatest.Write(t, filepath.Join(disk, "of others"), make([]byte, 900<<10))
	if _, err := voice(); bridge.CodeOf(err) != bridge.CodeStorageUnavailable {
		t.Errorf("on a disk that is full: %v", err)
	}
}

// What plays for hours, or has too many pixels, by its head is not given to ffmpeg.
func TestConvert_AbsurdHeadsAreRefused(t *testing.T) {
	flac := append([]byte("fLaC\x00\x00\x00\x22"), make([]byte, 34)...)
	binary.BigEndian.PutUint64(flac[18:], 8000<<44|7<<36|8000*11*3600)
	wav := append([]byte("RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x01\x00\x00\x00\x01\x00\x00\x00\x01\x00\x08\x00data"), make([]byte, 8000)...)
	for name, c := range map[string]struct {
		k    kind
		file []byte
		says string
	}{
		"eleven hours of FLAC": {kind{Kind: probe.Kind{MIMEType: "audio/flac"}}, flac, "11h0m0s"},
		"hours of WAV":         {kind{Kind: probe.Kind{MIMEType: "audio/wav"}}, wav, "2h14m"},
		"a long film":          {kind{Kind: probe.Kind{Movie: &probe.Movie{Seconds: 1e300}}}, nil, "at most 2h"},
		"a GIF of 16K":         {kind{Kind: probe.Kind{MIMEType: "image/gif"}}, []byte("GIF89a\x00\x40\x00\x40\x00\x00\x00"), "16384 by 16384"},
		"a film of 8K":         {kind{Kind: probe.Kind{Movie: &probe.Movie{Seconds: 1, Width: 7680, Height: 4320, HasVideo: true}}}, nil, "7680 by 4320"},
	} {
		err := c.k.mayConvert(bytes.NewReader(c.file))
		if bridge.CodeOf(err) != bridge.CodeUnsupportedMedia || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, k := range map[string]kind{"cut off": {Kind: probe.Kind{MIMEType: "audio/flac"}}, "a film of 4K": {Kind: probe.Kind{Movie: &probe.Movie{Seconds: 60, Width: 3840, Height: 2160, HasVideo: true}}}} {
		if err := k.mayConvert(bytes.NewReader(flac[:20])); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
