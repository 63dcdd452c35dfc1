package harness

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// Object is a JSON object, received or expected.
type Object = map[string]any

// RefersTo returns a contextInfo; quoted and by are nil without a quote.
func RefersTo(quoted, by any, mentions ...Object) Object {
	jids := []any{}
	for _, m := range mentions {
		jids = append(jids, m["jid"])
	}
	if mentions == nil {
		mentions = []Object{}
	}
	return Object{"quotedMsgId": quoted, "quotedSenderJid": by, "mentionedJid": jids, "mentions": mentions, "mentionsAll": false}
}

// Mention returns one of a contextInfo's mentions; token is nil without one. Anna
// alone is in the account's address book.
func Mention(p *simnet.Phone, token any) Object {
	name := p.Name()
	if name == "Anna" {
		name = "Anna Amsel"
	}
	return Object{"jid": p.PN().String(), "lid": p.LID().String(), "name": name, "token": token}
}

// Recent represents any time during the test.
const Recent = "a moment of this test"

// AfterTimer represents the time at which a message of the test disappears.
const AfterTimer = "chatTimer after a moment of this test"

// moments lists the fields that hold a time.
var moments = map[string]bool{
	"timestamp": true, "editedAt": true, "deletedAt": true, "lastMessageAt": true,
	"createdAt": true, "updatedAt": true, "since": true, "ts": true, "at": true,
}

// Answers waits until a path answers with exactly the object wanted.
func (p *Process) Answers(path string, want Object) {
	p.T.Helper()
	expected := Plain(p.T, want)
	Eventually(p.T, func() error {
		resp := p.Get(path)
		if resp.Status != http.StatusOK {
			return fmt.Errorf("GET %s: status %d: %s", path, resp.Status, resp.Body)
		}
		var got any
		resp.Decode(&got)
		if diff := gocmp.Diff(expected, p.Timeless(got)); diff != "" {
			return fmt.Errorf("GET %s (-want +got):\n%s", path, diff)
		}
		return nil
	})
}

// Snapshot returns a path's current answer as text.
func (p *Process) Snapshot(path string) string {
	p.T.Helper()
	return string(p.Get(path).Want(http.StatusOK).Body)
}

// Plain returns v encoded as JSON and decoded again.
func Plain(t testing.TB, v any) (out any) {
	t.Helper()
	data, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Timeless replaces all times since the start of the test by recent.
func (p *Process) Timeless(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = p.Timeless(v[i])
		}
	case Object:
		p.agreed(v)
		for name, value := range v {
			if text, ok := value.(string); ok && moments[name] && p.isRecent(text, 0) {
				v[name] = Recent
				continue
			}
			if text, ok := value.(string); ok && (name == "expiresAt" || name == "pinnedUntil") && p.isRecent(text, ChatTimer*time.Second) {
				v[name] = AfterTimer
				continue
			}
			v[name] = p.Timeless(value)
		}
	}
	return v
}

// isRecent reports whether a time lies that long after a moment of the test. It
// also checks the form: UTC with milliseconds.
func (p *Process) isRecent(text string, after time.Duration) bool {
	at, err := time.Parse("2006-01-02T15:04:05.000Z", text)
	at = at.Add(-after)
	return err == nil && at.After(p.Began.Add(-2*time.Second)) && at.Before(time.Now().Add(2*time.Second))
}

// With returns a copy of an object with some fields changed.
func With(original Object, changes ...Object) Object {
	out := Object{}
	for _, fields := range append([]Object{original}, changes...) {
		maps.Copy(out, fields)
	}
	return out
}

// Message returns a message as the API shows it. changes has the fields that only its kind has.
func Message(id simnet.MessageID, by *simnet.Phone, kind, content string, changes ...Object) Object {
	return With(Object{
		"msgId": id, "fromMe": false, "senderJid": by.PN().String(), "senderLid": by.LID().String(), "senderUsername": nil, "pushName": by.Name(),
		"messageType": kind, "content": content, "contextInfo": nil, "quoted": nil, "timestamp": Recent, "media": nil, "transcript": nil, "poll": nil,
		"reactions": []any{}, "editedAt": nil, "deletedAt": nil, "status": nil, "location": nil, "contacts": nil, "interactive": nil, "event": nil,
		"groupInvite": nil, "order": nil, "product": nil, "linkPreview": nil, "referral": nil, "album": nil, "albumId": nil,
		"isForwarded": false, "viewOnce": false, "expiresAt": nil, "pinnedUntil": nil, "kept": false, "starred": false, "imported": false,
	}, changes...)
}

