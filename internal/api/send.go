package api

import (
	"context"
	"slices"
	"time"
	"unicode/utf8"

	"bridged/internal/api/album"
	"bridged/internal/api/callers"
	"bridged/internal/api/content"
	"bridged/internal/bridge"
)

// draft is a message of a request that was checked, before stored things are looked up.
type draft struct {
	bridge.Outgoing

	quote  reference                                             // the stored message to quote; zero if none
	lookUp func(context.Context, *draft) (bridge.Content, error) // returns content that the request only refers to; may be nil
	// file fetches or converts a file, or those of an album, once the account is open; nil if the content has none.
	file    func(context.Context) (file bridge.Content, cleanup func(), err error)
	linked  bool             // fetch the preview of a link in the text
	about   *changed         // the stored message that it changes; nil for a new message
	again   *bridge.Message  // stored by an earlier call, and perhaps not sent
	sendAt  *bridge.Time     // when it is sent; nil for now
	items   []album.SentItem // in the answer, if it is scheduled; nil if none
	timeout time.Duration    // as in [action]
}

// reference names a stored message.
type reference struct {
	chat bridge.JID
	id   string
}

func (q *input) draftTo(a addressed) (d draft) {
	to, quotedChat, quotedID, err := a.Address()
	keep(q, to, err)
	d.To, d.quote, d.sendAt = to, reference{quotedChat, quotedID}, q.sendAt(a.SendAt)
	return d
}

func sendOnce(in *input, body []byte, d draft) (any, error) {
	return sendUnder(in, sendKey(in, body), d)
}

// sendUnder sends a draft under a key, which may be nil. The account stores the message's id and
// the key before it sends anything, for repeated calls.
func sendUnder(in *input, key *bridge.SendKey, d draft) (any, error) {
	if d.sendAt != nil {
		return scheduleUnder(in, key, d)
	}
	return once(in, key, action{
		chat: d.To,
		noun: "message", outcome: "may still arrive", remedy: remedyFor(in, d.about),
		replay: func(ctx context.Context, earlier bridge.SendKey) (any, error) {
			return in.replay(ctx, &d, key, earlier)
		},
		lookUp: func(ctx context.Context) error { return in.compose(ctx, &d) },
		do: func(ctx context.Context, key *bridge.SendKey) (any, error) {
			d.Key = key
			sent, err := deliver(ctx, in, d)
			return in.answerSent(ctx, d.about.answer(sent), false), err
		},
	})
}

// replay returns the answer to a call whose key belongs to an earlier message. If that message may
// not have been sent, it is sent again under the same id, and the apps show it once.
func (q *input) replay(ctx context.Context, d *draft, key *bridge.SendKey, earlier bridge.SendKey) (any, error) {
	if d.about != nil && earlier.TakenAt.IsZero() {
		d.about.again(key, earlier)
		return nil, nil
	}
	if d.about != nil {
		return q.answerSent(ctx, d.about.answer(bridge.Sent{ID: earlier.MsgID, Chat: earlier.Chat, Timestamp: earlier.TakenAt}), true), nil
	}
	m, err := q.Store.Message(ctx, earlier.Chat, earlier.MsgID)
	if bridge.CodeOf(err) == bridge.CodeNotFound {
		// The message was sent, and its chat was cleared since.
		return q.answerSent(ctx, bridge.Sent{ID: earlier.MsgID, Chat: earlier.Chat, Timestamp: earlier.At}, true), nil
	}
	if err != nil {
		return nil, err
	}
	if m.DeletedAt == nil && m.Status != nil && (*m.Status == bridge.DeliveryPending || *m.Status == bridge.DeliveryFailed) {
		d.again = &m
		return nil, nil
	}
	return q.answerSent(ctx, bridge.Sent{ID: m.ID, Chat: m.Chat, Timestamp: m.Timestamp}, true), nil
}

// compose looks up the stored messages that a draft refers to.
func (s *server) compose(ctx context.Context, d *draft) (err error) {
	if d.again != nil {
		return nil
	}
	if d.lookUp != nil {
		if d.Content, err = d.lookUp(ctx, d); err != nil {
			return err
		}
	}
	if d.quote == (reference{}) {
		return nil
	}
	quoted, err := s.message(ctx, d.quote.chat, d.quote.id)
	if err != nil {
		return err
	}
	d.Quote = &quoted
	return quoted.Answerable("quoted")
}

