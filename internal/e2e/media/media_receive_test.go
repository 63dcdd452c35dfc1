package media

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
	"bridged/internal/demo"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// receives makes a person send a picture and waits until the bridge has the
// message.
func receives(c *Cast, t testing.TB, by *simnet.Phone, file []byte) SentFile {
	t.Helper()
	id := Must(by.SendImage(Within(t), c.Owner.PN(), simnet.Media{Data: file, Mimetype: "image/png"}))(t)
	return c.Arrived(t, id, by.PN(), file)
}

// TestMediaReceive_EveryKind downloads every kind of file, from a direct chat and a
// group, and compares every byte and header.
func TestMediaReceive_EveryKind(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	_, bens, hike, _ := c.Conversations(t)
	for name, k := range map[string]struct {
		send func(*simnet.Phone, context.Context, simnet.JID, simnet.Media, ...simnet.SendOption) (simnet.MessageID, error)
		file simnet.Media
		want http.Header
		name string // of the file; %s stands for the id
	}{
		"picture":   {(*simnet.Phone).SendImage, simnet.Media{Data: Noise(30_000), Mimetype: "image/jpeg", Caption: "sunrise", Width: 640, Height: 480}, kindOf("image", "image/jpeg"), `inline; filename="image-%s.jpg"`},
		"view once": {sendViewOnce, simnet.Media{Data: Noise(20_000), Mimetype: "image/png"}, kindOf("image", "image/png"), `inline; filename="image-%s.png"`},
		"video":     {(*simnet.Phone).SendVideo, simnet.Media{Data: Noise(300_000), Mimetype: "video/mp4", Seconds: 7}, kindOf("video", "video/mp4"), `inline; filename="video-%s.mp4"`},
		"sound":     {(*simnet.Phone).SendAudio, simnet.Media{Data: Noise(10_001), Mimetype: "audio/mpeg", Seconds: 9}, kindOf("audio", "audio/mpeg"), `inline; filename="audio-%s.mp3"`},
		"voice":     {(*simnet.Phone).SendAudio, simnet.Media{Data: demo.Voice(2), Mimetype: "audio/ogg; codecs=opus", Seconds: 2, Voice: true}, kindOf("audio", "audio/ogg; codecs=opus"), `inline; filename="voice-%s.ogg"`},
		"document":  {(*simnet.Phone).SendDocument, simnet.Media{Data: demo.PDF(), Mimetype: "application/pdf", FileName: "Übersicht.pdf", Pages: 1}, kindOf("document", "application/pdf"), `inline; filename="_bersicht.pdf"; filename*=UTF-8''%C3%9Cbersicht.pdf`},
		"captioned": {(*simnet.Phone).SendDocument, simnet.Media{Data: Noise(16), Mimetype: "application/zip", FileName: "a b.zip", Caption: "look"}, kindOf("document", "application/zip"), `inline; filename="a b.zip"`},
		"web page":  {(*simnet.Phone).SendDocument, simnet.Media{Data: []byte("<script>alert(1)</script>"), Mimetype: "text/html", FileName: "page.html"}, kindOf("document", "text/html"), `attachment; filename="page.html"`},
		"one byte":  {(*simnet.Phone).SendDocument, simnet.Media{Data: []byte("x"), Mimetype: "text/plain", FileName: "x"}, kindOf("document", "text/plain"), `inline; filename="x"`},
		"sticker":   {(*simnet.Phone).SendSticker, simnet.Media{Data: Noise(15), Mimetype: "image/webp", Animated: true}, kindOf("sticker", "image/webp"), `inline; filename="sticker-%s.webp"`},
	} {
		for _, chat := range []*Conversation{bens, hike} {
			t.Run(name+" in "+chat.In.Server, func(t *testing.T) {
				t.Parallel()
				f := c.Arrived(t, Must(k.send(chat.By, Within(t), chat.ToMe, k.file))(t), chat.In, k.file.Data)
				want := k.want.Clone()
				want.Set("Content-Length", strconv.Itoa(len(f.Bytes)))
				want.Set("ETag", tagOf(f.Bytes))
				want.Set("Content-Disposition", strings.ReplaceAll(k.name, "%s", f.ID))
				if strings.HasPrefix(k.name, "attachment") {
					want.Set("Content-Security-Policy", "default-src 'none'; sandbox")
				}
				get, head := c.Downloads(t, f), c.Bridge.Do(http.MethodHead, f.Path, "").Want(http.StatusOK)
				for what, headers := range map[string]http.Header{"GET": get, "HEAD": head.Header} {
					if diff := cmp.Diff(want, fileHeaders(headers)); diff != "" {
						t.Errorf("%s (-want +got):\n%s", what, diff)
					}
				}
				if forced := c.Bridge.Get(f.Path + "?disposition=attachment").Want(200).Header.Get("Content-Disposition"); !strings.HasPrefix(forced, "attachment; ") {
					t.Errorf("as attachment: %s", forced)
				}
				if len(head.Body) != 0 {
					t.Errorf("HEAD has a body of %d bytes", len(head.Body))
				}
			})
		}
	}
}

