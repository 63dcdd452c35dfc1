package media

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// TestMediaReupload_NamesMessagesAsTheyCame: the phone finds a message only by the
// forms that chat and sender had on the wire, LID or number. After a wrong guess it
// answers so, or not at all.
func TestMediaReupload_NamesMessagesAsTheyCame(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	byLID := NewGroup(t, c.Anna, simnet.GroupOptions{Subject: "By LID", Members: []*simnet.Phone{c.Owner, c.Ben}})
	byNumber := NewGroup(t, c.Anna, simnet.GroupOptions{Subject: "By number", Members: []*simnet.Phone{c.Owner, c.Ben}, ByNumber: true})
	send := func(t *testing.T, by *simnet.Phone, to simnet.JID, file string) SentFile {
		t.Helper()
		id := Must(by.SendImage(Within(t), to, simnet.Media{Data: []byte(file)}))(t)
		if to == c.Owner.PN() {
			return c.Arrived(t, id, by.PN(), []byte(file))
		}
		return c.Arrived(t, id, to, []byte(file))
	}
	expires := func(t *testing.T, f SentFile, how simnet.MediaAnswer) {
		t.Helper()
		c.Owner.AnswerMedia(how)
		c.Network.CDN().Expire(f.DirectPath)
		c.Downloads(t, f)
	}
	for _, k := range []struct {
		name string
		by   *simnet.Phone
		to   simnet.JID
	}{
		{"from a LID", c.Anna, c.Owner.PN()},
		{"from a number", c.Ben, c.Owner.PN()},
		{"in a group by LID", c.Anna, byLID.JID()},
		{"in a group by number", c.Ben, byNumber.JID()},
	} {
		t.Run(k.name, func(t *testing.T) { expires(t, send(t, k.by, k.to, "lost "+k.name), simnet.MediaByForm) })
	}
	t.Run("under an id that cannot stand in a path", func(t *testing.T) {
		const file, id = "lost under a strange id", "a/../b c"
		Must(c.Anna.SendImage(Within(t), c.Owner.PN(), simnet.Media{Data: []byte(file)}, simnet.WithID(id)))(t)
		f, hash := c.Arrived(t, id, c.Anna.PN(), []byte(file)), sha256.Sum256([]byte(id))
		f.Path = bridge.DownloadPath(bridge.JID(c.Anna.PN().String()), "x-"+hex.EncodeToString(hash[:16]))
		expires(t, f, simnet.MediaByForm)
	})
	t.Run("the phone is silent", func(t *testing.T) {
		expires(t, send(t, c.Ben, c.Owner.PN(), "lost silently"), simnet.MediaByFormSilent)
	})
}
