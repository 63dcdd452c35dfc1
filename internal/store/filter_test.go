package store

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"bridged/internal/bridge"
)

// addresses are ends of texts, and whether there is a link in them.
var addresses = []struct {
	text   string
	isLink bool
}{
	{" http://example.com", true},
	{" HTTPS://EXAMPLE.COM/?q=1", true},
	{" (http://[::1]:80/)", true},
	{" https://пример.рф", true},
	{" https://ÉXAMPLE.org", true},
	{" http://日本.jp", true},
	{" https://", false},
	{" http:// nothing", false},
	{" http:/example.com www.example.com", false},
	{" ftp://example.com", false},
	{" https://.", false},
}

func (w *world) addLink(m *posted) {
	address := addresses[w.r.IntN(len(addresses))]
	m.text, m.hasLink = m.text+address.text, address.isLink
}

// dress makes a message with a text one of some kind.
func (w *world) dress(m *posted) bridge.Message {
	m.kind = "conversation"
	if w.r.IntN(3) == 0 {
		m.sender, m.fromMe = me, true
	}
	if w.r.IntN(6) == 0 {
		w.addLink(m)
	}
	message := bridge.Message{Chat: m.chat, ID: m.id, SenderJID: m.sender, FromMe: m.fromMe, Timestamp: m.ts}
	switch kind := bridge.MediaTypes[w.r.IntN(len(bridge.MediaTypes))]; w.r.IntN(12) {
	case 0, 1:
		m.kind, m.media = string(kind)+"Message", kind
		message.Media = &bridge.Media{Type: kind, MimeType: "x/y"}
	case 2:
		m.kind, m.hasLink = "extendedTextMessage", true
		message.LinkPreview = &bridge.LinkPreview{Title: "a page"}
	case 3:
		m.kind = "pollCreationMessageV3"
	case 4:
		m.kind, m.media = "templateMessage", kind
		message.Media = &bridge.Media{Type: kind}
	}
	message.MessageType, message.Content = m.kind, m.text
	return message
}

// passes reports what a filter says of a message, by its words.
func passes(f bridge.MessageFilter, m posted) bool {
	isType := map[string]bool{
		"": true, "media": m.media != "", "link": m.hasLink, m.kind: true, string(m.media): true,
	}
	return isType[f.Type] && (f.FromMe == nil || *f.FromMe == m.fromMe) && (f.HasMedia == nil || *f.HasMedia == (m.media != "")) &&
		(f.Starred == nil || *f.Starred == m.starred)
}

func (w *world) randomFilter() (f bridge.MessageFilter) {
	types := []string{
		"", "", "media", "link", "image", "video", "audio", "document", "sticker", "conversation", "extendedTextMessage",
		"imageMessage", "templateMessage", "pollCreationMessageV3", "locationMessage",
	}
	f.Type = types[w.r.IntN(len(types))]
	maybe := func() *bool { return []*bool{nil, nil, ptr(true), ptr(false)}[w.r.IntN(4)] }
	f.FromMe, f.HasMedia, f.Starred = maybe(), maybe(), maybe()
	return f
}

// askFiltered compares a search and a history with random filters with the naive scan.
func (w *world) askFiltered() {
	q := bridge.SearchQuery{
		MessageFilter: w.randomFilter(), Limit: []int{1, 3, 10, 500}[w.r.IntN(4)],
		ChatType: []bridge.ChatType{bridge.ChatsAll, bridge.ChatsGroup, bridge.ChatsIndividual, ""}[w.r.IntN(4)],
	}
	if w.r.IntN(3) == 0 {
		q.Q, q.Fold = w.randomQuery(), folds[w.r.IntN(2)]
	}
	if w.r.IntN(3) == 0 {
		q.Chat = w.list[w.r.IntN(len(w.list))].chat
	}
	if w.r.IntN(4) == 0 {
		q.Sender = []bridge.JID{me, alice, bob, carol, "491700000099@s.whatsapp.net"}[w.r.IntN(5)]
	}
	if w.r.IntN(3) == 0 {
		q.Since = ptr(at(pace * w.r.IntN(len(w.list)/2)))
	}
	if w.r.IntN(3) == 0 {
		q.Until = ptr(at(pace * w.r.IntN(len(w.list)/2)))
	}
	if w.r.IntN(4) == 0 {
		q.Only = worldChats[w.r.IntN(len(worldChats)):][:w.r.IntN(2)]
	}
	if !q.IsNarrow() {
		q.HasMedia = ptr(true)
	}
	fits := func(m posted) bool {
		return m.has(q.Q, q.Fold) && passes(q.MessageFilter, m) && (q.Sender == "" || m.sender == q.Sender) &&
			(q.Since == nil || !m.ts.Before(q.Since.Time)) && (q.Until == nil || !m.ts.After(q.Until.Time))
	}
	w.compare(fmt.Sprintf("%+v", q), w.searchAll(q), w.found(func(m posted) bool {
		return fits(m) && (q.Only == nil || slices.Contains(q.Only, m.chat)) && (q.Chat == "" || m.chat == q.Chat) &&
			(q.ChatType != bridge.ChatsGroup || m.chat.IsGroup()) && (q.ChatType != bridge.ChatsIndividual || !m.chat.IsGroup())
	}))
	h := bridge.MessageQuery{
		Chat: worldChats[w.r.IntN(len(worldChats))], Q: q.Q, Fold: q.Fold, MessageFilter: q.MessageFilter, Sender: q.Sender, Since: q.Since, Until: q.Until, Limit: q.Limit,
		Order: []bridge.Order{bridge.OrderAsc, bridge.OrderDesc}[w.r.IntN(2)],
	}
	want := w.found(func(m posted) bool { return fits(m) && m.chat == h.Chat })
	if h.Order == bridge.OrderAsc {
		slices.Reverse(want)
	}
	w.compare(fmt.Sprintf("%+v", h), w.historyAll(h), want)
}