func sendViewOnce(p *simnet.Phone, ctx context.Context, to simnet.JID, m simnet.Media, _ ...simnet.SendOption) (simnet.MessageID, error) {
	return p.SendImage(ctx, to, m, simnet.ViewOnce())
}

// kindOf returns the headers that depend on the kind.
func kindOf(kind, mimeType string) http.Header {
	return http.Header{"Content-Type": {mimeType}, "X-Messenger-Media-Type": {kind}, "Accept-Ranges": {"bytes"}, "X-Content-Type-Options": {"nosniff"}, "Cache-Control": {"private, no-cache"}}
}

func fileHeaders(all http.Header) http.Header {
	shown := http.Header{}
	for _, name := range []string{"Content-Type", "Content-Length", "Content-Disposition", "X-Messenger-Media-Type", "Content-Security-Policy", "Accept-Ranges", "ETag", "X-Content-Type-Options", "Cache-Control"} {
		if values := all.Values(name); len(values) > 0 {
			shown[http.CanonicalHeaderKey(name)] = values
		}
	}
	return shown
}

// Ranges at every boundary of a file with several pieces: its ends, and those of
// the pieces in which it is decrypted and sent.
func TestMediaReceive_Ranges(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	const size = 700_001
	f := receives(c, t, c.Ben, Noise(size))
	edges := []int{0, 1, size - 2, size - 1}
	for _, piece := range []int{16, 32 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10} {
		edges = append(edges, piece-1, piece, piece+1)
	}
	is := func(header string, from, to int) {
		t.Helper()
		got := c.Bridge.Get(f.Path, "Range", header).Want(http.StatusPartialContent)
		span := fmt.Sprintf("bytes %d-%d/%d", from, to, size)
		if !bytes.Equal(got.Body, f.Bytes[from:to+1]) || got.Header.Get("Content-Range") != span || got.Header.Get("Content-Length") != strconv.Itoa(to-from+1) {
			t.Errorf("%s: %d bytes, %s", header, len(got.Body), got.Header.Get("Content-Range"))
		}
	}
	for _, from := range edges {
		is(fmt.Sprintf("bytes=%d-", from), from, size-1)
		is(fmt.Sprintf("bytes=0-%d", from), 0, from)
		is(fmt.Sprintf("bytes=%d-%d", from, from), from, from)
		is(fmt.Sprintf("bytes=-%d", from+1), size-from-1, size-1)
	}
	Refused(t, c.Bridge.Get(f.Path, "Range", fmt.Sprintf("bytes=%d-", size)), http.StatusRequestedRangeNotSatisfiable, bridge.CodeInvalidRange)
	tag := c.Downloads(t, f).Get("ETag")
	c.Bridge.Get(f.Path, "Range", "bytes=5-6", "If-Range", tag).Want(http.StatusPartialContent)
	c.Downloads(t, f, "Range", "bytes=5-6", "If-Range", `"another"`)
	c.Bridge.Get(f.Path, "If-None-Match", tag).Want(http.StatusNotModified)
	c.Downloads(t, f, "If-None-Match", `"another"`)
	if n := c.Network.CDN().Downloads(f.DirectPath); n != 1 {
		t.Errorf("the CDN was asked %d times, want once", n)
	}
}

