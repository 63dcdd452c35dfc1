package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// TestMediaReupload_NamesMessagesAsTheyCame: the phone finds a message only by the
// forms that chat and sender had on the wire, LID or number. After a wrong guess it
// answers so, or not at all.
func TestMediaReupload_NamesMessagesAsTheyCame(t *testing.T) {
	t.Parallel()
	c := pairedCast(t)
	byLID := newGroup(t, c.anna, simnet.GroupOptions{Subject: "By LID", Members: []*simnet.Phone{c.owner, c.ben}})
	byNumber := newGroup(t, c.anna, simnet.GroupOptions{Subject: "By number", Members: []*simnet.Phone{c.owner, c.ben}, ByNumber: true})
	send := func(t *testing.T, by *simnet.Phone, to simnet.JID, file string) sentFile {
		t.Helper()
		id := must(by.SendImage(within(t), to, simnet.Media{Data: []byte(file)}))(t)
		if to == c.owner.PN() {
			return c.arrived(t, id, by.PN(), []byte(file))
		}
		return c.arrived(t, id, to, []byte(file))
	}
	expires := func(t *testing.T, f sentFile, how simnet.MediaAnswer) {
		t.Helper()
		c.owner.AnswerMedia(how)
		c.network.CDN().Expire(f.directPath)
		c.downloads(t, f)
	}
	for _, k := range []struct {
		name string
		by   *simnet.Phone
		to   simnet.JID
	}{
		{"from a LID", c.anna, c.owner.PN()},
		{"from a number", c.ben, c.owner.PN()},
		{"in a group by LID", c.anna, byLID.JID()},
		{"in a group by number", c.ben, byNumber.JID()},
	} {
		t.Run(k.name, func(t *testing.T) { expires(t, send(t, k.by, k.to, "lost "+k.name), simnet.MediaByForm) })
	}
	t.Run("under an id that cannot stand in a path", func(t *testing.T) {
		const file, id = "lost under a strange id", "a/../b c"
		must(c.anna.SendImage(within(t), c.owner.PN(), simnet.Media{Data: []byte(file)}, simnet.WithID(id)))(t)
		f, hash := c.arrived(t, id, c.anna.PN(), []byte(file)), sha256.Sum256([]byte(id))
		f.path = bridge.DownloadPath(bridge.JID(c.anna.PN().String()), "x-"+hex.EncodeToString(hash[:16]))
		expires(t, f, simnet.MediaByForm)
	})
	t.Run("the phone is silent", func(t *testing.T) {
		expires(t, send(t, c.ben, c.owner.PN(), "lost silently"), simnet.MediaByFormSilent)
	})
}
