package groups

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"net/http"
	"testing"

	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// TestGroupPicture_IsSeenByAll changes a group's picture and removes it: members' phones show it,
// the API serves it at once, and the log tells of each change once.
func TestGroupPicture_IsSeenByAll(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	b := c.Bridge
	group := NewGroup(t, c.Owner, simnet.GroupOptions{Subject: "Choir", Members: []*simnet.Phone{c.Anna, c.Ben}})
	g := Administered{TB: t, C: c, JID: bridge.JID(group.JID().String()), In: group.JID()}
	Eventually(t, func() error { _, err := b.API.Group(Within(t), g.JID); return err })
	stream := b.Stream("?types=group.updated")
	next := func() string {
		t.Helper()
		event := stream.Next()
		if event.ChatJID != g.JID || event.Group.PictureID == nil {
			t.Fatalf("%+v", event)
		}
		return *event.Group.PictureID
	}
	put := func(picture []byte, key string) apitest.Response {
		return b.Do("PUT", g.Path("/picture"), string(picture), "Content-Type", "image/png", "Idempotency-Key", key)
	}
	seen := func(what string, want color.RGBA) {
		t.Helper()
		Looks(t, what+" at Anna's", Must(group.Picture(Within(t), c.Anna, false))(t), 640, want)
		Looks(t, what+" in the API", b.Get(g.Path("/picture?size=full")).Want(http.StatusOK).Body, 640, want)
		b.Get(g.Path("/picture")).Want(http.StatusOK)
	}
	b.Get(g.Path("/picture")).Want(http.StatusNotFound)

	red, blue, green := color.RGBA{200, 20, 20, 255}, color.RGBA{20, 20, 200, 255}, color.RGBA{20, 160, 20, 255}
	var set struct{ PictureID string }
	put(Banner(t, red), "red").Want(http.StatusOK).Decode(&set)
	seen("the red picture", red)
	if id := next(); id != set.PictureID || id == "" {
		t.Errorf("told of %q, not %q", id, set.PictureID)
	}
	if got := put(Banner(t, red), "red").Want(http.StatusOK); got.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("not replayed: %s", got.Body)
	}

	// Without an answer (the first query asks for the picture before): the repeat finds the picture changed.
	c.Device.FailQueries(simnet.IQFault{Namespace: "w:profile:picture", Tag: "picture", Skip: 1, LoseAnswer: true, HangUp: true, Times: 1})
	unknown(t, c, func() apitest.Response { return put(Banner(t, blue), "blue") })
	changed := Must(group.Picture(Within(t), c.Ben, false))(t)
	put(Banner(t, blue), "blue").Want(http.StatusOK).Decode(&set)
	if again := Must(group.Picture(Within(t), c.Ben, false))(t); !bytes.Equal(changed, again) {
		t.Error("the repeat changed the picture again")
	}
	seen("the blue picture", blue)
	if id := next(); id != set.PictureID {
		t.Errorf("told of %q, not %q", id, set.PictureID)
	}

	// Another member's change is served at once, too.
	group.SetPicture(c.Anna, squareJPEG(t, green), Portrait(t, 96, 100))
	other := next()
	seen("the green picture", green)

	for range 2 { // the second finds none
		b.Do("DELETE", g.Path("/picture"), "").Want(http.StatusOK)
		if got := b.Get(g.Path("/picture")).Want(http.StatusNotFound); got.Code() != string(bridge.CodeNoPicture) {
			t.Errorf("%s", got.Body)
		}
	}
	if id := next(); id != "" || other == set.PictureID {
		t.Errorf("told of %q after %q", id, other)
	}
	if shown := Must(group.Picture(Within(t), c.Anna, true))(t); shown != nil {
		t.Error("Anna still sees a picture")
	}
	b.Do("PATCH", g.Path(""), `{"topic":"Mondays"}`).Want(http.StatusOK)
	if topic := stream.Next().Group.Topic; topic != "Mondays" {
		t.Errorf("then came %q", topic)
	}
	Refused(t, b.Do("PUT", g.Path("/picture"), "no picture", "Content-Type", "image/png"), http.StatusBadRequest, bridge.CodeUnsupportedMedia, "cannot be read as a picture")
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
	c := PairedCast(t)
	group := NewGroup(t, c.Ben, simnet.GroupOptions{Subject: "Choir", Locked: true, Members: []*simnet.Phone{c.Owner, c.Anna}})
	g := Administered{TB: t, C: c, JID: bridge.JID(group.JID().String()), In: group.JID()}
	Eventually(t, func() error { _, err := c.Bridge.API.Group(Within(t), g.JID); return err })
	change := func(method, key string) apitest.Response {
		body := ""
		if method == "PUT" {
			body = string(Banner(t, color.Black))
		}
		return c.Bridge.Do(method, g.Path("/picture"), body, "Content-Type", "image/png", "Idempotency-Key", key)
	}
	Refused(t, change("PUT", "1"), http.StatusBadRequest, bridge.CodeNotAdmin, "only an admin")
	Refused(t, change("DELETE", "2"), http.StatusBadRequest, bridge.CodeNotAdmin, "only an admin")
	if err := group.Promote(Within(t), c.Ben, c.Owner); err != nil {
		t.Fatal(err)
	}
	change("PUT", "1").Want(http.StatusOK) // it was refused
	if err := group.Remove(Within(t), c.Ben, c.Owner); err != nil {
		t.Fatal(err)
	}
	Eventually(t, func() error {
		if has(g.Stored(), c.Owner) {
			return errors.New("the account is still a member")
		}
		return nil
	})
	Refused(t, change("PUT", "3"), http.StatusBadRequest, bridge.CodeNotInGroup, "not in that group")
	Refused(t, change("DELETE", "4"), http.StatusBadRequest, bridge.CodeNotInGroup, "not in that group")
}
