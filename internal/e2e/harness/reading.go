package harness

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"bridged/internal/bridge"
)

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
