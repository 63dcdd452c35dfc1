package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/media/cdn"
	"bridged/internal/media/mediatest"
)

// scaler is a scaler of pictures that makes a number of bytes of each.
type scaler struct {
	made   int
	during func()
	err    error
}

func (s *scaler) scale(_ context.Context, from io.Reader, side int) ([]byte, error) {
	file, err := io.ReadAll(from)
	if err != nil {
		return nil, err
	}
	s.made++
	if s.during != nil {
		s.during()
	}
	return append([]byte("\xff\xd8\xff\xe0\x00\x10JFIF\x00"), fmt.Sprintf("%d %x", side, file[:8])...), s.err
}

// scaledCache opens a cache with thumbnails, which take up to a number of bytes.
func scaledCache(t *testing.T, s *scaler, most int64) (c *Cache, fake *mediatest.CDN) {
	t.Helper()
	dir := t.TempDir()
	small, err := NewThumbnails(ThumbnailsOptions{
		Dir: filepath.Join(dir, "thumbnails"), MaxBytes: most, Scale: s.scale, Embedded: bytes.Clone, Log: zerolog.Nop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	fake = mediatest.NewCDN(t)
	c, err = NewCache(CacheOptions{Dir: filepath.Join(dir, "media"), MaxFile: 32 << 20, CDN: connect(fake, cdn.Options{}), Account: fake, Thumbnails: small, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, fake
}

// thumbnail returns a thumbnail; nil if there is none.
func thumbnail(t *testing.T, c *Cache, m bridge.Message, side ThumbnailSide) []byte {
	t.Helper()
	picture, err := c.opts.Thumbnails.Open(t.Context(), c, m, side)
	if bridge.CodeOf(err) == bridge.CodeNoPicture {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(picture)
	if err != nil || picture.MimeType != "image/jpeg" {
		t.Errorf("%s, %v", picture.MimeType, err)
	}
	return data
}

// stored returns how many thumbnails are on the disk.
func stored(t *testing.T, c *Cache) int {
	t.Helper()
	entries, err := os.ReadDir(c.opts.Thumbnails.opts.Dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// A picture is scaled once for each size, also for a forward of it, and its thumbnails go with it.
func TestThumbnails_AreMadeOnceAndForgotten(t *testing.T) {
	s := new(scaler)
	c, fake := scaledCache(t, s, 1<<20)
	m := fake.Send(bridge.MediaImage, mediatest.RandomBytes(5000))
	forward := m
	forward.ID = "forward"
	first := thumbnail(t, c, m, ThumbnailOfTile)
	again, large := thumbnail(t, c, forward, ThumbnailOfTile), thumbnail(t, c, m, ThumbnailOfBubble)
	if s.made != 2 || !bytes.Equal(first, again) || bytes.Equal(first, large) || stored(t, c) != 2 {
		t.Errorf("made %d, %d stored: %q, %q, %q", s.made, stored(t, c), first, again, large)
	}
	if err := c.Forget(m.Media); err != nil || stored(t, c) != 0 {
		t.Errorf("after the deletion %d are stored: %v", stored(t, c), err)
	}
}

// A picture that is forgotten while its thumbnail is made leaves none on the disk.
func TestThumbnails_ForgottenWhileMade(t *testing.T) {
	s := new(scaler)
	c, fake := scaledCache(t, s, 1<<20)
	m := fake.Send(bridge.MediaImage, mediatest.RandomBytes(5000))
	s.during = func() {
		if err := c.Forget(m.Media); err != nil {
			t.Error(err)
		}
	}
	if thumbnail(t, c, m, ThumbnailOfTile) == nil || stored(t, c) != 0 {
		t.Errorf("%d are stored", stored(t, c))
	}
}

// The disk holds a number of bytes, across restarts.
func TestThumbnails_AreBounded(t *testing.T) {
	c, fake := scaledCache(t, new(scaler), 200)
	for range 20 {
		thumbnail(t, c, fake.Send(bridge.MediaImage, mediatest.RandomBytes(100)), ThumbnailOfTile)
	}
	small := c.opts.Thumbnails
	if n := stored(t, c); n == 0 || n > 7 || small.lru.total > 200 {
		t.Errorf("%d thumbnails of %d bytes are stored", n, small.lru.total)
	}
	if again, err := NewThumbnails(small.opts); err != nil || again.lru.total != small.lru.total {
		t.Errorf("after a restart they have %d bytes: %v", again.lru.total, err)
	}
}

// What cannot be scaled is shown as the sender's own thumbnail, if that is a picture: a video, a picture that is damaged
// or too large for the memory, a link.
func TestThumbnails_OfTheSender(t *testing.T) {
	own := []byte("\xff\xd8\xff\xe0\x00\x10JFIF\x00own")
	s := &scaler{err: errors.New("damaged")}
	c, fake := scaledCache(t, s, 1<<20)
	for name, m := range map[string]bridge.Message{
		"a video": fake.Send(bridge.MediaVideo, mediatest.RandomBytes(100)), "a picture": fake.Send(bridge.MediaImage, mediatest.RandomBytes(100)),
		"a large picture": fake.Send(bridge.MediaImage, mediatest.RandomBytes(maxScaled+1)), "a link": {ID: "link"},
	} {
		for sent, want := range map[string][]byte{string(own): own, "<svg onload=alert(1)>": nil, "": nil, string(own) + strings.Repeat(" ", maxEmbedded): nil} {
			m.Raw = []byte(sent)
			if got := thumbnail(t, c, m, ThumbnailOfTile); !bytes.Equal(got, want) {
				t.Errorf("%s with %.20q: %.20q", name, sent, got)
			}
		}
	}
	if stored(t, c) != 0 {
		t.Errorf("%d are stored", stored(t, c))
	}
}
