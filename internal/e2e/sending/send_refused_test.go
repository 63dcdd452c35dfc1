package sending

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// networkRefusal is a code of the network's refusal and the caller's error.
type networkRefusal struct {
	code  int
	group bool
	want  refusal
	after string // Retry-After
}

// tries returns the number of attempts before the caller gets the error: two where
// the known facts about the recipients may be outdated.
func (r networkRefusal) tries() int {
	if r.code == 421 || r.code == 479 {
		return 2
	}
	return 1
}

var networkRefusals = []networkRefusal{
	{463, false, refusal{http.StatusTooManyRequests, bridge.CodeReachoutRestricted, []string{"start new chats", "463"}}, ""},
	{429, false, refusal{http.StatusTooManyRequests, bridge.CodeRateLimited, []string{"slow down"}}, "60"},
	{429, true, refusal{http.StatusTooManyRequests, bridge.CodeRateLimited, []string{"slow down"}}, "60"},
	{479, false, refusal{http.StatusBadGateway, bridge.CodeSendRefused, []string{"invalid", "479"}}, ""},
	{403, false, refusal{http.StatusBadGateway, bridge.CodeSendRefused, []string{"403"}}, ""},
	{403, true, refusal{http.StatusBadRequest, bridge.CodeNotInGroup, []string{"not a member", "admins"}}, ""},
	{405, true, refusal{http.StatusBadRequest, bridge.CodeNotInGroup, []string{"not a member", "admins"}}, ""},
	{406, false, refusal{http.StatusBadGateway, bridge.CodeSendRefused, []string{"does not accept", "406"}}, ""},
	{421, true, refusal{http.StatusBadGateway, bridge.CodeSendRefused, []string{"421"}}, ""},
	{420, true, refusal{http.StatusBadGateway, bridge.CodeSendRefused, []string{"420"}}, ""},
	{400, false, refusal{http.StatusBadGateway, bridge.CodeSendRefused, []string{"400"}}, ""},
	{500, false, refusal{http.StatusBadGateway, bridge.CodeSendRefused, []string{"500"}}, ""},
}

// TestSend_NetworkRefuses: a refusal has a code and fails the message; the caller
// may try again with the key, under the same id.
func TestSend_NetworkRefuses(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	_, bens, hike, _ := c.Conversations(t)
	private, group := onceRoom{&room{Conversation: bens, b: c.Bridge}}, onceRoom{&room{Conversation: hike, b: c.Bridge}}
	for _, r := range []onceRoom{private, group} {
		r.TB = t
		r.hears("hello")
		r.sends("send", Object{"text": "hello yourself"})
	}
	for _, test := range networkRefusals {
		r, place := private, "between two"
		if test.group {
			r, place = group, "in a group"
		}
		t.Run(fmt.Sprintf("%d %s", test.code, place), func(t *testing.T) {
			r.TB = t
			text := fmt.Sprintf("refused with %d %s", test.code, place)
			quiet(t, c)
			sent := c.Device.Counters().Sent
			c.Device.FailSends(slices.Repeat([]simnet.SendFault{{Code: test.code}}, test.tries())...)
			key := fmt.Sprintf("%d-%v", test.code, test.group)
			resp := r.keyed(text, key)
			test.want.of(t, resp)
			if got := resp.Header.Get("Retry-After"); got != test.after {
				t.Errorf("Retry-After is %q, want %q", got, test.after)
			}
			if got := c.Device.Counters().Sent - sent; got != test.tries() {
				t.Errorf("%d tries, want %d", got, test.tries())
			}
			id := r.has(text, bridge.DeliveryFailed)
			replayed(t, r.keyed(text, key), id, false)
			r.arrivedOnce(text, id)
			r.has(text, bridge.DeliveryDelivered)
		})
	}
	t.Run("a reaction", func(t *testing.T) {
		private.TB = t
		heard := private.hears("react to this")
		for _, test := range []networkRefusal{
			{429, false, refusal{http.StatusTooManyRequests, bridge.CodeRateLimited, nil}, ""},
			{479, false, refusal{http.StatusBadGateway, bridge.CodeSendRefused, nil}, ""},
		} {
			quiet(t, c)
			sent := c.Device.Counters().Sent
			c.Device.FailSends(slices.Repeat([]simnet.SendFault{{Code: test.code}}, test.tries())...)
			test.want.of(t, c.Bridge.Post("/api/messages/react", Object{"chatJid": private.In.String(), "msgId": heard, "emoji": "👍"}))
			if got := c.Device.Counters().Sent - sent; got != test.tries() {
				t.Errorf("%d tries, want %d", got, test.tries())
			}
			if got := private.stored(heard).Reactions; len(got) != 0 {
				t.Errorf("the API shows %v", got)
			}
		}
	})
}

