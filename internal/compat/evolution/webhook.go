package evolution

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/compat"
	"bridged/internal/webhook/format"
)

// The events of Evolution's webhooks.
const (
	eventUpsert     = "messages.upsert"
	eventUpdate     = "messages.update"
	eventDelete     = "messages.delete"
	eventEdited     = "messages.edited"
	eventSent       = "send.message"
	eventConnection = "connection.update"
)

// sources has the bridge's events that each event of Evolution is made of.
var sources = map[string][]bridge.EventType{
	eventUpsert: {bridge.EventMessageCreated, bridge.EventMessageUpdated}, eventUpdate: {bridge.EventMessageStatus, bridge.EventMessageUpdated},
	eventDelete: {bridge.EventMessageUpdated}, eventEdited: {bridge.EventMessageUpdated}, eventSent: {bridge.EventMessageCreated},
	eventConnection: {bridge.EventAccountStatus}, eventGroups: {bridge.EventGroupUpdated}, eventParticipants: {bridge.EventGroupUpdated},
}

// plainEvent returns the name of an event. Settings may write it as MESSAGES_UPSERT, and groups.update as
// GROUP_UPDATE.
func plainEvent(name string) string {
	plain := strings.ReplaceAll(strings.ToLower(name), "_", ".")
	switch plain {
	case "group.update":
		return eventGroups
	case "group.participants.update":
		return eventParticipants
	}
	return plain
}

// typesOf returns the types of the bridge's events that Evolution's events are made of.
func typesOf(events []string) (types []bridge.EventType) {
	if len(events) == 0 {
		events = slices.Collect(maps.Keys(sources))
	}
	for _, event := range events {
		for _, t := range sources[plainEvent(event)] {
			if !slices.Contains(types, t) {
				types = append(types, t)
			}
		}
	}
	slices.Sort(types)
	return types
}

// Format posts events in the form of Evolution API.
type Format struct {
	Instance string
	Base     string // address of the adapter; empty if unknown
}

// jwtKey is a header that is not sent: its value is the key of a token in the header Authorization.
const jwtKey = "jwt_key"

// Check implements [format.Format].
func (Format) Check(w bridge.Webhook) error {
	o := w.Options
	if o.VerifyToken != "" || o.Groups || o.GroupChats || o.OwnMessages {
		return bridge.Invalid("formatOptions: the format evolution has events, headers, byEvents and base64")
	}
	return format.CheckText(w.Secret)
}

// envelope is the body of a post. In Evolution it has the key of the instance; here the key is null, because it is
// secret.
type envelope struct {
	Event       string     `json:"event"`
	Instance    string     `json:"instance"`
	Data        any        `json:"data"`
	Destination string     `json:"destination"`
	DateTime    string     `json:"date_time"`
	Sender      bridge.JID `json:"sender"`
	ServerURL   string     `json:"server_url"`
	APIKey      *string    `json:"apikey"`
}

// event is an event of Evolution.
type event struct {
	name string
	data any
	file *format.File // of the message; may be nil
}

// Posts implements [format.Format].
func (f Format) Posts(d format.Delivery) (posts []format.Post, err error) {
	wanted := d.Webhook.Options.Events
	for _, e := range f.events(d) {
		isWanted := len(wanted) == 0 || slices.ContainsFunc(wanted, func(name string) bool { return plainEvent(name) == e.name })
		if !isWanted && d.Event.Type != format.Test {
			continue
		}
		post, err := f.post(d, e)
		if err != nil {
			return nil, err
		}
		posts = append(posts, post)
	}
	return posts, nil
}

func (f Format) post(d format.Delivery, e event) (format.Post, error) {
	body, err := bridge.EncodeJSON(envelope{
		Event: e.name, Instance: f.Instance, Data: e.data, Destination: d.Webhook.URL, DateTime: d.Event.At.UTC().Format("2006-01-02T15:04:05.000Z"),
		Sender: accountIn(d), ServerURL: f.Base,
	})
	if err != nil {
		return format.Post{}, err
	}
	post := format.Post{URL: d.Webhook.URL, Header: format.Header(d.Webhook), Body: body}
	if d.Webhook.Options.ByEvents {
		post.URL = strings.TrimSuffix(post.URL, "/") + "/" + strings.ReplaceAll(e.name, ".", "-")
	}
	if key := d.Webhook.Options.Headers[jwtKey]; key != "" {
		post.Header.Del(jwtKey)
		post.Header.Set("Authorization", "Bearer "+signed(key, d.Now))
	}
	if record, isRecord := e.data.(Record); isRecord && e.file != nil && d.Webhook.Options.Base64 {
		return f.withFile(d, e, record, post)
	}
	return post, nil
}

