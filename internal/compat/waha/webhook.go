package waha

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"

	"bridged/internal/bridge"
	"bridged/internal/compat"
	"bridged/internal/webhook/format"
)

// The events of WAHA's webhooks.
const (
	eventMessage  = "message"     // from other people
	eventAny      = "message.any" // also from the account
	eventAck      = "message.ack"
	eventAckGroup = "message.ack.group"
	eventReaction = "message.reaction"
	eventEdited   = "message.edited"
	eventRevoked  = "message.revoked"
	eventVote     = "poll.vote"
	eventStatus   = "session.status"
	eventEach     = "*"
)

// typesOf returns the types of the bridge's events that WAHA's events are made of.
func typesOf(events []string) (types []bridge.EventType) {
	sources := map[string]bridge.EventType{
		eventMessage: bridge.EventMessageCreated, eventAny: bridge.EventMessageCreated, eventAck: bridge.EventMessageStatus, eventAckGroup: bridge.EventMessageStatus,
		eventReaction: bridge.EventMessageUpdated, eventEdited: bridge.EventMessageUpdated, eventRevoked: bridge.EventMessageUpdated,
		eventVote: bridge.EventMessageUpdated, eventStatus: bridge.EventAccountStatus,
		eventGroupJoin: bridge.EventGroupUpdated, eventGroupLeave: bridge.EventGroupUpdated, eventGroupMembers: bridge.EventGroupUpdated, eventGroupUpdate: bridge.EventGroupUpdated,
	}
	if len(events) == 0 || slices.Contains(events, eventEach) {
		events = slices.Collect(maps.Keys(sources))
	}
	for _, event := range events {
		if t, known := sources[event]; known && !slices.Contains(types, t) {
			types = append(types, t)
		}
	}
	slices.Sort(types)
	return types
}

// Format posts events in WAHA's form.
type Format struct {
	// Base is the adapter's address. Links to files begin with it; if it is empty, there are no links.
	Base string
}

// Check implements [format.Format].
func (Format) Check(w bridge.Webhook) error {
	o := w.Options
	if o.ByEvents || o.Base64 || o.VerifyToken != "" || o.Groups || o.GroupChats || o.OwnMessages {
		return bridge.Invalid("formatOptions: the format waha has events and headers")
	}
	return format.CheckText(w.Secret)
}

// envelope is the body of a post.
type envelope struct {
	ID          string         `json:"id"`
	Timestamp   int64          `json:"timestamp"`
	Event       string         `json:"event"`
	Session     string         `json:"session"`
	Metadata    map[string]any `json:"metadata"`
	Me          *me            `json:"me"`
	Payload     any            `json:"payload"`
	Engine      string         `json:"engine"`
	Environment map[string]any `json:"environment"`
}

// Posts implements [format.Format].
func (f Format) Posts(d format.Delivery) (posts []format.Post, err error) {
	for i, e := range f.events(d) {
		if !wants(d.Webhook, e.name) && d.Event.Type != format.Test {
			continue
		}
		post, err := f.post(d, d.ID+"_"+strconv.Itoa(i), e)
		if err != nil {
			return nil, err
		}
		posts = append(posts, post)
	}
	return posts, nil
}

// wants reports whether a webhook posts an event of WAHA.
func wants(w bridge.Webhook, event string) bool {
	events := w.Options.Events
	if len(events) == 0 {
		return event != eventAny
	}
	return slices.Contains(events, event) || slices.Contains(events, eventEach)
}

func (f Format) post(d format.Delivery, id string, e event) (format.Post, error) {
	body, err := bridge.EncodeJSON(envelope{
		ID: id, Timestamp: d.Event.At.UnixMilli(), Event: e.name, Session: session, Metadata: map[string]any{}, Me: meOf(d.Own.User), Payload: e.payload,
		Engine: engine, Environment: map[string]any{"version": version, "engine": engine, "tier": "PLUS", "browser": nil},
	})
	if err != nil {
		return format.Post{}, err
	}
	signature := hmac.New(sha512.New, []byte(d.Webhook.Secret))
	signature.Write(body)
	header := format.Header(d.Webhook)
	header.Set("X-Webhook-Request-Id", id)
	header.Set("X-Webhook-Timestamp", strconv.FormatInt(d.Now.UnixMilli(), 10))
	header.Set("X-Webhook-Hmac", hex.EncodeToString(signature.Sum(nil)))
	header.Set("X-Webhook-Hmac-Algorithm", "sha512")
	if header.Get("User-Agent") == "" {
		header.Set("User-Agent", "WAHA/"+version)
	}
	return format.Post{URL: d.Webhook.URL, Header: header, Body: body}, nil
}

// event is an event of WAHA.
type event struct {
	name    string
	payload any
}

