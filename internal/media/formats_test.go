package media

import (
	"bytes"
	"image/jpeg"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/media/mediatest"
)

// formats says what a file of each format is sent as: without ffmpeg, and with it. An empty type is a refusal.
var formats = map[string]struct {
	kind             bridge.MediaType
	without, with    string
	seconds, width   int
	isCopied, isSame bool // into another container; as it is
	isHeard          bool // its head says no length: it has a second, as ffmpeg hears
}{
	"sound.mp3":        {kind: bridge.MediaAudio, without: "audio/mpeg", with: "audio/mpeg", seconds: 1, isSame: true},
	"sound.m4a":        {kind: bridge.MediaAudio, without: "audio/mp4", with: "audio/mp4", seconds: 1, isSame: true},
	"sound.mp4":        {kind: bridge.MediaAudio, without: "audio/mp4", with: "audio/mp4", seconds: 1, isSame: true},
	"sound.3gp":        {kind: bridge.MediaAudio, without: "audio/mp4", with: "audio/mp4", seconds: 1, isSame: true},
	"sound.aac":        {kind: bridge.MediaAudio, without: "audio/aac", with: "audio/aac", isHeard: true, isSame: true},
	"sound.amr":        {kind: bridge.MediaAudio, without: "audio/amr", with: "audio/amr", isHeard: true, isSame: true},
	"opus.ogg":         {kind: bridge.MediaAudio, without: bridge.VoiceType, with: bridge.VoiceType, seconds: 1, isSame: true},
	"sound.wav":        {kind: bridge.MediaAudio, with: "audio/mp4", seconds: 1},
	"sound.flac":       {kind: bridge.MediaAudio, with: "audio/mp4", seconds: 1},
	"sound.aiff":       {kind: bridge.MediaAudio, with: "audio/mp4", seconds: 1},
	"sound.au":         {kind: bridge.MediaAudio, with: "audio/mp4", seconds: 1},
	"sound.caf":        {kind: bridge.MediaAudio, with: "audio/mp4", seconds: 1},
	"sound.wma":        {kind: bridge.MediaAudio, with: "audio/mp4", seconds: 1},
	"vorbis.ogg":       {kind: bridge.MediaAudio, with: "audio/mp4", seconds: 1},
	"flac.ogg":         {kind: bridge.MediaAudio, with: "audio/mp4", seconds: 1},
	"sound.mka":        {kind: bridge.MediaAudio, with: "audio/mp4", seconds: 1},
	"sound.webm":       {kind: bridge.MediaAudio, with: bridge.VoiceType, seconds: 1, isCopied: true},
	"sound.mov":        {kind: bridge.MediaAudio, with: "audio/mp4", seconds: 1, isCopied: true},
	"video.mp4":        {kind: bridge.MediaVideo, without: "video/mp4", with: "video/mp4", seconds: 1, width: 32, isSame: true},
	"video.m4v":        {kind: bridge.MediaVideo, without: "video/mp4", with: "video/mp4", seconds: 1, width: 32, isSame: true},
	"video.3gp":        {kind: bridge.MediaVideo, without: "video/3gpp", with: "video/3gpp", seconds: 1, width: 32, isSame: true},
	"fragmented.mp4":   {kind: bridge.MediaVideo, without: "video/mp4", with: "video/mp4", seconds: 2, width: 64, isSame: true},
	"fragmented.m4a":   {kind: bridge.MediaAudio, without: "audio/mp4", with: "audio/mp4", seconds: 2, isSame: true},
	"video.mov":        {kind: bridge.MediaVideo, with: "video/mp4", seconds: 1, width: 32, isCopied: true},
	"silent.mov":       {kind: bridge.MediaVideo, with: "video/mp4", seconds: 1, width: 32, isCopied: true},
	"video.3g2":        {kind: bridge.MediaVideo, with: "video/mp4", seconds: 1, width: 32, isCopied: true},
	"video.mkv":        {kind: bridge.MediaVideo, with: "video/mp4", seconds: 1, width: 32, isCopied: true},
	"mjpeg.mov":        {kind: bridge.MediaVideo, with: "video/mp4", seconds: 1, width: 32},
	"clip.webm":        {kind: bridge.MediaVideo, with: "video/mp4", seconds: 1, width: 64},
	"silent-clip.webm": {kind: bridge.MediaVideo, with: "video/mp4", seconds: 1, width: 64},
	"video.avi":        {kind: bridge.MediaVideo, with: "video/mp4", seconds: 1, width: 32},
	"video.wmv":        {kind: bridge.MediaVideo, with: "video/mp4", seconds: 1, width: 32},
	"video.flv":        {kind: bridge.MediaVideo, with: "video/mp4", seconds: 1, width: 32},
	"video.mpg":        {kind: bridge.MediaVideo, with: "video/mp4", seconds: 1, width: 32},
	"video.ts":         {kind: bridge.MediaVideo, with: "video/mp4", seconds: 1, width: 32},
	"video.ogv":        {kind: bridge.MediaVideo, with: "video/mp4", seconds: 1, width: 32},
}

