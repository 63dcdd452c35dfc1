package sending

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// limited checks that a send was refused because of too many new chats.
func limited(t *testing.T, resp apitest.Response, words ...string) {
	t.Helper()
	Refused(t, resp, http.StatusTooManyRequests, bridge.CodeNewChatsLimited, append(words, "the next may begin in")...)
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err != nil || seconds < 1 || seconds > 24*60*60 {
		t.Errorf("Retry-After is %q", resp.Header.Get("Retry-After"))
	}
}

// TestNewChats_AreLimited: beyond the daily limit, no new person is written to,
// looked up or uploaded for, even after a restart. Answers to people who wrote
// first, or had a chat before the pairing, are not limited, and neither are groups.
func TestNewChats_AreLimited(t *testing.T) {
	t.Parallel()
	c := NewCast(t, "NEW_CHATS_PER_DAY=2", FetchesLoopback)
	customer := NewPhone(t, c.Network, simnet.PhoneOptions{Number: "491510000005", Name: "Cleo"})
	Pair(t, c.Bridge, c.Owner)
	group := NewGroup(t, c.Owner, simnet.GroupOptions{Subject: "Hike", Members: []*simnet.Phone{c.Carla}})
	picture := NewWebsite(t).Has("/a.jpg", Photo(t, 64, 64))
	writes := func(to simnet.JID, headers ...string) apitest.Response {
		return c.Bridge.Post("/api/messages/send", Object{"jid": to.String(), "text": "hello"}, headers...)
	}
	for _, phone := range []*simnet.Phone{c.Anna, c.Ben} {
		id := SentID(t, writes(phone.PN()))
		Must(phone.ReceivedID(Within(t), id))(t)
	}
	uploads := c.Network.CDN().Uploads()
	stays := func() {
		t.Helper()
		limited(t, writes(c.Carla.PN(), "Idempotency-Key", "patient"), "NEW_CHATS_PER_DAY=2", "whoever wrote first")
		limited(t, writes(c.Carla.LID()))
		limited(t, c.Bridge.Post("/api/messages/send-media", Object{"jid": c.Carla.PN().String(), "url": picture, "type": "image"}))
		SentID(t, writes(c.Anna.PN()))
		SentID(t, writes(group.JID()))
	}
	stays()
	c.Bridge.Restart()
	c.Bridge.Becomes(bridge.StateOpen)
	stays()
	if n := c.Network.LookUps(c.Carla.Number()); n != 0 {
		t.Errorf("the network was asked %d times about a person who may not be written to", n)
	}
	if n := c.Network.CDN().Uploads() - uploads; n != 0 {
		t.Errorf("%d uploads for a refused chat", n)
	}

	customer.Trust(c.Owner)
	Eventually(t, func() error {
		if resp := writes(customer.LID()); resp.Status != http.StatusOK {
			return fmt.Errorf("answered %s", resp.Body)
		}
		return nil
	})
	question := Say(t, c.Carla, c.Owner.PN(), "are you open?")
	Eventually(t, func() error {
		if got := c.Bridge.Get(Path("/api/messages/individual/%s", c.Carla.PN())); !strings.Contains(string(got.Body), question) {
			return errors.New("the question has not come")
		}
		return nil
	})
	id := SentID(t, writes(c.Carla.PN(), "Idempotency-Key", "patient"))
	Must(c.Carla.ReceivedID(Within(t), id))(t)
}

// TestNewChats_KeepAGap: messages to two strangers are spaced.
func TestNewChats_KeepAGap(t *testing.T) {
	t.Parallel()
	c := PairedCast(t, "NEW_CHATS_MIN_GAP=1h")
	body := func(phone *simnet.Phone) Object { return Object{"jid": phone.PN().String(), "text": "hello"} }
	SentID(t, c.Bridge.Post("/api/messages/send", body(c.Ben)))
	limited(t, c.Bridge.Post("/api/messages/send", body(c.Carla)), "NEW_CHATS_MIN_GAP", "1h apart")
	SentID(t, c.Bridge.Post("/api/messages/send", body(c.Ben)))
}