// TestSearch_WithoutATextNeedsAFilter, of which each is enough.
func TestSearch_WithoutATextNeedsAFilter(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	picture := says(alice, alice, "A1", 1, "see https://example.com")
	picture.Media, picture.MessageType = &bridge.Media{Type: bridge.MediaImage}, "imageMessage"
	save(t, s, owner(), picture, says(bob, bob, "B1", 2, "nothing"), iSay(bob, "B2", 3, "an answer"))
	for _, c := range []struct {
		q    bridge.SearchQuery
		want []string
	}{
		{bridge.SearchQuery{MessageFilter: bridge.MessageFilter{Type: "image"}}, []string{"A1"}},
		{bridge.SearchQuery{MessageFilter: bridge.MessageFilter{Type: "imageMessage"}}, []string{"A1"}},
		{bridge.SearchQuery{MessageFilter: bridge.MessageFilter{Type: "link"}}, []string{"A1"}},
		{bridge.SearchQuery{MessageFilter: bridge.MessageFilter{Type: "video"}}, []string{}},
		{bridge.SearchQuery{MessageFilter: bridge.MessageFilter{FromMe: ptr(true)}}, []string{"B2"}},
		{bridge.SearchQuery{MessageFilter: bridge.MessageFilter{HasMedia: ptr(false)}}, []string{"B2", "B1"}},
		{bridge.SearchQuery{Chat: bob}, []string{"B2", "B1"}},
		{bridge.SearchQuery{Chat: bob, Sender: me}, []string{"B2"}},
		{bridge.SearchQuery{Sender: alice}, []string{"A1"}},
		{bridge.SearchQuery{Sender: meLID, Q: "AN"}, []string{"B2"}},
	} {
		sameList(t, fmt.Sprintf("%+v", c.q), matchIDs(matchesOf(t, s, c.q)), c.want)
	}
	_, err := s.Search(context.Background(), bridge.SearchQuery{Chat: carol})
	wantCode(t, err, bridge.CodeNotFound)
}

// TestFilters_FollowChanges of a message: a deleted picture is none, and an edit may add a
// link or take it away.
func TestFilters_FollowChanges(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	picture := says(alice, alice, "A1", 1, "")
	picture.Media, picture.MessageType = &bridge.Media{Type: bridge.MediaImage}, "imageMessage"
	save(t, s, picture, says(alice, alice, "A2", 2, "plain"), says(alice, alice, "A3", 3, "http://example.com"),
		bridge.Deletion{Chat: alice, Target: "A1", By: alice, Timestamp: at(4)})
	for id, text := range map[string]string{"A2": "now at https://example.com", "A3": "moved"} {
		save(t, s, bridge.Edit{Chat: alice, Target: id, Editor: alice, Timestamp: at(5), New: says(alice, alice, id, 5, text)})
	}
	for kind, want := range map[string][]string{"image": {}, "imageMessage": {"A1"}, "link": {"A2"}} {
		sameList(t, kind, ids(messages(t, s, bridge.MessageQuery{Chat: alice, MessageFilter: bridge.MessageFilter{Type: kind}})), want)
	}
	checkSound(t, s)
}
