package search

import (
	"fmt"
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
)

// filters has one filter for each way through a chat, by the index that it takes.
func filters() map[string][]Filter {
	of := func(kind string) Filter { return Filter{MessageFilter: bridge.MessageFilter{Type: kind}} }
	yes, no := true, false
	return map[string][]Filter{
		"messages_by_media":  {of("image"), of("media"), {MessageFilter: bridge.MessageFilter{HasMedia: &yes}}},
		"messages_with_link": {of("link")},
		"messages_by_type":   {of("imageMessage"), of("undecryptable")},
		"messages_by_sender": {{Sender: 1}, {Sender: 1, MessageFilter: bridge.MessageFilter{FromMe: &yes}}},
		"messages_pinned":    {{Sender: 1, MessageFilter: bridge.MessageFilter{Pinned: &yes}}},
		"messages_starred":   {{MessageFilter: bridge.MessageFilter{Starred: &yes}}, {Sender: 1, MessageFilter: bridge.MessageFilter{Type: "image", Starred: &yes}}},
		"messages_own":       {{MessageFilter: bridge.MessageFilter{FromMe: &yes}}},
		"messages_by_time":   {of("conversation"), {MessageFilter: bridge.MessageFilter{FromMe: &no}}, {MessageFilter: bridge.MessageFilter{HasMedia: &no}}, {MessageFilter: bridge.MessageFilter{Pinned: &no}}, {MessageFilter: bridge.MessageFilter{Starred: &no}}, {}},
	}
}

// TestPlans_OfWalksGoThroughTheirIndex in the order of the query, by its time.
func TestPlans_OfWalksGoThroughTheirIndex(t *testing.T) {
	_, s := newIndex(t, 1)
	moment := int64(1)
	for index, list := range filters() {
		for _, f := range list {
			for bits := range 1 << 4 {
				q := Query{Chat: 1, Limit: 10, Sender: f.Sender, Desc: bits&1 == 1}
				for i, set := range []func(){func() { q.Since = &moment }, func() { q.Until = &moment }, func() { q.After = &Position{1, 1} }} {
					if bits>>(i+1)&1 == 1 {
						set()
					}
				}
				w := walk{Query: q, topK: topK{desc: q.Desc, limit: q.Limit}}
				w.start(s.conn, f)
				for _, stream := range w.streams {
					query, args := w.rowsQuery(stream)
					p := plan(t, s, query, args)
					if !strings.HasPrefix(p, "SEARCH m USING ") || !strings.Contains(p, "INDEX "+index+" (") || !strings.Contains(p, "timestamp>? AND timestamp<?)") || strings.Contains(p, "\n") {
						t.Errorf("%+v, %04b is planned as\n%s", f, bits, p)
					}
				}
			}
		}
	}
	if p := plan(t, s, walkedChats, []any{1}); !strings.Contains(p, "SEARCH c USING INDEX chats_by_recency (recency<?)") {
		t.Errorf("the chats to walk through are planned as\n%s", p)
	}
}

// TestWalk_OfWhatAnIndexHoldsReadsNothingElse: one file in a long chat is found among as many
// rows as it takes to find one.
func TestWalk_OfWhatAnIndexHoldsReadsNothingElse(t *testing.T) {
	_, s := newIndex(t, 5000)
	for _, change := range []string{
		`UPDATE messages SET details = '{"m":{"type":"image"}}', type = 'imageMessage' WHERE seq = 7`,
		`UPDATE messages SET details = '{"n":{"u":9,"a":1}}' WHERE seq = 6`, "UPDATE messages SET has_link = 1 WHERE seq = 8",
		"UPDATE messages SET from_me = 1, sender = 2 WHERE seq = 9", "UPDATE chats SET last_message_at = 5000",
	} {
		ok(t, s.conn.Script(change))
	}
	for _, one := range []struct {
		f    Filter
		want int64
	}{
		{Filter{MessageFilter: bridge.MessageFilter{Type: "image"}}, 7},
		{Filter{MessageFilter: bridge.MessageFilter{Type: "media"}}, 7},
		{Filter{MessageFilter: bridge.MessageFilter{Type: "imageMessage"}}, 7},
		{Filter{MessageFilter: bridge.MessageFilter{HasMedia: new(true)}}, 7},
		{Filter{MessageFilter: bridge.MessageFilter{Type: "link"}}, 8},
		{Filter{MessageFilter: bridge.MessageFilter{FromMe: new(true)}}, 9},
		{Filter{Sender: 2}, 9},
		{Filter{MessageFilter: bridge.MessageFilter{Pinned: new(true)}, Now: 8}, 6},
	} {
		for _, chat := range []int64{0, 1} {
			ok(t, s.View(t.Context(), func(c *sqlite.Conn) {
				found, end := Query{Chat: chat, Sender: one.f.Sender, Desc: true, Limit: 10}.Walk(c, one.f, 100)
				if fmt.Sprint(found) != fmt.Sprintf("[{%d %d}]", one.want, one.want) || end != nil {
					t.Errorf("%+v in %d finds %v, and ends at %v", one.f, chat, found, end)
				}
			}))
		}
	}
}

// TestWalk_EndsWhenItHasLookedAtMuch and begins there with the next page.
func TestWalk_EndsWhenItHasLookedAtMuch(t *testing.T) {
	_, s := newIndex(t, 5000)
	ok(t, s.conn.Script("UPDATE messages SET sender = 2 WHERE seq = 1"))
	for _, desc := range []bool{true, false} {
		q, pages, found := Query{Chat: 1, Desc: desc, Limit: 10}, 0, 0
		for more := true; more; pages++ {
			ok(t, s.View(t.Context(), func(c *sqlite.Conn) {
				some, end := q.Walk(c, Filter{MessageFilter: bridge.MessageFilter{Type: "conversation"}}, 500)
				if found += len(some); end != nil && q.After != nil && end.compare(*q.After, desc) <= 0 {
					t.Fatalf("page %d ends at %v, and began at %v", pages, *end, *q.After)
				}
				q.After, more = end, end != nil
			}))
		}
		if found != 0 || pages < 5 || pages > 12 {
			t.Errorf("found %d on %d pages", found, pages)
		}
	}
}