// events returns WAHA's events for an event of the bridge.
func (f Format) events(d format.Delivery) []event {
	switch e := d.Event; e.Type {
	case bridge.EventMessageCreated:
		return f.created(*e.Message)
	case bridge.EventMessageStatus:
		return []event{f.ack(*e.Message)}
	case bridge.EventMessageUpdated:
		return f.updated(d)
	case bridge.EventGroupUpdated:
		return groupChanged(d)
	case bridge.EventAccountStatus:
		return []event{statusOf(*e.Status)}
	case format.Test:
		if d.Webhook.Only != nil {
			return nil // its token may not see the account's state
		}
		return []event{statusOf(bridge.Status{Status: d.Own.State, Since: bridge.At(d.Now)})}
	}
	return nil
}

// created returns the events of a new message. It returns none until the message can be decrypted, and none for a
// deleted message, because flows would answer its empty text.
func (f Format) created(m bridge.Message) []event {
	if m.MessageType == bridge.TypeUndecryptable || m.DeletedAt != nil {
		return nil
	}
	shown := messageOf(m, f.Base)
	if m.FromMe {
		return []event{{eventAny, shown}}
	}
	return []event{{eventMessage, shown}, {eventAny, shown}}
}

func (f Format) ack(m bridge.Message) event {
	number, name := ackOf(m)
	to := compat.AsChat(m.Chat)
	payload := map[string]any{
		"id": nameOf(m).String(), "from": to, "to": nil, "participant": nil, "fromMe": m.FromMe, "ack": number, "ackName": name, "_data": map[string]any{},
	}
	if m.Chat.IsGroup() {
		return event{eventAckGroup, payload}
	}
	return event{eventAck, payload}
}

// updated returns an event for each change of a message.
func (f Format) updated(d format.Delivery) (events []event) {
	e, m := d.Event, *d.Event.Message
	changed := func(field bridge.MessageField) bool { return slices.Contains(e.Changes.Fields, field) }
	if changed(bridge.ChangedType) {
		events = f.created(m)
	}
	for _, reaction := range e.Reactions {
		events = append(events, event{eventReaction, reactionOf(d.Own, m, reaction)})
	}
	for _, voter := range e.Voters {
		events = append(events, event{eventVote, voteOf(d, voter)})
	}
	switch {
	case m.DeletedAt != nil && changed(bridge.ChangedDeleted):
		events = append(events, event{eventRevoked, map[string]any{"after": messageOf(m, ""), "before": nil, "revokedMessageId": m.ID, "_data": map[string]any{}}})
	case m.DeletedAt == nil && changed(bridge.ChangedEdited):
		events = append(events, event{eventEdited, struct {
			Message
			Edited string `json:"editedMessageId"`
		}{messageOf(m, f.Base), m.ID}})
	}
	return events
}

// reactionOf returns a reaction, which is a message in WAHA. Its id is made of the id of the message that it
// belongs to.
func reactionOf(own format.Account, on bridge.Message, r bridge.MessageReaction) map[string]any {
	id := messageID{FromMe: own.User != nil && r.SenderJID == own.User.JID, Chat: on.Chat, ID: on.ID + "-" + strconv.FormatInt(r.Timestamp.UnixMilli(), 36)}
	payload := map[string]any{
		"timestamp": r.Timestamp.Unix(), "from": compat.AsChat(on.Chat), "fromMe": id.FromMe, "source": "app", "to": nil, "participant": nil,
		"reaction": map[string]any{"text": r.Emoji, "messageId": nameOf(on).String()},
	}
	if on.Chat.IsGroup() {
		id.Sender = r.SenderJID
		payload["participant"] = compat.AsChat(r.SenderJID)
	}
	payload["id"] = id.String()
	return payload
}

// voteOf returns a person's current vote in a poll.
func voteOf(d format.Delivery, voter bridge.JID) map[string]any {
	m, selected := *d.Event.Message, []string{}
	if m.Poll != nil {
		for _, option := range m.Poll.Options {
			if slices.Contains(option.Voters, voter) {
				selected = append(selected, option.Name)
			}
		}
	}
	poll := nameOf(m)
	vote := messageID{FromMe: d.Own.User != nil && voter == d.Own.User.JID, Chat: m.Chat, ID: m.ID + "-" + strconv.FormatInt(d.Event.At.UnixMilli(), 36)}
	by, chat := any(nil), compat.AsChat(m.Chat)
	if m.Chat.IsGroup() {
		vote.Sender, by = voter, compat.AsChat(voter)
	}
	return map[string]any{
		"poll":  map[string]any{"id": poll.String(), "to": chat, "from": chat, "fromMe": m.FromMe, "participant": nil},
		"vote":  map[string]any{"id": vote.String(), "from": compat.AsChat(voter), "fromMe": vote.FromMe, "to": chat, "participant": by, "selectedOptions": selected, "timestamp": d.Event.At.UnixMilli()},
		"_data": map[string]any{},
	}
}

func statusOf(status bridge.Status) event {
	state := stateOf(status.Status, false)
	return event{eventStatus, map[string]any{
		"name": session, "status": state, "statuses": []any{map[string]any{"status": state, "timestamp": status.Since.UnixMilli()}}, "data": nil,
	}}
}
