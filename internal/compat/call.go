package compat

import (
	"context"
	"net/http"
	"time"

	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/client"
)

// Call is a request of an authenticated caller.
type Call struct {
	*http.Request
	API    *client.Client // with the caller's token
	Token  bridge.Token   // of the caller
	Upload *Upload        // file of the body; nil if it has none
	// Recipient is the recipient of a send, for the refusal if it is not on WhatsApp.
	Recipient bridge.JID
	// Fields has the upstream API's names of fields that a refusal may name.
	Fields Fields
	// Replayed is true if an earlier call with the same Idempotency-Key did the work.
	Replayed bool

	memory   *Memory
	body     []byte
	bodyRead func() // releases the reservation of the body
}

// Key returns the Idempotency-Key, or "" if the request has none.
func (c *Call) Key() string { return c.Header.Get("Idempotency-Key") }

// Decode reads the body, a JSON object, within the limits of the API's own bodies. Unknown members
// are ignored.
func (c *Call) Decode(v any) error {
	if len(c.body) == 0 {
		return bridge.Invalid("the body is empty; it must be a JSON object")
	}
	return front.DecodeForeign(c.body, v)
}

// DecodeOptional does the same as [Call.Decode], or nothing if there is no body.
func (c *Call) DecodeOptional(v any) error {
	if len(c.body) == 0 {
		return nil
	}
	return c.Decode(v)
}

// Account returns the linked account, or nil if none is linked.
func (c *Call) Account() (*bridge.User, error) {
	own, err := c.API.OwnToken(c.Context())
	return own.Account, err
}

// Deliver calls send and sets the id, the chat, the sender, the time and the status of m. It reads the account
// first, so that nothing fails after the message was sent.
func (c *Call) Deliver(m *bridge.Message, send func() (client.Sent, error)) error {
	account, err := c.Account()
	if err != nil {
		return err
	}
	sent, err := send()
	if err != nil {
		return err
	}
	c.Replayed = sent.Replayed
	m.Chat, m.ID, m.FromMe, m.Timestamp, m.Status = sent.Chat, sent.ID, true, sent.Timestamp, new(bridge.DeliveryPending)
	if account != nil {
		m.SenderJID, m.PushName = account.JID, account.PushName
	}
	return nil
}

// Send sends a message and returns it with its content. With a key, the call can be repeated.
func (c *Call) Send(what client.Message, key string) (bridge.Message, error) {
	m := contentOf(what)
	err := c.Deliver(&m, func() (client.Sent, error) { return c.API.Send(c.Context(), what, key) })
	return m, err
}

// contentOf returns the content of a message to send.
func contentOf(what client.Message) bridge.Message {
	switch what := what.(type) {
	case client.Text:
		m := bridge.Message{MessageType: bridge.TypeText, Content: what.Text}
		if len(what.Mentions) > 0 {
			m.ContextInfo = &bridge.ContextInfo{MentionedJID: what.Mentions}
		}
		return m
	case client.Location:
		place := &bridge.Place{Latitude: what.Latitude, Longitude: what.Longitude, Name: what.Name, Address: what.Address}
		return bridge.Message{MessageType: "locationMessage", Parts: bridge.Parts{Location: place}}
	case client.Poll:
		poll := &bridge.PollTally{Name: what.Name, SelectableCount: 1}
		if what.SelectableCount != nil {
			poll.SelectableCount = *what.SelectableCount
		}
		for _, option := range what.Values {
			poll.Options = append(poll.Options, bridge.PollOption{Name: option})
		}
		return bridge.Message{MessageType: "pollCreationMessageV3", Content: what.Name, Poll: poll}
	case client.Contacts:
		m := bridge.Message{MessageType: "contactMessage"}
		if len(what.Contacts) > 1 {
			m.MessageType = "contactsArrayMessage"
		}
		for _, card := range what.Contacts {
			m.Contacts = append(m.Contacts, bridge.SharedContact{DisplayName: card.DisplayName, VCard: card.VCard})
		}
		return m
	case client.Forward:
		return bridge.Message{IsForwarded: true}
	}
	return bridge.Message{}
}

const (
	// pausesBytes limits the bodies of waiting calls. They count in no other quota.
	pausesBytes = 8 << 20
	// pauseBytes is the memory of a call that waits, without its body.
	pauseBytes = 16 << 10
	// pauseInterval is how often a call that waits for a reservation looks for slow ones; see
	// [intake.NewQuota].
	pauseInterval = 2 * time.Second
)

// Pause waits for as long as the caller asks. It releases the body, so Decode must be called before.
// Waiting calls have their own quota. If it is full, Pause returns an error.
func (c *Call) Pause(d time.Duration) error {
	now, cancel := context.WithCancel(c.Context())
	cancel() // a call does not wait for the quota
	reserved, err := c.memory.pauses.Take(now, c.Token.Tree, int64(len(c.body))+pauseBytes, func() {})
	if err != nil {
		return &bridge.Error{
			Code: bridge.CodeRateLimited, RetryAfter: time.Second, Msg: "too many calls wait for the delay that they ask for: send without delay, or try again in a second",
		}
	}
	defer reserved.Release()
	reserved.Complete()
	c.body = nil
	c.bodyRead()
	if !bridge.Sleep(c.Context(), d) {
		return c.Context().Err()
	}
	return nil
}
