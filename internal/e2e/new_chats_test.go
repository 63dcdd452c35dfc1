package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// limited checks that a send was refused because of too many new chats.
func limited(t *testing.T, resp apitest.Response, words ...string) {
	t.Helper()
	refused(t, resp, http.StatusTooManyRequests, bridge.CodeNewChatsLimited, append(words, "the next may begin in")...)
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err != nil || seconds < 1 || seconds > 24*60*60 {
		t.Errorf("Retry-After is %q", resp.Header.Get("Retry-After"))
	}
}

// TestNewChats_AreLimited: beyond the daily limit, no new person is written to,
// looked up or uploaded for, even after a restart. Answers to people who wrote
// first, or had a chat before the pairing, are not limited, and neither are groups.
func TestNewChats_AreLimited(t *testing.T) {
	t.Parallel()
	c := newCast(t, "NEW_CHATS_PER_DAY=2", fetchesLoopback)
	customer := newPhone(t, c.network, simnet.PhoneOptions{Number: "491510000005", Name: "Cleo"})
	pair(t, c.bridge, c.owner)
	group := newGroup(t, c.owner, simnet.GroupOptions{Subject: "Hike", Members: []*simnet.Phone{c.carla}})
	picture := newWebsite(t).has("/a.jpg", photo(t, 64, 64))
	writes := func(to simnet.JID, headers ...string) apitest.Response {
		return c.bridge.Post("/api/messages/send", object{"jid": to.String(), "text": "hello"}, headers...)
	}
	for _, phone := range []*simnet.Phone{c.anna, c.ben} {
		id := sentID(t, writes(phone.PN()))
		must(phone.ReceivedID(within(t), id))(t)
	}
	uploads := c.network.CDN().Uploads()
	stays := func() {
		t.Helper()
		limited(t, writes(c.carla.PN(), "Idempotency-Key", "patient"), "NEW_CHATS_PER_DAY=2", "whoever wrote first")
		limited(t, writes(c.carla.LID()))
		limited(t, c.bridge.Post("/api/messages/send-media", object{"jid": c.carla.PN().String(), "url": picture, "type": "image"}))
		sentID(t, writes(c.anna.PN()))
		sentID(t, writes(group.JID()))
	}
	stays()
	c.bridge.restart()
	c.bridge.becomes(bridge.StateOpen)
	stays()
	if n := c.network.LookUps(c.carla.Number()); n != 0 {
		t.Errorf("the network was asked %d times about a person who may not be written to", n)
	}
	if n := c.network.CDN().Uploads() - uploads; n != 0 {
		t.Errorf("%d uploads for a refused chat", n)
	}

	customer.Trust(c.owner)
	eventually(t, func() error {
		if resp := writes(customer.LID()); resp.Status != http.StatusOK {
			return fmt.Errorf("answered %s", resp.Body)
		}
		return nil
	})
	question := say(t, c.carla, c.owner.PN(), "are you open?")
	eventually(t, func() error {
		if got := c.bridge.Get(path("/api/messages/individual/%s", c.carla.PN())); !strings.Contains(string(got.Body), question) {
			return errors.New("the question has not come")
		}
		return nil
	})
	id := sentID(t, writes(c.carla.PN(), "Idempotency-Key", "patient"))
	must(c.carla.ReceivedID(within(t), id))(t)
}

// TestNewChats_KeepAGap: messages to two strangers are spaced.
func TestNewChats_KeepAGap(t *testing.T) {
	t.Parallel()
	c := pairedCast(t, "NEW_CHATS_MIN_GAP=1h")
	body := func(phone *simnet.Phone) object { return object{"jid": phone.PN().String(), "text": "hello"} }
	sentID(t, c.bridge.Post("/api/messages/send", body(c.ben)))
	limited(t, c.bridge.Post("/api/messages/send", body(c.carla)), "NEW_CHATS_MIN_GAP", "1h apart")
	sentID(t, c.bridge.Post("/api/messages/send", body(c.ben)))
}