// Twenty concurrent requests cause one download, with and without a cache.
func TestMediaReceive_ManyAtOnce(t *testing.T) {
	t.Parallel()
	for name, setting := range map[string]string{"cached": "MEDIA_CACHE_BYTES=10000000", "not cached": "MEDIA_CACHE_BYTES=0"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := PairedCast(t, setting)
			f := receives(c, t, c.Ben, Noise(2_000_000))
			c.Network.CDN().Fail(simnet.CDNFault{Method: http.MethodGet, Delay: TestTimeout / 10, Times: 1}) // until all have asked
			var all sync.WaitGroup
			for range 20 {
				all.Go(func() { c.Downloads(t, f) })
			}
			all.Wait()
			if n := c.Network.CDN().Downloads(f.DirectPath); n != 1 {
				t.Errorf("the CDN was asked %d times, want once", n)
			}
			c.Downloads(t, f)
			want := map[string]int{"cached": 1, "not cached": 2}[name]
			if n := c.Network.CDN().Downloads(f.DirectPath); n != want {
				t.Errorf("afterwards the CDN was asked %d times in all, want %d", n, want)
			}
		})
	}
}

// A cached file needs no network, even after a restart; a wiped directory or a
// modified file only costs another download.
func TestMediaReceive_CacheOutlivesTheProgram(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	kept, other := receives(c, t, c.Ben, Noise(200_000)), receives(c, t, c.Ben, Noise(1000))
	c.Downloads(t, kept)
	c.Bridge.Stop()
	c.Network.Down()
	c.Bridge.Start()
	c.Downloads(t, kept)
	Refused(t, c.Bridge.Get(other.Path), http.StatusServiceUnavailable, bridge.CodeNotConnected)
	c.Bridge.Get(other.Path, "If-None-Match", tagOf(other.Bytes)).Want(http.StatusNotModified)
	c.Bridge.Stop()

	cached := Must(filepath.Glob(filepath.Join(c.Bridge.Env["DATA_DIR"], "media", "*")))(t)
	if len(cached) != 1 {
		t.Fatalf("in the cache: %v", cached)
	}
	if err := os.WriteFile(cached[0], Noise(200_000)[1:], 0o600); err != nil {
		t.Fatal(err)
	}
	c.Network.Up()
	c.Bridge.Start()
	c.Bridge.Becomes(bridge.StateOpen)
	c.Downloads(t, kept)
	c.Downloads(t, other)
	if err := os.RemoveAll(filepath.Join(c.Bridge.Env["DATA_DIR"], "media")); err != nil {
		t.Fatal(err)
	}
	c.Downloads(t, kept)
	if n := c.Network.CDN().Downloads(kept.DirectPath); n != 3 {
		t.Errorf("the CDN was asked %d times, want 3: at first, for the changed file, for the wiped one", n)
	}
}

// Beyond the limit, the least recently used files are removed first.
func TestMediaReceive_CacheHasItsLimit(t *testing.T) {
	t.Parallel()
	c := PairedCast(t, "MEDIA_CACHE_BYTES=250000")
	first, second, third := receives(c, t, c.Ben, Noise(100_000)), receives(c, t, c.Ben, Noise(100_001)), receives(c, t, c.Ben, Noise(100_002))
	for _, f := range []SentFile{first, second, first, third, first, second} {
		c.Downloads(t, f)
	}
	for f, want := range map[*SentFile]int{&first: 1, &second: 2, &third: 1} {
		if n := c.Network.CDN().Downloads(f.DirectPath); n != want {
			t.Errorf("the file of %d bytes was downloaded %d times, want %d", len(f.Bytes), n, want)
		}
	}
	size := int64(0)
	for _, path := range Must(filepath.Glob(filepath.Join(c.Bridge.Env["DATA_DIR"], "media", "*")))(t) {
		size += Must(os.Stat(path))(t).Size()
	}
	if size > 250_000 {
		t.Errorf("%d bytes are kept, at most 250000 were allowed", size)
	}
}

// If the CDN has lost a file, the phone uploads it again: once for all callers, and
// for good.
func TestMediaReceive_PhoneUploadsAgain(t *testing.T) {
	t.Parallel()
	c := PairedCast(t, "MEDIA_CACHE_BYTES=0")
	for _, status := range []int{http.StatusForbidden, http.StatusNotFound, http.StatusGone} {
		f := receives(c, t, c.Ben, Noise(50_000+status))
		c.Network.CDN().ExpireWith(f.DirectPath, status)
		before := c.Network.CDN().Downloads("")
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() { c.Downloads(t, f) })
		}
		all.Wait()
		if lost, all := c.Network.CDN().Downloads(f.DirectPath), c.Network.CDN().Downloads("")-before; lost > all/2 {
			t.Errorf("%d: %d of %d downloads asked for the lost file", status, lost, all)
		}
		lost := c.Network.CDN().Downloads(f.DirectPath)
		c.Downloads(t, f)
		c.Bridge.Restart()
		c.Bridge.Becomes(bridge.StateOpen)
		c.Downloads(t, f)
		if again := c.Network.CDN().Downloads(f.DirectPath); again != lost {
			t.Errorf("%d: the old place was asked again: the new one was not kept", status)
		}
	}
}

