package crashes

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/demo"
	. "bridged/internal/e2e/harness"
	"bridged/internal/longtest"
	"bridged/internal/simnet"
)

// TestKills_AtScheduledMessages kills the program about when scheduled messages are due. Each arrives once: under
// the id that it had from the beginning, and under no other.
func TestKills_AtScheduledMessages(t *testing.T) {
	t.Parallel()
	network, owner := NewOwner(t, simnet.PhoneOptions{})
	friends := []*simnet.Phone{
		NewPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"}),
		NewPhone(t, network, simnet.PhoneOptions{Number: "15550100302", Name: "Kim"}),
	}
	p := StartBridge(t, network, "LOG_LEVEL=info")
	Pair(t, p, owner)
	kills, each := longtest.Else(4, 30), 3
	ids := make(map[string]simnet.MessageID)
	albums := make(map[string]simnet.MessageID) // by their captions
	for round := range kills {
		due := time.Now().Add(2 * time.Second) // the calls may take long on a busy machine
		for n := range each {
			for _, friend := range friends {
				text := fmt.Sprintf("round %d, message %d to %s", round, n, friend.Name())
				var answer struct{ MsgID string }
				p.Post("/api/messages/send", Object{"jid": friend.PN().String(), "text": text, "sendAt": due.Format(time.RFC3339Nano)}).Want(http.StatusOK).Decode(&answer)
				ids[text] = answer.MsgID
			}
		}
		caption, sendAt := fmt.Sprintf("album %d", round), bridge.At(due)
		albums[caption] = Must(p.API.SendAlbum(Within(t), client.Album{To: bridge.JID(friends[0].PN().String()), SendAt: &sendAt, Items: []client.AlbumItem{
			{Part: "one", Type: bridge.MediaImage, Caption: caption, File: bytes.NewReader(demo.Picture(40, 30))},
			{Part: "two", Type: bridge.MediaImage, File: bytes.NewReader(demo.Picture(30, 40))},
		}}, ""))(t).ID
		killAfter(p, time.Until(due)+time.Duration(rand.IntN(250)-20)*time.Millisecond)
		p.Start()
		p.Becomes(bridge.StateOpen)
	}
	for text, id := range ids {
		for _, friend := range friends {
			if friend.Name() == text[len(text)-len(friend.Name()):] {
				Must(friend.ReceivedID(Within(t), id))(t)
			}
		}
	}
	for caption, id := range albums {
		if items := Must(friends[0].Album(Within(t), id))(t); len(items) != 2 || items[0].Text() != caption {
			t.Errorf("%s: %d items arrived", caption, len(items))
		}
	}
	Eventually(t, func() error {
		var list struct{ Scheduled []bridge.ScheduledMessage }
		p.Get("/api/scheduled").Want(http.StatusOK).Decode(&list)
		if len(list.Scheduled) > 0 {
			return fmt.Errorf("still scheduled: %+v", list.Scheduled)
		}
		return nil
	})
	for _, friend := range friends {
		count, captions := 0, make(map[string]simnet.MessageID)
		for _, m := range friend.Messages() {
			text := m.Text()
			if albums[text] != "" {
				if id := captions[text]; id != "" && id != m.Info.ID {
					t.Errorf("%s arrived under %s and %s", text, id, m.Info.ID)
				}
				captions[text] = m.Info.ID
			}
			if text == "" || albums[text] != "" {
				continue
			}
			if count++; ids[m.Text()] != m.Info.ID {
				t.Errorf("%q arrived under %s, not %s", m.Text(), m.Info.ID, ids[m.Text()])
			}
		}
		if want := kills * each; count < want {
			t.Errorf("%s has %d messages of %d", friend.Name(), count, want)
		}
	}
	t.Logf("%d kills, %d messages, %d albums", kills, len(ids), len(albums))
}

// killAfter kills a program after a pause, in which it must not end by itself.
func killAfter(p *Process, pause time.Duration) {
	p.T.Helper()
	select {
	case <-time.After(pause):
	case <-p.Exited:
		p.T.Fatal("the program ended by itself")
	}
	p.Kill()
}