// A file of every format is sent as what computers open, or refused with a remedy. The bytes decide what it is: a
// video is never sent as audio, whatever its container is.
func TestFormats(t *testing.T) {
	for setting, converts := range map[string]bool{"with ffmpeg": true, "without": false} {
		t.Run(setting, func(t *testing.T) {
			w := newWeb(t)
			if converts {
				w, _ = withFFmpeg(t)
			}
			for name, f := range formats {
				t.Run(name, func(t *testing.T) {
					w.t = t
					want := f.without
					if converts {
						want = f.with
					}
					testFormat(t, w, name, f.kind, want, func(sent bridge.File, file, become []byte) {
						seconds := f.seconds
						if f.isHeard && converts {
							seconds = 1
						}
						if sent.Seconds != seconds || sent.Width != f.width {
							t.Errorf("%d s, %d pixels wide", sent.Seconds, sent.Width)
						}
						hasStill := f.kind == bridge.MediaVideo && converts
						if still, err := jpeg.DecodeConfig(bytes.NewReader(sent.Thumbnail)); (err == nil) != hasStill || max(still.Width, still.Height) > 100 {
							t.Errorf("a thumbnail of %d by %d pixels, %v", still.Width, still.Height, err)
						}
						k, err := sniffKind(bytes.NewReader(become))
						actual := k.actual(f.kind, "", bytes.NewReader(become))
						if declared, isOpened := bridge.DeclaredType(f.kind, actual); err != nil || actual == "" || !isOpened || declared != want {
							t.Errorf("the bytes are %q, %v", actual, err)
						}
						if bytes.Equal(file, become) != f.isSame {
							t.Errorf("%d bytes have become %d", len(file), len(become))
						}
						// What is copied is what the tone or the picture was coded as.
						if payload := file[len(file)/2:][:64]; f.isCopied && strings.HasSuffix(name, ".mov") && !bytes.Contains(become, payload[:16]) {
							t.Error("the file was coded anew")
						}
					})
				})
			}
		})
	}
}

func testFormat(t *testing.T, w *web, name string, kind bridge.MediaType, want string, check func(sent bridge.File, file, become []byte)) {
	t.Helper()
	file, err := os.ReadFile(filepath.Join("testdata", "formats", name))
	if err != nil {
		t.Fatal(err)
	}
	received, err := w.Receive(t.Context(), Incoming{From: bytes.NewReader(file), Declared: int64(len(file))})
	if err != nil {
		t.Fatal(err)
	}
	found, err := w.TypeOf(received, false)
	received.Close()
	if err != nil || found != kind {
		t.Errorf("without a type it is %s, %v", found, err)
	}
	sent, become, err := w.prepared(file, "", Request{Type: kind})
	if want == "" {
		mediatest.WantCode(t, err, bridge.CodeUnsupportedMedia)
		if err != nil && !strings.Contains(err.Error(), "send it as a document, or install ffmpeg") {
			t.Errorf("refused without the remedy: %v", err)
		}
	} else if err != nil || sent.MimeType != want {
		t.Errorf("sent as %q, %v; want %q", sent.MimeType, err, want)
	} else {
		check(sent, file, become)
	}
	other := bridge.MediaVideo
	if kind == bridge.MediaVideo {
		other = bridge.MediaAudio
	}
	_, _, err = w.prepared(file, "", Request{Type: other})
	mediatest.WantCode(t, err, bridge.CodeUnsupportedMedia)
	if document, _, err := w.prepared(file, "", Request{Type: bridge.MediaDocument}); err != nil || document.Type != bridge.MediaDocument {
		t.Errorf("as a document: %v", err)
	}
}
