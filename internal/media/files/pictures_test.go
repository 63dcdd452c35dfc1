package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/media/cdn"
	"bridged/internal/media/mediatest"
)

// gallery is what the network has of pictures: those of everybody, by path.
type gallery struct {
	*mediatest.CDN
	lookUps atomic.Int32
	during  func() // while the network is asked
}

func (g *gallery) Picture(_ context.Context, of bridge.JID, size bridge.PictureSize) (bridge.Picture, error) {
	g.lookUps.Add(1)
	if g.during != nil {
		g.during()
	}
	path := "/v/" + string(size) + "-" + of.User()
	if g.File(path) == nil {
		return bridge.Picture{}, bridge.Fail(bridge.CodeNoPicture, "none")
	}
	return bridge.Picture{DirectPath: path}, nil
}

// show gives somebody a picture, and returns it.
func (g *gallery) show(of bridge.JID, size int) []byte {
	picture := append([]byte("\xff\xd8\xff\xe0\x00\x10JFIF\x00"), bytes.Repeat([]byte(of), size/len(of))...)
	for _, kind := range []bridge.PictureSize{bridge.PicturePreview, bridge.PictureFull} {
		g.Keep("/v/"+string(kind)+"-"+of.User(), picture)
	}
	return picture
}

const ada, bea bridge.JID = "15550000001@s.whatsapp.net", "15550000002@s.whatsapp.net"

// pictures are those of a directory, at a time that the test moves.
type pictures struct {
	*Pictures
	*gallery
	t    *testing.T
	dir  string
	past time.Duration
}

func newPictures(t *testing.T, most int64) *pictures {
	t.Helper()
	p := &pictures{t: t, gallery: &gallery{CDN: mediatest.NewCDN(t)}, dir: filepath.Join(t.TempDir(), "pictures")}
	p.reopen(most)
	return p
}

func (p *pictures) reopen(most int64) {
	p.t.Helper()
	began := time.Now()
	opened, err := NewPictures(PicturesOptions{
		Dir: p.dir, MaxBytes: most, CDN: connect(p.CDN, cdn.Options{}), Account: p.gallery, Log: zerolog.Nop(),
		Now: func() time.Time { return began.Add(p.past) },
	})
	if err != nil {
		p.t.Fatal(err)
	}
	p.Pictures = opened
}

// shows opens a picture and compares it; nil is none.
func (p *pictures) shows(of bridge.JID, want []byte, lookUps int32) {
	p.t.Helper()
	file, err := p.Open(p.t.Context(), of, bridge.PicturePreview)
	switch {
	case want == nil && bridge.CodeOf(err) != bridge.CodeNoPicture:
		p.t.Fatalf("want no picture: %v", err)
	case want != nil && err != nil:
		p.t.Fatal(err)
	case want != nil:
		got, err := io.ReadAll(file)
		if err != nil || !bytes.Equal(got, want) || file.MimeType != "image/jpeg" {
			p.t.Errorf("%d bytes of %s, %v; want %d", len(got), file.MimeType, err, len(want))
		}
	}
	if n := p.lookUps.Load(); n != lookUps {
		p.t.Errorf("the network was asked %d times, want %d", n, lookUps)
	}
}

func TestPictures_AreKeptForADay(t *testing.T) {
	t.Parallel()
	p := newPictures(t, 1<<20)
	first := p.show(ada, 1000)
	p.shows(ada, first, 1)
	p.shows(bea, nil, 2)
	p.show(ada, 2000)
	p.past = pictureLife - time.Minute
	p.reopen(1 << 20) // also by another process
	p.shows(ada, first, 2)
	p.shows(bea, nil, 2)
	p.past = pictureLife + time.Minute
	p.shows(ada, p.show(ada, 3000), 3)
	p.shows(bea, p.show(bea, 10), 4)
	if n := p.Downloads(); n != 3 {
		t.Errorf("%d downloads", n)
	}
}