// deliver sends a draft, after preparing its file or fetching its link preview.
func deliver(ctx context.Context, in *input, d draft) (bridge.Sent, error) {
	if d.again != nil {
		return in.Account.Resend(ctx, *d.again)
	}
	cleanup, err := d.prepareFile(ctx, in)
	defer cleanup()
	if err != nil {
		return bridge.Sent{}, err
	}
	if text, isText := d.Content.(bridge.Text); isText && d.linked {
		text.Preview = in.Preview(ctx, text.Text)
		if err := callers.Ended(in.r); err != nil {
			return bridge.Sent{}, err
		}
		d.Content = text
	}
	d.By = callers.By(ctx)
	return in.Account.Send(ctx, d.Outgoing)
}

// prepareFile fetches or converts the file of a draft, if it has one. cleanup removes the file.
func (d *draft) prepareFile(ctx context.Context, in *input) (cleanup func(), err error) {
	if d.file == nil {
		return func() {}, nil
	}
	file, cleanup, err := d.file(ctx)
	if err == nil {
		err = callers.Ended(in.r) // preparing may take long
	}
	d.Content = file
	return cleanup, err
}

// remedyFor returns the advice for callers if it is unknown whether a message arrived.
func remedyFor(in *input, about *changed) string {
	switch {
	case about != nil:
		return "repeat the call: a change of a message takes effect once"
	case callers.HookOf(in.ctx()) != nil:
		return "have it delivered again: a delivery that has an id is sent once"
	case in.r.Header.Get("Idempotency-Key") != "":
		return "repeat the call with the same Idempotency-Key"
	}
	return "look in the chat whether it arrived before you send it again, and send with an Idempotency-Key next time, " +
		"which makes repeating a call safe"
}

// answerSent returns the answer of a route that sends, or of a delivery to a hook. replayed marks a
// message of an earlier call.
func (q *input) answerSent(ctx context.Context, sent bridge.Sent, replayed bool) any {
	switch isHook := callers.HookOf(ctx) != nil; {
	case isHook && replayed:
		return notSent(hookAnswer{Duplicate: true, MsgID: &sent.ID}, "an earlier delivery of the same was sent")
	case isHook:
		return hookAnswer{OK: true, Sent: true, MsgID: &sent.ID}
	}
	return struct {
		OK        bool        `json:"ok"`
		MsgID     string      `json:"msgId"`
		Timestamp bridge.Time `json:"timestamp"`
		ChatJID   bridge.JID  `json:"chatJid"`
		Ignored   []string    `json:"ignored,omitempty"`
	}{true, sent.ID, sent.Timestamp, q.canonical(sent.Chat), q.ignored}
}

// addressed has the chat, the quoted message and the time of a request to send.
type addressed = content.Addressed

func (q *input) destination(field, value string) bridge.JID {
	jid, err := content.ParseDestination(field, value)
	return keep(q, jid, err)
}

func sendText(in *input) (any, error) {
	var req struct {
		addressed
		Text       string   `json:"text"`
		Mentions   []string `json:"mentions"`
		MentionAll bool     `json:"mentionAll"`
		Preview    *bool    `json:"linkPreview"`
	}
	body := in.body(&req, lenient)
	d := in.draftTo(req.addressed)
	in.checkText(req.Text)
	if req.MentionAll && d.To != "" && !d.To.IsGroup() {
		in.refuse("mentionAll is for groups: name people in mentions")
	}
	d.Content = bridge.Text{Text: req.Text, MentionAll: req.MentionAll}
	d.linked = in.LinkPreviews
	if req.Preview != nil {
		d.linked = *req.Preview
	}
	d.linked = d.linked && in.Preview != nil
	d.Mentions, d.Unseen = in.people("mentions", req.Mentions)
	return sendOnce(in, body, d)
}

// checkText refuses a text that is empty or too long.
func (q *input) checkText(text string) {
	if n := utf8.RuneCountInString(text); n < 1 || n > content.MaxText {
		q.refuse("text must have 1 to %d characters", content.MaxText)
	}
}

// people returns each person of a field once, by the canonical JID. unseen are those whom the
// caller may not know; they have the JID that the caller used.
func (q *input) people(field string, values []string) (people, unseen []bridge.JID) {
	named := make([]bridge.JID, len(values))
	for i, value := range values {
		jid, err := content.ParsePerson(field, value)
		named[i] = keep(q, jid, err)
	}
	if q.err == nil {
		unseen, q.err = q.outsiders(q.ctx(), named...)
	}
	if q.err != nil {
		return nil, nil
	}
	for _, jid := range named {
		if !slices.Contains(unseen, jid) {
			jid = q.canonical(jid)
		}
		if !slices.Contains(people, jid) {
			people = append(people, jid)
		}
	}
	return people, unseen
}

