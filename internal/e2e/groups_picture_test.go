package e2e

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"net/http"
	"testing"

	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// banner returns a PNG that is white at both ends and of one colour in the middle.
func banner(t testing.TB, middle color.Color) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 1200, 700))
	for x := range 1200 {
		for y := range 700 {
			img.Set(x, y, color.White)
			if x >= 250 && x < 950 {
				img.Set(x, y, middle)
			}
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// looks checks that a picture is a square JPEG of one colour.
func looks(t testing.TB, what string, picture []byte, side int, want color.RGBA) {
	t.Helper()
	img, err := jpeg.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Errorf("%s is no JPEG: %v", what, err)
		return
	}
	if size := img.Bounds().Size(); size != image.Pt(side, side) {
		t.Errorf("%s has %v", what, size)
	}
	near := func(a uint32, b uint8) bool { d := int(a>>8) - int(b); return d > -24 && d < 24 }
	for _, at := range []image.Point{{4, 4}, {side / 2, side / 2}, {side - 5, side - 5}} {
		if r, g, b, _ := img.At(at.X, at.Y).RGBA(); !near(r, want.R) || !near(g, want.G) || !near(b, want.B) {
			t.Errorf("%s is %v at %v", what, img.At(at.X, at.Y), at)
		}
	}
}

// TestGroupPicture_IsSeenByAll changes a group's picture and removes it: members' phones show it,
// the API serves it at once, and the log tells of each change once.
func TestGroupPicture_IsSeenByAll(t *testing.T) {
	t.Parallel()
	c := pairedCast(t)
	b := c.bridge
	group := newGroup(t, c.owner, simnet.GroupOptions{Subject: "Choir", Members: []*simnet.Phone{c.anna, c.ben}})
	g := administered{TB: t, c: c, jid: bridge.JID(group.JID().String()), in: group.JID()}
	eventually(t, func() error { _, err := b.api.Group(within(t), g.jid); return err })
	stream := b.stream("?types=group.updated")
	next := func() string {
		t.Helper()
		event := stream.next()
		if event.ChatJID != g.jid || event.Group.PictureID == nil {
			t.Fatalf("%+v", event)
		}
		return *event.Group.PictureID
	}
	put := func(picture []byte, key string) apitest.Response {
		return b.Do("PUT", g.path("/picture"), string(picture), "Content-Type", "image/png", "Idempotency-Key", key)
	}
	seen := func(what string, want color.RGBA) {
		t.Helper()
		looks(t, what+" at Anna's", must(group.Picture(within(t), c.anna, false))(t), 640, want)
		looks(t, what+" in the API", b.Get(g.path("/picture?size=full")).Want(http.StatusOK).Body, 640, want)
		b.Get(g.path("/picture")).Want(http.StatusOK)
	}
	b.Get(g.path("/picture")).Want(http.StatusNotFound)

	red, blue, green := color.RGBA{200, 20, 20, 255}, color.RGBA{20, 20, 200, 255}, color.RGBA{20, 160, 20, 255}
	var set struct{ PictureID string }
	put(banner(t, red), "red").Want(http.StatusOK).Decode(&set)
	seen("the red picture", red)
	if id := next(); id != set.PictureID || id == "" {
		t.Errorf("told of %q, not %q", id, set.PictureID)
	}
	if got := put(banner(t, red), "red").Want(http.StatusOK); got.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("not replayed: %s", got.Body)
	}

	// Without an answer (the first query asks for the picture before): the repeat finds the picture changed.
	c.device.FailQueries(simnet.IQFault{Namespace: "w:profile:picture", Tag: "picture", Skip: 1, LoseAnswer: true, HangUp: true, Times: 1})
	unknown(t, c, func() apitest.Response { return put(banner(t, blue), "blue") })
	changed := must(group.Picture(within(t), c.ben, false))(t)
	put(banner(t, blue), "blue").Want(http.StatusOK).Decode(&set)
	if again := must(group.Picture(within(t), c.ben, false))(t); !bytes.Equal(changed, again) {
		t.Error("the repeat changed the picture again")
	}
	seen("the blue picture", blue)
	if id := next(); id != set.PictureID {
		t.Errorf("told of %q, not %q", id, set.PictureID)
	}

	// Another member's change is served at once, too.
	group.SetPicture(c.anna, squareJPEG(t, green), portrait(t, 96, 100))
	other := next()
	seen("the green picture", green)

	for range 2 { // the second finds none
		b.Do("DELETE", g.path("/picture"), "").Want(http.StatusOK)
		if got := b.Get(g.path("/picture")).Want(http.StatusNotFound); got.Code() != string(bridge.CodeNoPicture) {
			t.Errorf("%s", got.Body)
		}
	}
	if id := next(); id != "" || other == set.PictureID {
		t.Errorf("told of %q after %q", id, other)
	}
	if shown := must(group.Picture(within(t), c.anna, true))(t); shown != nil {
		t.Error("Anna still sees a picture")
	}
	b.Do("PATCH", g.path(""), `{"topic":"Mondays"}`).Want(http.StatusOK)
	if topic := stream.next().Group.Topic; topic != "Mondays" {
		t.Errorf("then came %q", topic)
	}
	refused(t, b.Do("PUT", g.path("/picture"), "no picture", "Content-Type", "image/png"), http.StatusBadRequest, bridge.CodeUnsupportedMedia, "cannot be read as a picture")
}

func squareJPEG(t testing.TB, c color.RGBA) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 640, 640))
	for i := range img.Pix {
		img.Pix[i] = []uint8{c.R, c.G, c.B, c.A}[i%4]
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, img, nil); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestGroupPicture_OnlyWhereItMayBeChanged: in a locked group by admins alone, and by nobody outside.
func TestGroupPicture_OnlyWhereItMayBeChanged(t *testing.T) {
	t.Parallel()
	c := pairedCast(t)
	group := newGroup(t, c.ben, simnet.GroupOptions{Subject: "Choir", Locked: true, Members: []*simnet.Phone{c.owner, c.anna}})
	g := administered{TB: t, c: c, jid: bridge.JID(group.JID().String()), in: group.JID()}
	eventually(t, func() error { _, err := c.bridge.api.Group(within(t), g.jid); return err })
	change := func(method, key string) apitest.Response {
		body := ""
		if method == "PUT" {
			body = string(banner(t, color.Black))
		}
		return c.bridge.Do(method, g.path("/picture"), body, "Content-Type", "image/png", "Idempotency-Key", key)
	}
	refused(t, change("PUT", "1"), http.StatusBadRequest, bridge.CodeNotAdmin, "only an admin")
	refused(t, change("DELETE", "2"), http.StatusBadRequest, bridge.CodeNotAdmin, "only an admin")
	if err := group.Promote(within(t), c.ben, c.owner); err != nil {
		t.Fatal(err)
	}
	change("PUT", "1").Want(http.StatusOK) // it was refused
	if err := group.Remove(within(t), c.ben, c.owner); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		if has(g.stored(), c.owner) {
			return errors.New("the account is still a member")
		}
		return nil
	})
	refused(t, change("PUT", "3"), http.StatusBadRequest, bridge.CodeNotInGroup, "not in that group")
	refused(t, change("DELETE", "4"), http.StatusBadRequest, bridge.CodeNotInGroup, "not in that group")
}
