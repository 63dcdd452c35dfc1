package files

import (
	"bytes"
	"context"
	"image"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/media/mediatest"
	"bridged/internal/media/probe"
)

func neededAlways(context.Context, []byte) (bool, error) { return true, nil }
func neededNever(context.Context, []byte) (bool, error)  { return false, nil }

// TestKept_DescribesFiles as their bytes are, whatever their names say.
func TestKept_DescribesFiles(t *testing.T) {
	k, err := OpenImported(t.Context(), filepath.Join(t.TempDir(), "imported"), neededAlways)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		data []byte
		file string
		kind bridge.MediaType
		want bridge.Media
	}{
		"a picture":                 {mediatest.PNG(t, image.NewGray(image.Rect(0, 0, 3, 2))), "IMG.jpg", bridge.MediaImage, bridge.Media{Type: bridge.MediaImage, MimeType: "image/png", Width: 3, Height: 2}},
		"a text called a picture":   {[]byte("hello"), "IMG.jpg", bridge.MediaImage, bridge.Media{Type: bridge.MediaDocument, MimeType: "image/jpeg"}},
		"a page called a voice":     {[]byte("<html><script>"), "PTT.opus", bridge.MediaAudio, bridge.Media{Type: bridge.MediaDocument, MimeType: "text/html"}},
		"a voice note":              {mediatest.Opus(mediatest.Repeat(100, 150)...), "PTT.opus", bridge.MediaAudio, bridge.Media{Type: bridge.MediaAudio, MimeType: bridge.VoiceType, PTT: true, DurationSec: 3}},
		"a sticker":                 {mediatest.WebPPixel(t), "STK.webp", bridge.MediaSticker, bridge.Media{Type: bridge.MediaSticker, MimeType: probe.WebpType, Width: 1, Height: 1}},
		"a document":                {[]byte("%PDF-1.7"), "a.pdf", bridge.MediaDocument, bridge.Media{Type: bridge.MediaDocument, MimeType: "application/pdf"}},
		"a document without a name": {[]byte("\x00\x01"), "a", bridge.MediaDocument, bridge.Media{Type: bridge.MediaDocument, MimeType: bridge.UnknownMIMEType}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := k.Add(bytes.NewReader(test.data), test.file, test.kind, test.kind == bridge.MediaAudio)
			if err != nil {
				t.Fatal(err)
			}
			if got.Type != test.want.Type || got.MimeType != test.want.MimeType || got.Width != test.want.Width || got.Height != test.want.Height || got.PTT != test.want.PTT || got.DurationSec != test.want.DurationSec || got.Size != int64(len(test.data)) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// TestCache_OpensKeptFiles without the network, and says so where one is lost or damaged.
func TestCache_OpensKeptFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "imported")
	k, err := OpenImported(t.Context(), dir, neededAlways)
	if err != nil {
		t.Fatal(err)
	}
	file, err := k.Add(strings.NewReader("hello"), "a.txt", bridge.MediaDocument, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Settle(file.Ref.FileSHA256); err != nil {
		t.Fatal(err)
	}
	m := bridge.Message{Chat: "1@import", ID: bridge.ExportedID("A"), Media: file}
	open := func(k *Imported) (string, error) {
		c := &Cache{opts: CacheOptions{Imported: k}}
		f, err := c.Open(t.Context(), m)
		if err != nil {
			return "", err
		}
		defer f.Close()
		data, err := io.ReadAll(f)
		return string(data), err
	}
	if got, err := open(k); got != "hello" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	for name, spoil := range map[string]func(path string) error{
		"damaged": func(path string) error { return os.WriteFile(path, []byte("jello"), 0o600) },
		"gone":    os.Remove,
	} {
		if err := spoil(k.path(file.Ref.FileSHA256)); err != nil {
			t.Fatal(err)
		}
		again, err := OpenImported(t.Context(), dir, neededAlways)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := open(again); bridge.CodeOf(err) != bridge.CodeMediaGone {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestKept_RemovesOnlyWhatNobodyNeeds.
func TestKept_RemovesOnlyWhatNobodyNeeds(t *testing.T) {
	k, err := OpenImported(t.Context(), filepath.Join(t.TempDir(), "imported"), neededAlways)
	if err != nil {
		t.Fatal(err)
	}
	file, err := k.Add(strings.NewReader("hello"), "a.txt", bridge.MediaDocument, false)
	if err != nil {
		t.Fatal(err)
	}
	path := k.path(file.Ref.FileSHA256) + newSuffix
	if err := k.Remove(t.Context(), file.Ref.FileSHA256, neededAlways); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
	if err := k.Remove(t.Context(), file.Ref.FileSHA256, neededNever); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("it is still there")
	}
}