func forwardMessage(in *input) (any, error) {
	var req struct {
		SourceChatJID string `json:"sourceChatJid"`
		SourceMsgID   string `json:"sourceMsgId"`
		DestJID       string `json:"destJid"`
		SendAt        string `json:"sendAt"`
	}
	body := in.body(&req, lenient)
	d := draft{sendAt: in.sendAt(req.SendAt)}
	d.To = in.destination("destJid", req.DestJID)
	source, err := content.ParseStored("sourceChatJid", req.SourceChatJID)
	chat := keep(in, source, err)
	if req.SourceChatJID == "" {
		in.refuse("sourceChatJid is required")
	}
	if req.SourceMsgID == "" {
		in.refuse("sourceMsgId is required")
	}
	d.lookUp = func(ctx context.Context, d *draft) (content bridge.Content, err error) {
		source, err := in.message(ctx, chat, req.SourceMsgID)
		switch {
		case err != nil:
			return nil, err
		case isImportedContent(source):
			content, d.file, err = exportedContent(in, source)
			return content, err
		}
		return bridge.Forward{Source: source}, source.Forwardable()
	}
	return sendOnce(in, body, d)
}

func sendReaction(in *input) (any, error) {
	var req struct {
		ChatJID string  `json:"chatJid"`
		MsgID   string  `json:"msgId"`
		Emoji   *string `json:"emoji"`
		SendAt  string  `json:"sendAt"`
	}
	body := in.body(&req, lenient)
	if req.SendAt != "" {
		in.refuse("sendAt is for messages: a reaction is sent at once")
	}
	d := draft{about: new(changed)}
	d.To = in.destination("chatJid", req.ChatJID)
	switch {
	case req.MsgID == "":
		in.refuse("msgId is required")
	case req.Emoji == nil:
		in.refuse("emoji is required; an empty string removes the reaction")
	case !content.IsEmoji(*req.Emoji):
		in.refuse("emoji must be one emoji, or empty to remove the reaction")
	}
	d.lookUp = func(ctx context.Context, _ *draft) (bridge.Content, error) {
		target, err := in.message(ctx, d.To, req.MsgID)
		if err == nil {
			err = target.Answerable("reacted to")
		}
		return bridge.Reaction{Target: target, Emoji: *req.Emoji}, err
	}
	return sendOnce(in, body, d)
}

func sendLocation(in *input) (any, error) {
	var req struct {
		addressed
		Latitude  *float64 `json:"latitude"`
		Longitude *float64 `json:"longitude"`
		Name      string   `json:"name"`
		Address   string   `json:"address"`
	}
	body := in.body(&req, lenient)
	d := in.draftTo(req.addressed)
	d.Content = bridge.Location{
		Latitude: in.degrees("latitude", req.Latitude, 90), Longitude: in.degrees("longitude", req.Longitude, 180), Name: req.Name, Address: req.Address,
	}
	return sendOnce(in, body, d)
}

// degrees returns a required number between -most and most.
func (q *input) degrees(field string, value *float64, most float64) float64 {
	if value == nil || *value < -most || *value > most {
		q.refuse("%s is required: a number between %v and %v", field, -most, most)
		return 0
	}
	return *value
}

func sendPoll(in *input) (any, error) {
	var req struct {
		addressed
		Name            string   `json:"name"`
		Values          []string `json:"values"`
		SelectableCount *int     `json:"selectableCount"`
	}
	body := in.body(&req, lenient)
	d := in.draftTo(req.addressed)
	poll := bridge.Poll{Name: req.Name, Values: req.Values, Selectable: 1}
	if req.SelectableCount != nil {
		poll.Selectable = *req.SelectableCount
	}
	d.Content = keep[bridge.Content](in, poll, content.CheckPoll(poll))
	return sendOnce(in, body, d)
}

func sendContact(in *input) (any, error) {
	var req struct {
		addressed
		bridge.Contacts
	}
	body := in.body(&req, lenient)
	d := in.draftTo(req.addressed)
	d.Content = keep[bridge.Content](in, req.Contacts, content.CheckContacts(req.Contacts.Contacts))
	return sendOnce(in, body, d)
}
