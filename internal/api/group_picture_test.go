package api_test

import (
	"bytes"
	"image"
	"image/color"
	pngs "image/png"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
)

// square is a picture that a group can have.
var square = picturePNG(200, 200)

func picturePNG(width, height int) string {
	var out bytes.Buffer
	if err := pngs.Encode(&out, image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.White, color.Black})); err != nil {
		panic(err)
	}
	return out.String()
}

// TestGroupPicture_IsASquareJPEG: what comes as the body or in a form is cut to a square that the
// network takes, and is asked for once.
func TestGroupPicture_IsASquareJPEG(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	path := "/api/groups/" + club.Escaped() + "/picture"
	img, form := []string{"Content-Type", "image/png"}, []string{"Content-Type", "multipart/form-data; boundary=line"}
	for _, c := range []struct {
		body    string
		headers []string
		want    image.Point
	}{
		{picturePNG(900, 700), img, image.Pt(640, 640)},
		{picturePNG(3000, 300), []string{"Content-Type", "image/x-icon"}, image.Pt(300, 300)},
		{picturePNG(10, 20), []string{"Content-Type", "application/octet-stream"}, image.Pt(192, 192)},
		{formOf("file", square), form, image.Pt(200, 200)},
	} {
		before := len(s.account.groupAdmin.made())
		var done struct {
			JID       bridge.JID
			PictureID string
		}
		s.Do("PUT", path, c.body, c.headers...).Want(http.StatusOK).Decode(&done)
		if done.JID != club || done.PictureID != "the new one" {
			t.Errorf("%+v", done)
		}
		if diff := cmp.Diff([]any{pictureCall{club, c.want, nil}}, s.account.groupAdmin.made()[before:]); diff != "" {
			t.Error(diff)
		}
	}
	for _, c := range []struct {
		body, says string
		headers    []string
		status     int
	}{
		{"", "the picture is empty", nil, 400},
		{"no picture", "cannot be read as a picture", nil, 400},
		{"\x89PNG\r\n\x1a\n broken", "cannot be read as a picture", nil, 400},
		{formOf("picture", square), `"picture" is not a field of this form`, form, 400},
		{formOf("file", square, "file", square), "more than once", form, 400},
		{formOf(), "file is required", form, 400},
		{formOf("file", square)[:80], "incomplete", form, 400},
		{square, "boundary", []string{"Content-Type", "multipart/form-data"}, 400},
		{strings.Repeat("x", 2<<20), "MEDIA_MAX_BYTES", nil, 413},
	} {
		if got := s.Do("PUT", path, c.body, c.headers...); got.Status != c.status || !strings.Contains(got.Error(), c.says) {
			t.Errorf("%.20q: %d %s, want %d %q", c.body, got.Status, got.Body, c.status, c.says)
		}
	}
}

// TestGroupPicture_OfARepeatedCall: a repeat after an unknown outcome says which picture there was
// before; the new one is served from then on.
func TestGroupPicture_OfARepeatedCall(t *testing.T) {
	t.Parallel()
	s := stocked(t)
	path := "/api/groups/" + club.Escaped() + "/picture"
	s.Get(path).Want(http.StatusOK)
	s.cdn.show(club, bridge.PicturePreview, png)
	s.account.groupAdmin.do = func(any) error { return bridge.Fail(bridge.CodeSendTimeout, "no answer") }
	s.Do("PUT", path, square, "Idempotency-Key", "k", "Content-Type", "image/png").Want(http.StatusGatewayTimeout)
	if got := s.Get(path).Want(http.StatusOK); string(got.Body) != jpeg {
		t.Errorf("before: %q", got.Body)
	}
	s.account.groupAdmin.do = func(any) error { return nil }
	s.Do("PUT", path, square, "Idempotency-Key", "k", "Content-Type", "image/png").Want(http.StatusOK)
	if got := s.Do("PUT", path, square, "Idempotency-Key", "k", "Content-Type", "image/png").Want(http.StatusOK); got.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("not replayed: %s", got.Body)
	}
	if got := s.Get(path).Want(http.StatusOK); string(got.Body) != png {
		t.Errorf("after: %q", got.Body)
	}
	want := []any{pictureCall{club, image.Pt(200, 200), nil}, pictureCall{club, image.Pt(200, 200), new("the old one")}}
	if diff := cmp.Diff(want, s.account.groupAdmin.made()); diff != "" {
		t.Error(diff)
	}
	s.Do("DELETE", path, "", "Idempotency-Key", "gone").Want(http.StatusOK)
	if got := s.Do("PUT", path, picturePNG(200, 201), "Idempotency-Key", "k", "Content-Type", "image/png"); got.Status != http.StatusUnprocessableEntity {
		t.Errorf("another picture with the same key: %s", got.Body)
	}
}