func TestPictures_AreForgottenWhenTheyChange(t *testing.T) {
	t.Parallel()
	p := newPictures(t, 1<<20)
	p.shows(ada, p.show(ada, 1000), 1)
	p.shows(bea, nil, 2)
	second := p.show(ada, 2000)
	p.Forget(bea, ada, "")
	p.shows(ada, second, 3)
	p.shows(bea, nil, 4)

	// One that changes while the network is asked is shown to whoever asked, and not kept.
	p.Forget(ada)
	p.during = func() { p.Forget(ada) }
	p.shows(ada, second, 5)
	p.during = nil
	p.shows(ada, p.show(ada, 10), 6)
}

func TestPictures_AreBounded(t *testing.T) {
	t.Parallel()
	p := newPictures(t, 10_000)
	person := func(i int) bridge.JID { return bridge.JID(fmt.Sprintf("1555%07d@s.whatsapp.net", i)) }
	for i := range 30 {
		p.past = time.Duration(i) * time.Second
		p.shows(person(i), p.show(person(i), 1000), int32(i+1))
		if size := p.onDisk(); size > 10_000 {
			t.Fatalf("%d bytes on the disk", size)
		}
	}
	p.shows(person(29), p.show(person(29), 1000), 30)
	p.shows(person(0), p.show(person(0), 1000), 31) // the oldest went first
	p.reopen(3000)
	if size := p.onDisk(); size > 3000 || size == 0 {
		t.Errorf("%d bytes after a start with less room", size)
	}
	if err := os.RemoveAll(p.dir); err != nil {
		t.Fatal(err)
	}
	p.shows(person(0), p.show(person(0), 500), 32)
	if p.onDisk() == 0 {
		t.Error("nothing is kept after the directory was taken away")
	}
}

// onDisk returns how much lies in the directory.
func (p *pictures) onDisk() (size int64) {
	p.t.Helper()
	files, err := os.ReadDir(p.dir)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, file := range files {
		info, err := file.Info()
		if err != nil {
			p.t.Fatal(err)
		}
		size += info.Size()
	}
	return size
}

// A file that was cut off or written over is not served: the network is asked again.
func TestPictures_ThatAreDamagedAreFetchedAgain(t *testing.T) {
	t.Parallel()
	p := newPictures(t, 1<<20)
	want := p.show(ada, 1000)
	lookUps := int32(1)
	p.shows(ada, want, lookUps)
	for _, damage := range []func(path string) error{
		func(path string) error { return os.Truncate(path, 500) },
		func(path string) error { return os.Truncate(path, 0) },
		func(path string) error { return os.WriteFile(path, bytes.Repeat([]byte("x"), 4000), 0o600) },
		os.Remove,
	} {
		sum := sha256.Sum256(want)
		if err := damage(p.lru.path(nameOfPicture(ada, bridge.PicturePreview), sum[:])); err != nil {
			t.Fatal(err)
		}
		lookUps++
		p.shows(ada, want, lookUps)
	}
}

func TestPictures_OfOneAreAskedForOnce(t *testing.T) {
	t.Parallel()
	p := newPictures(t, 1<<20)
	want := p.show(ada, 1000)
	var all sync.WaitGroup
	release := make(chan struct{})
	p.Serve(func(http.ResponseWriter, *http.Request) { <-release })
	var begun atomic.Int32
	for range 8 {
		all.Go(func() {
			begun.Add(1)
			file, err := p.Open(t.Context(), ada, bridge.PicturePreview)
			if err != nil {
				t.Error(err)
				return
			}
			if got, err := io.ReadAll(file); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Open(gone, ada, bridge.PicturePreview); err != context.Canceled {
		t.Errorf("who went away got %v", err)
	}
	close(release)
	all.Wait()
	if n := p.lookUps.Load(); n > int32(1) {
		t.Errorf("the network was asked %d times", n)
	}
}

// A path leads to no other host.