// Quoted returns a message of a chat as a quote in that chat shows it.
func Quoted(chat simnet.JID, m Object) Object {
	shown := Object{"chatJid": chat.String(), "origin": "stored"}
	for _, name := range []string{"msgId", "fromMe", "senderJid", "pushName", "messageType", "content", "timestamp", "deletedAt"} {
		shown[name] = m[name]
	}
	return Object{"quoted": shown}
}

// OwnMessage returns a message of the account itself.
func OwnMessage(id simnet.MessageID, by *simnet.Phone, kind, content string, status bridge.Delivery, changes ...Object) Object {
	return Message(id, by, kind, content, append(changes, Object{"fromMe": true, "status": status})...)
}

// Reaction returns a reaction as the API shows it.
func Reaction(by *simnet.Phone, emoji string) Object {
	return Object{"senderJid": by.PN().String(), "emoji": emoji, "timestamp": Recent}
}

// History returns the answer of a list of messages without filters.
func History(chat simnet.JID, messages []Object, applied ...Object) Object {
	filters := With(Object{
		"since": nil, "until": nil, "q": nil, "fold": nil, "sender": nil, "type": nil, "fromMe": nil, "hasMedia": nil, "pinned": nil, "starred": nil, "order": "desc", "limit": 100, "offset": 0,
	}, applied...)
	return Object{"jid": chat.String(), "count": len(messages), "filters": filters, "messages": list(messages), "hasMore": false, "nextCursor": nil}
}

// Match returns a message of a chat as the search returns it.
func Match(chat simnet.JID, m Object) Object {
	return Object{
		"chatJid": chat.String(), "msgId": m["msgId"], "senderJid": m["senderJid"], "senderLid": m["senderLid"], "senderUsername": m["senderUsername"],
		"pushName": m["pushName"], "isGroup": chat.Server == bridge.ServerGroup, "content": m["content"], "timestamp": Recent,
		"chatName": asListed, "fromMe": m["fromMe"], "messageType": m["messageType"], "media": m["media"], "transcript": m["transcript"],
	}
}

// Matches returns the answer of a search.
func Matches(query string, found ...Object) Object {
	return Object{"query": query, "count": len(found), "matches": list(found), "hasMore": false, "nextCursor": nil}
}

// Chats returns the answer of the list of chats.
func Chats(listed ...Object) Object {
	return Object{"count": len(listed), "chats": list(listed), "hasMore": false, "nextCursor": nil}
}

// Chat returns a chat with messages, with the usual settings.
func Chat(fields Object) Object {
	return With(fields, Object{
		"lastMessageAt": Recent, "lastMessage": newest, "unreadCount": unanswered,
		"archived": false, "pinned": false, "mutedUntil": nil, "disappearingSeconds": 0, "labels": []any{},
	})
}

// PrivateChat returns a chat with a person in the list of chats.
func PrivateChat(with *simnet.Phone, name string) Object {
	return Chat(Object{"jid": with.PN().String(), "lid": with.LID().String(), "username": nil, "isGroup": false, "name": name, "participants": 2})
}

// Member returns a participant of a group.
func Member(p *simnet.Phone, name string, rights ...string) Object {
	m := Object{"jid": p.PN().String(), "lid": p.LID().String(), "username": nil, "displayName": name, "isAdmin": false, "isSuperAdmin": false, "label": ""}
	for _, right := range rights {
		m[right] = true
	}
	return m
}

// list returns a list that is never null in JSON.
func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}

// Reversed returns a list in reverse order.
func Reversed[T any](items []T) []T {
	out := make([]T, 0, len(items))
	for i := range items {
		out = append(out, items[len(items)-1-i])
	}
	return out
}

