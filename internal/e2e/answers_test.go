package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"bridged/internal/api/apitest"
	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// object is a JSON object, received or expected.
type object = map[string]any

// refersTo returns a contextInfo; quoted and by are nil without a quote.
func refersTo(quoted, by any, mentions ...object) object {
	jids := []any{}
	for _, m := range mentions {
		jids = append(jids, m["jid"])
	}
	if mentions == nil {
		mentions = []object{}
	}
	return object{"quotedMsgId": quoted, "quotedSenderJid": by, "mentionedJid": jids, "mentions": mentions, "mentionsAll": false}
}

// mention returns one of a contextInfo's mentions; token is nil without one. Anna
// alone is in the account's address book.
func mention(p *simnet.Phone, token any) object {
	name := p.Name()
	if name == "Anna" {
		name = "Anna Amsel"
	}
	return object{"jid": p.PN().String(), "lid": p.LID().String(), "name": name, "token": token}
}

// recent stands for any time during the test.
const recent = "a moment of this test"

// afterTimer stands for the time at which a message of the test disappears.
const afterTimer = "chatTimer after a moment of this test"

// moments lists the fields that hold a time.
var moments = map[string]bool{
	"timestamp": true, "editedAt": true, "deletedAt": true, "lastMessageAt": true,
	"createdAt": true, "updatedAt": true, "since": true, "ts": true, "at": true,
}

// answers waits until a path answers with exactly the object wanted.
func (p *process) answers(path string, want object) {
	p.t.Helper()
	expected := plain(p.t, want)
	eventually(p.t, func() error {
		resp := p.Get(path)
		if resp.Status != http.StatusOK {
			return fmt.Errorf("GET %s: status %d: %s", path, resp.Status, resp.Body)
		}
		var got any
		resp.Decode(&got)
		if diff := gocmp.Diff(expected, p.timeless(got)); diff != "" {
			return fmt.Errorf("GET %s (-want +got):\n%s", path, diff)
		}
		return nil
	})
}

// snapshot returns a path's current answer as text.
func (p *process) snapshot(path string) string {
	p.t.Helper()
	return string(p.Get(path).Want(http.StatusOK).Body)
}

// plain returns v encoded as JSON and decoded again.
func plain(t testing.TB, v any) (out any) {
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

// timeless replaces all times since the start of the test by recent.
func (p *process) timeless(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = p.timeless(v[i])
		}
	case object:
		p.agreed(v)
		for name, value := range v {
			if text, ok := value.(string); ok && moments[name] && p.isRecent(text, 0) {
				v[name] = recent
				continue
			}
			if text, ok := value.(string); ok && (name == "expiresAt" || name == "pinnedUntil") && p.isRecent(text, chatTimer*time.Second) {
				v[name] = afterTimer
				continue
			}
			v[name] = p.timeless(value)
		}
	}
	return v
}

// isRecent reports whether a time lies that long after a moment of the test. It
// also checks the form: UTC with milliseconds.
func (p *process) isRecent(text string, after time.Duration) bool {
	at, err := time.Parse("2006-01-02T15:04:05.000Z", text)
	at = at.Add(-after)
	return err == nil && at.After(p.began.Add(-2*time.Second)) && at.Before(time.Now().Add(2*time.Second))
}

// with returns a copy of an object with some fields changed.
func with(original object, changes ...object) object {
	out := object{}
	for _, fields := range append([]object{original}, changes...) {
		for name, value := range fields {
			out[name] = value
		}
	}
	return out
}

// message returns a message as the API shows it: the fields of every kind, and
// those of its kind in changes.
func message(id simnet.MessageID, by *simnet.Phone, kind, content string, changes ...object) object {
	return with(object{
		"msgId": id, "fromMe": false, "senderJid": by.PN().String(), "senderLid": by.LID().String(), "senderUsername": nil, "pushName": by.Name(),
		"messageType": kind, "content": content, "contextInfo": nil, "quoted": nil, "timestamp": recent, "media": nil, "transcript": nil, "poll": nil,
		"reactions": []any{}, "editedAt": nil, "deletedAt": nil, "status": nil, "location": nil, "contacts": nil, "interactive": nil, "event": nil,
		"groupInvite": nil, "order": nil, "product": nil, "linkPreview": nil, "referral": nil, "album": nil, "albumId": nil,
		"isForwarded": false, "expiresAt": nil, "pinnedUntil": nil, "kept": false, "imported": false,
	}, changes...)
}

