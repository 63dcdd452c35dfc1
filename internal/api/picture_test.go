package api_test

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/media/cdn"
	"bridged/internal/media/files"
)

// Picture is part of files.PictureAccount: people and groups have one where a file
// on the CDN bears their name.
func (c *fakeCDN) Picture(_ context.Context, of bridge.JID, size bridge.PictureSize) (bridge.Picture, error) {
	if err := c.account.Ready(); err != nil {
		return bridge.Picture{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pictured++
	if c.refused != nil {
		return bridge.Picture{}, c.refused
	}
	path := picturePath(of, size)
	if c.files[path] == nil {
		return bridge.Picture{}, bridge.Fail(bridge.CodeNoPicture, "there is no picture")
	}
	return bridge.Picture{DirectPath: path + "?ccb=11-4"}, nil
}

func picturePath(of bridge.JID, size bridge.PictureSize) string {
	return "/v/" + string(size) + "-" + of.User() + ".jpg"
}

// show puts a picture of somebody on the CDN.
func (c *fakeCDN) show(of bridge.JID, size bridge.PictureSize, content string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files[picturePath(of, size)] = []byte(content)
}

// refuse has the network refuse to tell of pictures.
func (c *fakeCDN) refuse(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused = err
}

// askedForPictures returns how often the network was asked where a picture is.
func (c *fakeCDN) askedForPictures() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pictured
}

func newPictures(t *testing.T, fake *fakeCDN) *files.Pictures {
	t.Helper()
	authority := x509.NewCertPool()
	authority.AddCert(fake.server.Certificate())
	p, err := files.NewPictures(files.PicturesOptions{
		Dir: t.TempDir(), MaxBytes: 1 << 20, CDN: cdn.New(cdn.Options{Authority: authority, TempDir: t.TempDir(), Log: zerolog.Nop()}),
		Account: fake, Log: zerolog.Nop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const jpeg, png = "\xff\xd8\xff\xe0\x00\x10JFIF\x00 a picture", "\x89PNG\r\n\x1a\n another"

func TestPictures_AreServedAndKept(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	s.cdn.show(grace, bridge.PicturePreview, jpeg)
	s.cdn.show(grace, bridge.PictureFull, png)
	s.cdn.show(club, bridge.PicturePreview, png)
	for path, want := range map[string][3]string{
		"/api/contacts/" + grace.Escaped() + "/picture":              {jpeg, "image/jpeg", `inline; filename="preview.jpeg"`},
		"/api/contacts/" + grace.Escaped() + "/picture?size=preview": {jpeg, "image/jpeg", `inline; filename="preview.jpeg"`},
		"/api/contacts/" + grace.Escaped() + "/picture?size=full":    {png, "image/png", `inline; filename="full.png"`},
		"/api/groups/" + club.Escaped() + "/picture":                 {png, "image/png", `inline; filename="preview.png"`},
	} {
		sum := sha256.Sum256([]byte(want[0]))
		tag := `"` + hex.EncodeToString(sum[:]) + `"`
		for range 2 {
			got := s.Get(path, "Range", "bytes=0-1").Want(http.StatusOK)
			for name, value := range map[string]string{
				"Content-Type": want[1], "Content-Disposition": want[2], "ETag": tag, "Cache-Control": "private, no-cache",
				"Content-Security-Policy": "default-src 'none'; sandbox", "X-Content-Type-Options": "nosniff", "Content-Length": fmt.Sprint(len(want[0])),
			} {
				if got.Header.Get(name) != value {
					t.Errorf("%s: %s is %q, want %q", path, name, got.Header.Get(name), value)
				}
			}
			if string(got.Body) != want[0] || got.Header.Get("Last-Modified") == "" {
				t.Errorf("%s: %q", path, got.Body)
			}
		}
		s.Get(path, "If-None-Match", tag).Want(http.StatusNotModified)
		if got := s.Get(path, "If-Match", `"x"`).Want(http.StatusPreconditionFailed); got.Code() != "precondition_failed" || got.Header.Get("ETag") != "" {
			t.Errorf("%s: %s", path, got.Body)
		}
		if got := s.Do(http.MethodHead, path, ""); got.Status != http.StatusOK || len(got.Body) != 0 || got.Header.Get("ETag") != tag {
			t.Errorf("HEAD %s: %d %v", path, got.Status, got.Header)
		}
	}
	if n := s.cdn.askedForPictures(); n != 3 {
		t.Errorf("the network was asked %d times for 3 pictures", n)
	}
}

func TestPictures_ThatAreNotThere(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	s.know(bridge.Contact{JID: alan, PushName: name("Alan")})
	mine := "/api/contacts/" + alan.Escaped() + "/picture"
	for range 2 {
		if got := s.Get(mine).Want(http.StatusNotFound); got.Code() != "no_picture" {
			t.Errorf("without a picture: %s", got.Body)
		}
	}
	if n := s.cdn.askedForPictures(); n != 1 {
		t.Errorf("asked %d times for none", n)
	}
	s.cdn.refuse(bridge.Fail(bridge.CodePictureHidden, "hidden"))
	for range 2 {
		if got := s.Get("/api/groups/" + club.Escaped() + "/picture").Want(http.StatusNotFound); got.Code() != "picture_hidden" {
			t.Errorf("hidden: %s", got.Body)
		}
	}
	if n := s.cdn.askedForPictures(); n != 2 {
		t.Errorf("asked %d times", n)
	}
	s.account.closed()
	if got := s.Get(mine).Want(http.StatusNotFound); got.Code() != "no_picture" { // kept
		t.Errorf("%s", got.Body)
	}
	if got := s.Get(mine + "?size=full").Want(http.StatusServiceUnavailable); got.Code() != "not_connected" {
		t.Errorf("not connected: %s", got.Body)
	}
}

func TestPictures_RefuseWhatIsWrong(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	for path, want := range map[string]int{
		"/api/contacts/" + club.Escaped() + "/picture": 400, "/api/contacts/x/picture": 400, "/api/groups/" + grace.Escaped() + "/picture": 400,
		"/api/groups/x/picture": 400, "/api/contacts/" + alan.Escaped() + "/picture": 404, "/api/groups/999%40g.us/picture": 404,
		"/api/contacts/" + grace.Escaped() + "/picture?size=huge": 400, "/api/groups/" + club.Escaped() + "/picture?size=": 400,
		"/api/contacts/" + grace.Escaped() + "/picture?size=full&size=full": 400,
	} {
		s.Get(path).Want(want)
	}
	if n := s.cdn.askedForPictures(); n != 0 {
		t.Errorf("the network was asked %d times", n)
	}
}

// What the media server sends is checked before anything of it is shown.
func TestPictures_FailuresOfNetworkAndService(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	for i, c := range []struct {
		refused error
		content string
		status  int
		want    int
		code    string
	}{
		{content: "<html><script>alert(1)</script></html>", status: 200, want: 500, code: "media_invalid"},
		{content: "<svg xmlns='http://www.w3.org/2000/svg'></svg>", status: 200, want: 500, code: "media_invalid"},
		{content: jpeg + string(make([]byte, 1<<20)), status: 200, want: 500, code: "media_too_large"},
		{status: 404, want: 503, code: "media_unavailable"},
		{status: 302, want: 503, code: "media_unavailable"},
		{refused: &bridge.Error{Code: bridge.CodeRateLimited, Msg: "x"}, want: 429, code: "rate_limited"},
		{refused: &bridge.Error{Code: bridge.CodeSendRefused, Msg: "x"}, want: 502, code: "send_refused"},
	} {
		s.cdn.refuse(c.refused)
		s.cdn.show(grace, bridge.PicturePreview, "x")
		s.cdn.show(club, bridge.PicturePreview, "x")
		s.cdn.answers(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "https://169.254.169.254/")
			w.WriteHeader(c.status)
			_, _ = w.Write([]byte(c.content))
		})
		for _, path := range []string{"/api/contacts/" + grace.Escaped() + "/picture", "/api/groups/" + club.Escaped() + "/picture"} {
			if got := s.Get(path); got.Status != c.want || got.Code() != c.code {
				t.Errorf("%d: %d %s, want %d %s", i, got.Status, got.Body, c.want, c.code)
			}
		}
	}
}

func TestPictures_OfATokenWithChats(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	s.cdn.show(grace, bridge.PicturePreview, jpeg)
	s.cdn.show(club, bridge.PicturePreview, jpeg)
	limited := s.as(s.token(`{"name":"x","scopes":["read"],"chats":["` + string(grace) + `"]}`))
	limited.Get("/api/contacts/" + url.PathEscape(string(grace)) + "/picture").Want(http.StatusOK)
	limited.Get("/api/groups/" + club.Escaped() + "/picture").Want(http.StatusNotFound)
}
