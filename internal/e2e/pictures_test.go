package e2e

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"net/http"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// portrait returns a picture that depends on its shade.
func portrait(t testing.TB, size int, shade uint8) []byte {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, size, size))
	for i := range img.Pix {
		img.Pix[i] = shade
	}
	img.SetGray(0, 0, color.Gray{Y: 255 - shade})
	var out bytes.Buffer
	if err := jpeg.Encode(&out, img, nil); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestPictures_AreThoseOfTheNetwork: both sizes, cached until the network reports a
// change; none if there is none or it is hidden.
func TestPictures_AreThoseOfTheNetwork(t *testing.T) {
	t.Parallel()
	c := pairedCast(t)
	b := c.bridge
	group := must(c.owner.CreateGroup(within(t), simnet.GroupOptions{Subject: "Chess club", Members: []*simnet.Phone{c.anna, c.ben}}))(t)
	say(t, c.ben, c.owner.PN(), "hello")
	say(t, c.anna, group.JID(), "hello all")
	say(t, c.carla, c.owner.PN(), "hello")
	eventually(t, func() error {
		for _, address := range []string{path("/api/groups/%s", group.JID()), path("/api/contacts/%s", c.ben.LID()), path("/api/contacts/%s", c.carla.PN())} {
			if got := b.Get(address); got.Status != http.StatusOK {
				return fmt.Errorf("%s: %d", address, got.Status)
			}
		}
		return nil
	})
	full, small, other := portrait(t, 64, 10), portrait(t, 16, 10), portrait(t, 16, 200)
	ben, club := path("/api/contacts/%s/picture", c.ben.LID()), path("/api/groups/%s/picture", group.JID())
	c.ben.SetPicture(full, small)
	group.SetPicture(c.anna, full, small)
	c.carla.SetPicture(full, small)
	c.carla.HidePicture(true)
	if err := c.device.WaitQuiet(within(t)); err != nil {
		t.Fatal(err)
	}

	asked := c.network.PictureQueries()
	for range 2 {
		for address, want := range map[string][]byte{ben: small, ben + "?size=full": full, club: small, club + "?size=full": full} {
			got := b.Get(address).Want(http.StatusOK)
			if !bytes.Equal(got.Body, want) || got.Header.Get("Content-Type") != "image/jpeg" {
				t.Errorf("%s: %d bytes of %s", address, len(got.Body), got.Header.Get("Content-Type"))
			}
			b.Get(address, "If-None-Match", got.Header.Get("ETag")).Want(http.StatusNotModified)
		}
		for address, want := range map[string]string{
			path("/api/contacts/%s/picture", c.carla.PN()): "picture_hidden", path("/api/contacts/%s/picture", c.anna.PN()): "no_picture",
		} {
			if got := b.Get(address).Want(http.StatusNotFound); got.Code() != want {
				t.Errorf("%s: %s", address, got.Body)
			}
		}
	}
	if n := c.network.PictureQueries() - asked; n != 6 {
		t.Errorf("the network was asked %d times about 6 pictures", n)
	}

	// A change drops both cached sizes.
	c.ben.SetPicture(other, other)
	group.SetPicture(c.ben, nil, nil)
	c.anna.SetPicture(other, small)
	eventually(t, func() error {
		if got := b.Get(ben); !bytes.Equal(got.Body, other) {
			return fmt.Errorf("Ben's picture is still the old one")
		}
		if got := b.Get(club); got.Code() != "no_picture" {
			return fmt.Errorf("the group still has a picture: %d", got.Status)
		}
		if got := b.Get(path("/api/contacts/%s/picture", c.anna.PN())); !bytes.Equal(got.Body, small) {
			return fmt.Errorf("Anna still has none: %d", got.Status)
		}
		return nil
	})

	// What was fetched while a change was announced is not kept.
	if err := c.device.WaitQuiet(within(t)); err != nil {
		t.Fatal(err)
	}
	b.Get(ben).Want(http.StatusOK)

	// Without the network, only cached pictures are served, even after a restart.
	c.network.Down()
	b.restart()
	b.Get(ben).Want(http.StatusOK)
	if got := b.Get(ben + "?size=full").Want(http.StatusServiceUnavailable); got.Code() != string(bridge.CodeNotConnected) {
		t.Errorf("not connected: %s", got.Body)
	}
}