// quiet waits until nothing is on its way to the bridge.
func quiet(t testing.TB, c *Cast) {
	t.Helper()
	if err := c.Network.WaitQuiet(Within(t)); err != nil {
		t.Fatal(err)
	}
}

// TestSend_NewChatsForbiddenForAWhile: the refusal names the end of the lock if the
// network has.
func TestSend_NewChatsForbiddenForAWhile(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	r := newOnceRoom(t, c)
	c.Device.Push(reachoutTimelock(t, true, time.Now().Add(time.Hour)))
	quiet(t, c)
	c.Device.FailSends(simnet.SendFault{Code: 463})
	resp := r.keyed("hello", "1")
	Refused(t, resp, http.StatusTooManyRequests, bridge.CodeReachoutRestricted)
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err != nil || seconds < 3500 || seconds > 3600 {
		t.Errorf("Retry-After is %q, want about an hour", resp.Header.Get("Retry-After"))
	}
	c.Device.Push(reachoutTimelock(t, false, time.Time{}))
	quiet(t, c)
	c.Device.FailSends(simnet.SendFault{Code: 463})
	if resp := r.keyed("hello", "2"); resp.Header.Get("Retry-After") != "" {
		t.Errorf("Retry-After is %q after the end", resp.Header.Get("Retry-After"))
	}
}

// reachoutTimelock returns the network's notification that an account may not start
// new chats for a while.
func reachoutTimelock(t testing.TB, active bool, until time.Time) simnet.Node {
	t.Helper()
	lock := Object{"is_active": active, "enforcement_type": "BIZ_COMMERCE_VIOLATION_ALCOHOL"}
	if active {
		lock["time_enforcement_ends"] = strconv.FormatInt(until.Unix(), 10)
	}
	data, err := json.Marshal(Object{"data": Object{"xwa2_notify_account_reachout_timelock": lock}})
	if err != nil {
		t.Fatal(err)
	}
	return simnet.Node{
		Tag:     "notification",
		Attrs:   map[string]any{"type": "mex", "id": "timelock-" + strconv.FormatBool(active), "t": strconv.FormatInt(time.Now().Unix(), 10)},
		Content: []simnet.Node{{Tag: "update", Attrs: map[string]any{"op_name": "NotificationAccountReachoutTimelockUpdate"}, Content: data}},
	}
}

// TestSend_QueriesRefused: refused queries about a recipient or group before a send
// have a code too, and leave nothing half done.
func TestSend_QueriesRefused(t *testing.T) {
	t.Parallel()
	limited := refusal{http.StatusTooManyRequests, bridge.CodeRateLimited, nil}
	away := refusal{http.StatusServiceUnavailable, bridge.CodeNotConnected, []string{"try again"}}
	tests := []struct {
		name  string
		fault simnet.IQFault
		to    string // "stranger", "acquaintance", "group"
		want  refusal
		after string
		rows  bool // the message is stored as failed
	}{
		{"who has the number, limited", simnet.IQFault{Namespace: "usync", Code: 429, Text: "rate-overlimit"}, "stranger", limited, "60", false},
		{"who has the number, broken", simnet.IQFault{Namespace: "usync", Code: 500, Text: "internal-server-error"}, "stranger", away, "", false},
		{"who has the number, unavailable", simnet.IQFault{Namespace: "usync", Code: 503, Text: "service-unavailable"}, "stranger", away, "", false},
		{"devices, limited", simnet.IQFault{Namespace: "usync", Code: 429, Text: "rate-overlimit"}, "acquaintance", limited, "60", true},
		{"devices, forbidden", simnet.IQFault{Namespace: "usync", Code: 403, Text: "forbidden"}, "acquaintance", refusal{http.StatusBadGateway, bridge.CodeSendRefused, []string{"403"}}, "", true},
		{"keys, limited", simnet.IQFault{Namespace: "encrypt", Tag: "key", Code: 429, Text: "rate-overlimit"}, "acquaintance", limited, "60", true},
		{"keys, broken", simnet.IQFault{Namespace: "encrypt", Tag: "key", Code: 500, Text: "internal-server-error"}, "stranger", away, "", true},
		{"group, limited", simnet.IQFault{Namespace: "w:g2", Code: 429, Text: "rate-overlimit"}, "group", limited, "60", false},
		{"group, broken", simnet.IQFault{Namespace: "w:g2", Code: 500, Text: "internal-server-error"}, "group", away, "", false},
	}
	c := PairedCast(t)
	var met []*simnet.Phone // in a group: known, number and LID, without messages to or from the account
	readers, chats := make([]*simnet.Phone, len(tests)), make([]simnet.JID, len(tests))
	for i, test := range tests { // each has its own recipient
		readers[i] = NewPhone(t, c.Network, simnet.PhoneOptions{Number: fmt.Sprintf("4915100001%02d", i), Name: test.to, LIDChats: test.to == "acquaintance"})
		chats[i] = readers[i].PN()
		switch test.to {
		case "acquaintance":
			met = append(met, readers[i])
		case "group":
			chats[i] = NewGroup(t, c.Owner, simnet.GroupOptions{Subject: "Quiet", Members: readers[i : i+1]}).JID()
		}
	}
	group := NewGroup(t, c.Owner, simnet.GroupOptions{Subject: "All", Members: met})
	Eventually(t, func() error {
		if resp := c.Bridge.Get(Path("/api/groups/%s", group.JID())); resp.Status != http.StatusOK {
			return fmt.Errorf("status %d", resp.Status)
		}
		return nil
	})
	quiet(t, c)
	c.Bridge.Restart() // keeps only the stored facts
	c.Bridge.Becomes(bridge.StateOpen)
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := onceRoom{&room{Conversation: &Conversation{TB: t, Me: c.Owner, By: readers[i], In: chats[i]}, b: c.Bridge}}
			text, key := "first words: "+test.name, fmt.Sprint("k", i)
			c.Device.FailQueries(test.fault)
			resp := r.keyed(text, key)
			test.want.of(t, resp)
			if got := resp.Header.Get("Retry-After"); got != test.after {
				t.Errorf("Retry-After is %q, want %q", got, test.after)
			}
			if test.rows {
				r.has(text, bridge.DeliveryFailed)
			} else if resp := c.Bridge.Get(r.List()); resp.Status == http.StatusOK && len(r.rows(text)) != 0 {
				t.Errorf("stored: %s", resp.Body)
			}
			c.Device.ClearFaults()
			id := SentID(t, r.keyed(text, key))
			r.arrivedOnce(text, id)
			r.has(text, bridge.DeliveryDelivered)
		})
	}
}