// withFile returns a post whose message has its file as the member base64.
func (f Format) withFile(d format.Delivery, e event, record Record, post format.Post) (format.Post, error) {
	mark := rand.Text()
	record.Message = maps.Clone(record.Message)
	record.Message["base64"] = mark
	marked, err := f.post(d, event{name: e.name, data: record})
	if err != nil {
		return format.Post{}, err
	}
	post.File, post.Without = e.file, post.Body
	var found bool
	if post.Body, post.Tail, found = bytes.Cut(marked.Body, []byte(mark)); !found {
		return format.Post{}, fmt.Errorf("the body has no member for the file")
	}
	return post, nil
}

// tokenLife is how long Evolution's tokens are valid.
const tokenLife = 10 * time.Minute

// signed returns the token of a post, signed with the webhook's key (RFC 7519, HS256).
func signed(key string, now time.Time) string {
	encode := base64.RawURLEncoding.EncodeToString
	claims := fmt.Sprintf(`{"iat":%d,"exp":%d,"app":"evolution","action":"webhook"}`, now.Unix(), now.Add(tokenLife).Unix())
	text := encode([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + encode([]byte(claims))
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(text))
	return text + "." + encode(mac.Sum(nil))
}

func accountIn(d format.Delivery) bridge.JID {
	if d.Own.User == nil {
		return ""
	}
	return d.Own.User.JID
}

// events returns the events of Evolution for an event of the bridge.
func (f Format) events(d format.Delivery) []event {
	account := accountIn(d)
	switch e := d.Event; e.Type {
	case bridge.EventMessageCreated:
		return created(account, *e.Message)
	case bridge.EventMessageStatus:
		return []event{{name: eventUpdate, data: ChangeOf(account, *e.Message)}}
	case bridge.EventMessageUpdated:
		return updated(account, e)
	case bridge.EventGroupUpdated:
		return groupChanged(e)
	case bridge.EventAccountStatus:
		return []event{f.connection(e.Status.Status, e.Status.User)}
	case format.Test:
		if d.Webhook.Only != nil {
			return nil // its token may not see the account's state
		}
		return []event{f.connection(d.Own.State, d.Own.User)}
	}
	return nil
}

// created returns the events of a new message. It returns none until the message can be decrypted.
func created(account bridge.JID, m bridge.Message) []event {
	if m.MessageType == bridge.TypeUndecryptable {
		return nil
	}
	e := event{name: eventUpsert, data: RecordOf(account, m)}
	if m.Media != nil {
		e.file = &format.File{Chat: m.Chat, ID: m.ID}
	}
	if compat.IsFromDevice(m) {
		return []event{e, {name: eventSent, data: e.data}}
	}
	return []event{e}
}

// updated returns an event for each change of a message.
func updated(account bridge.JID, e bridge.Event) (events []event) {
	m := *e.Message
	if slices.Contains(e.Changes.Fields, bridge.ChangedType) {
		events = created(account, m)
	}
	for _, reaction := range e.Reactions {
		events = append(events, event{name: eventUpsert, data: ReactionOf(account, m, reaction)})
	}
	if len(e.Voters) > 0 && m.Poll != nil {
		change := ChangeOf(account, m)
		change.PollUpdates = votesOf(*m.Poll)
		events = append(events, event{name: eventUpdate, data: change})
	}
	switch {
	case m.DeletedAt != nil && slices.Contains(e.Changes.Fields, bridge.ChangedDeleted):
		events = append(events, event{name: eventDelete, data: keyOf(m)}, event{name: eventUpdate, data: ChangeOf(account, m)})
	case m.DeletedAt == nil && slices.Contains(e.Changes.Fields, bridge.ChangedEdited):
		events = append(events, event{name: eventEdited, data: EditOf(m)})
	}
	return events
}

// votesOf returns the voters of each option of a poll.
func votesOf(p bridge.PollTally) []map[string]any {
	votes := make([]map[string]any, len(p.Options))
	for i, option := range p.Options {
		votes[i] = map[string]any{"name": option.Name, "voters": option.Voters}
	}
	return votes
}

// connection returns the event for a state of the account.
func (f Format) connection(state bridge.State, user *bridge.User) event {
	shown := map[string]any{"instance": f.Instance, "state": stateOf(state), "statusReason": http.StatusOK}
	switch state {
	case bridge.StateOpen:
	case bridge.StateNeedsPair:
		shown["statusReason"] = http.StatusUnauthorized
	default:
		shown["statusReason"] = http.StatusPreconditionRequired // Evolution's status of a lost connection
	}
	if user != nil {
		shown["wuid"], shown["profileName"], shown["profilePictureUrl"] = user.JID, user.PushName, nil
	}
	return event{name: eventConnection, data: shown}
}
