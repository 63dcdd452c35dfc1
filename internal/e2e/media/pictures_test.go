package media

import (
	"bytes"
	"fmt"
	"net/http"
	"testing"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// TestPictures_AreThoseOfTheNetwork: both sizes, cached until the network reports a
// change; none if there is none or it is hidden.
func TestPictures_AreThoseOfTheNetwork(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	b := c.Bridge
	group := Must(c.Owner.CreateGroup(Within(t), simnet.GroupOptions{Subject: "Chess club", Members: []*simnet.Phone{c.Anna, c.Ben}}))(t)
	Say(t, c.Ben, c.Owner.PN(), "hello")
	Say(t, c.Anna, group.JID(), "hello all")
	Say(t, c.Carla, c.Owner.PN(), "hello")
	Eventually(t, func() error {
		for _, address := range []string{Path("/api/groups/%s", group.JID()), Path("/api/contacts/%s", c.Ben.LID()), Path("/api/contacts/%s", c.Carla.PN())} {
			if got := b.Get(address); got.Status != http.StatusOK {
				return fmt.Errorf("%s: %d", address, got.Status)
			}
		}
		return nil
	})
	full, small, other := Portrait(t, 64, 10), Portrait(t, 16, 10), Portrait(t, 16, 200)
	ben, club := Path("/api/contacts/%s/picture", c.Ben.LID()), Path("/api/groups/%s/picture", group.JID())
	c.Ben.SetPicture(full, small)
	group.SetPicture(c.Anna, full, small)
	c.Carla.SetPicture(full, small)
	c.Carla.HidePicture(true)
	if err := c.Device.WaitQuiet(Within(t)); err != nil {
		t.Fatal(err)
	}

	asked := c.Network.PictureQueries()
	for range 2 {
		for address, want := range map[string][]byte{ben: small, ben + "?size=full": full, club: small, club + "?size=full": full} {
			got := b.Get(address).Want(http.StatusOK)
			if !bytes.Equal(got.Body, want) || got.Header.Get("Content-Type") != "image/jpeg" {
				t.Errorf("%s: %d bytes of %s", address, len(got.Body), got.Header.Get("Content-Type"))
			}
			b.Get(address, "If-None-Match", got.Header.Get("ETag")).Want(http.StatusNotModified)
		}
		for address, want := range map[string]string{
			Path("/api/contacts/%s/picture", c.Carla.PN()): "picture_hidden", Path("/api/contacts/%s/picture", c.Anna.PN()): "no_picture",
		} {
			if got := b.Get(address).Want(http.StatusNotFound); got.Code() != want {
				t.Errorf("%s: %s", address, got.Body)
			}
		}
	}
	if n := c.Network.PictureQueries() - asked; n != 6 {
		t.Errorf("the network was asked %d times about 6 pictures", n)
	}

	// A change drops both cached sizes.
	c.Ben.SetPicture(other, other)
	group.SetPicture(c.Ben, nil, nil)
	c.Anna.SetPicture(other, small)
	Eventually(t, func() error {
		if got := b.Get(ben); !bytes.Equal(got.Body, other) {
			return fmt.Errorf("Ben's picture is still the old one")
		}
		if got := b.Get(club); got.Code() != "no_picture" {
			return fmt.Errorf("the group still has a picture: %d", got.Status)
		}
		if got := b.Get(Path("/api/contacts/%s/picture", c.Anna.PN())); !bytes.Equal(got.Body, small) {
			return fmt.Errorf("Anna still has none: %d", got.Status)
		}
		return nil
	})

	// What was fetched while a change was announced is not kept.
	if err := c.Device.WaitQuiet(Within(t)); err != nil {
		t.Fatal(err)
	}
	b.Get(ben).Want(http.StatusOK)

	// Without the network, only cached pictures are served, even after a restart.
	c.Network.Down()
	b.Restart()
	b.Get(ben).Want(http.StatusOK)
	if got := b.Get(ben + "?size=full").Want(http.StatusServiceUnavailable); got.Code() != string(bridge.CodeNotConnected) {
		t.Errorf("not connected: %s", got.Body)
	}
}