// TestRetryReceipts_AnsweredFromTheStore: a device that cannot decrypt a message
// gets it again, even from a program restarted in between.
func TestRetryReceipts_AnsweredFromTheStore(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	annas, bens, hike, club := c.Conversations(t)
	chats := map[*Conversation]*simnet.Phone{annas: c.Anna, bens: c.Ben, hike: c.Carla, club: c.Ben}
	away := map[*simnet.Phone]bool{c.Anna: true, c.Ben: true, c.Carla: true, c.Owner: true}
	sent := map[*Conversation][]simnet.MessageID{}
	for chat := range chats {
		r := &room{Conversation: chat, b: c.Bridge}
		r.TB = t
		heard := r.hears("before")
		r.arrives(r.sends("send", Object{"text": "as usual"}), conversationText("as usual"))

		// Online, the answer comes at once.
		chats[chat].Device().CorruptMessages(1)
		r.arrives(r.sends("send", Object{"text": "damaged on the way"}), conversationText("damaged on the way"))
		sent[chat] = []simnet.MessageID{heard}
	}
	quiet(t, c)
	for phone := range away {
		phone.Disconnect()
		if err := phone.Device().WaitOffline(Within(t)); err != nil {
			t.Fatal(err)
		}
	}
	for chat := range chats {
		r := &room{Conversation: chat, b: c.Bridge}
		r.TB = t
		sent[chat] = append(sent[chat],
			r.sends("send", Object{"text": "you are away", "quotedMsgId": sent[chat][0]}),
			r.sends("send-poll", Object{"name": "?", "values": []string{"a", "b"}}),
			r.forwards(r.In, sent[chat][0]))
	}
	c.Bridge.Stop()
	for phone := range away {
		phone.Device().CorruptMessages(100)
		if err := phone.Connect(Within(t)); err != nil {
			t.Fatal(err)
		}
		quiet(t, c)
		phone.Device().ClearFaults()
	}
	c.Bridge.Start()
	c.Bridge.Becomes(bridge.StateOpen)
	for chat, ids := range sent {
		r := &room{Conversation: chat, b: c.Bridge}
		r.TB = t
		r.arrives(ids[1], extended("you are away", r.quote(ids[0], conversationText("before"))))
		r.arrives(ids[2], poll("?", 1, nil, "a", "b"))
		r.arrives(ids[3], extended("before", marked(1)))
		theirs := Must(chats[chat].ReceivedID(Within(t), ids[2]))(t)
		Must(chats[chat].Vote(Within(t), theirs, []string{"b"}))(t)
		Eventually(t, func() error {
			if got := r.stored(ids[2]).Poll; got.Options[1].Votes != 1 {
				return fmt.Errorf("the tally is %+v", got)
			}
			return nil
		})
	}
}