// If the phone has lost it too, the file is gone.
func TestMediaReceive_GoneForGood(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	for name, how := range map[string]simnet.MediaAnswer{"gone": simnet.MediaGone, "not found": simnet.MediaNotFound, "error": simnet.MediaGeneralError, "silent": simnet.MediaSilent} {
		f := receives(c, t, c.Ben, []byte("lost: "+name))
		c.Owner.AnswerMedia(how)
		c.Network.CDN().Expire(f.DirectPath)
		Refused(t, c.Bridge.Get(f.Path), http.StatusInternalServerError, bridge.CodeMediaGone, "phone")
		c.Network.CDN().Restore(f.DirectPath)
		c.Downloads(t, f)
	}
}

// Every fault of a media server ends in a whole file or a proper error.
func TestMediaReceive_BadServers(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	for name, k := range map[string]struct {
		fault simnet.CDNFault
		code  bridge.Code // "" if a retry succeeds by itself
	}{
		"tampered":            {simnet.CDNFault{Tamper: true, Times: 1}, bridge.CodeMediaInvalid}, // TLS protects the body from changes on the way
		"breaks off":          {simnet.CDNFault{Truncate: 30_000, Times: 3}, bridge.CodeMediaUnavailable},
		"breaks off once":     {simnet.CDNFault{Truncate: 30_000, Times: 1}, ""},
		"stalls once":         {simnet.CDNFault{Stall: 30_000, Times: 1}, ""},
		"silent once":         {simnet.CDNFault{StallAtOnce: true, Times: 1}, ""},
		"broken":              {simnet.CDNFault{Status: 500, Times: 3}, bridge.CodeMediaUnavailable},
		"busy once":           {simnet.CDNFault{Status: 503, RetryAfter: "1", Times: 1}, ""},
		"answers another way": {simnet.CDNFault{Status: 302, Times: 3}, bridge.CodeMediaUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := receives(c, t, c.Ben, Noise(100_000+len(name)*100+int(name[0])))
			k.fault.Method, k.fault.Path = http.MethodGet, f.DirectPath
			c.Network.CDN().Fail(k.fault)
			if k.code != "" {
				status := http.StatusServiceUnavailable // later may do
				if k.code == bridge.CodeMediaInvalid {
					status = http.StatusInternalServerError
				}
				Refused(t, c.Bridge.Get(f.Path), status, k.code)
			}
			c.Downloads(t, f)
		})
	}
}

// A file that is too large is not downloaded.
func TestMediaReceive_TooLarge(t *testing.T) {
	t.Parallel()
	c := PairedCast(t, "MEDIA_MAX_BYTES=100000")
	c.Downloads(t, receives(c, t, c.Ben, Noise(100_000)))
	f := receives(c, t, c.Ben, Noise(100_001))
	Refused(t, c.Bridge.Get(f.Path), http.StatusInternalServerError, bridge.CodeMediaTooLarge, "100001", "100000")
	if n := c.Network.CDN().Downloads(f.DirectPath); n != 0 {
		t.Errorf("the CDN was asked %d times", n)
	}
}

// A deleted message has no file any more, cached or not.
func TestMediaReceive_DeletedMessage(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	f := receives(c, t, c.Ben, Noise(5000))
	c.Downloads(t, f)
	id := Must(c.Ben.Revoke(Within(t), c.Owner.PN(), f.ID))(t)
	if err := c.Device.WaitAcknowledged(Within(t), id); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{f.Path, strings.Replace(f.Path, "/media/", "/media-info/", 1)} {
		Refused(t, c.Bridge.Get(path), http.StatusNotFound, bridge.CodeNotFound)
	}
	c.Bridge.Get(f.Path, "If-None-Match", tagOf(f.Bytes)).Want(http.StatusNotFound)
}