// Refused checks a refusal: status, code, and the words of its sentence that help
// the caller.
func Refused(t testing.TB, resp apitest.Response, status int, code bridge.Code, words ...string) {
	t.Helper()
	if resp.Status != status || resp.Code() != string(code) {
		t.Errorf("answered %d: %s; want %d and the code %s", resp.Status, resp.Body, status, code)
	}
	Says(t, resp.Error(), words...)
}

// Says checks that a sentence contains the words that matter.
func Says(t testing.TB, sentence string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(sentence, word) {
			t.Errorf("the sentence %q does not say %q", sentence, word)
		}
	}
}

// How other answers of the bridge describe a chat.
const (
	newest     = "the newest message of the history"
	unanswered = "messages behind the account's own in the history"
	asListed   = "the name in the list of chats"
)

// agreed replaces an object's fields about a chat if they agree with the bridge's other answers.
func (p *Process) agreed(o Object) {
	if jid, ok := o["chatJid"].(string); ok && o["chatName"] != nil {
		var chat Object
		p.Get("/api/chats/" + bridge.JID(jid).Escaped()).Want(http.StatusOK).Decode(&chat)
		if chat["name"] == o["chatName"] {
			o["chatName"] = asListed
		}
	}
	last, ok := o["lastMessage"].(Object)
	if !ok {
		return
	}
	jid := bridge.JID(o["jid"].(string))
	list := "/api/messages/individual/" + jid.Escaped()
	if jid.IsGroup() {
		list = "/api/groups/" + jid.Escaped() + "/messages"
	}
	var history struct{ Messages []Object }
	p.Get(list + "?limit=1000").Want(http.StatusOK).Decode(&history)
	if isPreviewOf(last, history.Messages[0]) && last["timestamp"] == o["lastMessageAt"] {
		o["lastMessage"] = newest
	}
	behind := 0
	for behind < len(history.Messages) && history.Messages[behind]["fromMe"] == false {
		behind++
	}
	if o["unreadCount"] == float64(behind) {
		o["unreadCount"] = unanswered
	}
}

// isPreviewOf reports whether a chat's last message is one of a history's. All are
// short here.
func isPreviewOf(last, m Object) bool {
	for name, value := range last {
		if name == "media" {
			file, has := value.(Object)
			of, wants := m[name].(Object)
			if has != wants || has && file["type"] != of["type"] {
				return false
			}
		} else if m[name] != value {
			return false
		}
	}
	return len(last) > 0
}

// Pages reads a list to its end by its cursors and returns one of its columns.
func Pages(t testing.TB, b *Process, list, items, name string) (all []string) {
	t.Helper()
	for next := ""; ; {
		var page Object
		b.Get(list + "&cursor=" + url.QueryEscape(next)).Want(http.StatusOK).Decode(&page)
		for _, item := range page[items].([]any) {
			all = append(all, item.(Object)[name].(string))
		}
		cursor, more := page["nextCursor"].(string)
		if !more {
			return all
		}
		next = cursor
	}
}

// InOrder sorts chats as the list promises: the latest message first, then by JID.
func InOrder(t *testing.T, b *Process, listed ...Object) []Object {
	t.Helper()
	var page struct{ Chats []bridge.Chat }
	b.Get("/api/chats").Want(http.StatusOK).Decode(&page)
	last := map[string]time.Time{}
	for _, chat := range page.Chats {
		last[string(chat.JID)] = chat.LastMessageAt.Time
	}
	slices.SortFunc(listed, func(x, y Object) int {
		a, b := x["jid"].(string), y["jid"].(string)
		return cmp.Or(last[b].Compare(last[a]), cmp.Compare(a, b))
	})
	return listed
}

// FirstIs checks id and push name of the newest message.
func FirstIs(b *Process, list string, id simnet.MessageID, name string) error {
	var page struct{ Messages []bridge.Message }
	b.Get(list + "?limit=1").Want(http.StatusOK).Decode(&page)
	if m := page.Messages[0]; m.ID != id || m.PushName != name {
		return fmt.Errorf("the newest message is %s by %q, want %s by %q", m.ID, m.PushName, id, name)
	}
	return nil
}