// quoted returns a message of a chat as a quote in that chat shows it.
func quoted(chat simnet.JID, m object) object {
	shown := object{"chatJid": chat.String(), "origin": "stored"}
	for _, name := range []string{"msgId", "fromMe", "senderJid", "pushName", "messageType", "content", "timestamp", "deletedAt"} {
		shown[name] = m[name]
	}
	return object{"quoted": shown}
}

// ownMessage returns a message of the account itself.
func ownMessage(id simnet.MessageID, by *simnet.Phone, kind, content string, status bridge.Delivery, changes ...object) object {
	return message(id, by, kind, content, append(changes, object{"fromMe": true, "status": status})...)
}

// reaction returns a reaction as the API shows it.
func reaction(by *simnet.Phone, emoji string) object {
	return object{"senderJid": by.PN().String(), "emoji": emoji, "timestamp": recent}
}

// history returns the answer of a list of messages without filters.
func history(chat simnet.JID, messages []object, applied ...object) object {
	filters := with(object{
		"since": nil, "until": nil, "q": nil, "fold": nil, "sender": nil, "type": nil, "fromMe": nil, "hasMedia": nil, "order": "desc", "limit": 100, "offset": 0,
	}, applied...)
	return object{"jid": chat.String(), "count": len(messages), "filters": filters, "messages": list(messages), "hasMore": false, "nextCursor": nil}
}

// match returns a message of a chat as the search returns it.
func match(chat simnet.JID, m object) object {
	return object{
		"chatJid": chat.String(), "msgId": m["msgId"], "senderJid": m["senderJid"], "senderLid": m["senderLid"], "senderUsername": m["senderUsername"],
		"pushName": m["pushName"], "isGroup": chat.Server == bridge.ServerGroup, "content": m["content"], "timestamp": recent,
		"chatName": asListed, "fromMe": m["fromMe"], "messageType": m["messageType"], "media": m["media"], "transcript": m["transcript"],
	}
}

// matches returns the answer of a search.
func matches(query string, found ...object) object {
	return object{"query": query, "count": len(found), "matches": list(found), "hasMore": false, "nextCursor": nil}
}

// chats returns the answer of the list of chats.
func chats(listed ...object) object {
	return object{"count": len(listed), "chats": list(listed), "hasMore": false, "nextCursor": nil}
}

// chat returns a chat with messages, with the usual settings.
func chat(fields object) object {
	return with(fields, object{
		"lastMessageAt": recent, "lastMessage": newest, "unreadCount": unanswered,
		"archived": false, "pinned": false, "mutedUntil": nil,
	})
}

// privateChat returns a chat with a person in the list of chats.
func privateChat(with *simnet.Phone, name string) object {
	return chat(object{"jid": with.PN().String(), "lid": with.LID().String(), "username": nil, "isGroup": false, "name": name, "participants": 2})
}

// groupChat returns a group in the list of chats.
func groupChat(group *simnet.Group, participants int) object {
	return chat(object{"jid": group.JID().String(), "lid": nil, "username": nil, "isGroup": true, "name": group.Name(), "participants": participants})
}

// member returns a participant of a group.
func member(p *simnet.Phone, name string, rights ...string) object {
	m := object{"jid": p.PN().String(), "lid": p.LID().String(), "username": nil, "displayName": name, "isAdmin": false, "isSuperAdmin": false, "label": ""}
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

// reversed returns a list in reverse order.
func reversed[T any](items []T) []T {
	out := make([]T, 0, len(items))
	for i := range items {
		out = append(out, items[len(items)-1-i])
	}
	return out
}

// refused checks a refusal: status, code, and the words of its sentence that help
// the caller.
func refused(t testing.TB, resp apitest.Response, status int, code bridge.Code, words ...string) {
	t.Helper()
	if resp.Status != status || resp.Code() != string(code) {
		t.Errorf("answered %d: %s; want %d and the code %s", resp.Status, resp.Body, status, code)
	}
	says(t, resp.Error(), words...)
}

// says checks that a sentence contains the words that matter.
func says(t testing.TB, sentence string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(sentence, word) {
			t.Errorf("the sentence %q does not say %q", sentence, word)
		}
	}
}

// sortMembers sorts participants: the store lists those with the most rights first,
// the network in the order of joining.
func sortMembers[T any](members []T) {
	slices.SortFunc(members, func(a, b T) int {
		return cmp.Compare(fmt.Sprint(any(a).(object)["jid"]), fmt.Sprint(any(b).(object)["jid"]))
	})
}
