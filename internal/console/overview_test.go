package console_test

import (
	"strings"
	"testing"
)

// TestOverview_ShowsTheQuotaOfNewChats if the network has named one.
func TestOverview_ShowsTheQuotaOfNewChats(t *testing.T) {
	for name, c := range map[string]struct{ quota, want string }{
		"no limit": {"null", ""},
		"a warning": {`{"status":"first_warning","total":1200,"used":1000,"cycleStartsAt":null,"cycleEndsAt":"2026-12-01T00:00:00.000Z"}`,
			"1 000 of 1 200</p><p class=\"hint\">WhatsApp’s limit is near, until "},
		"used up, and nothing else is known": {`{"status":"capped","total":null,"used":null,"cycleStartsAt":null,"cycleEndsAt":null}`,
			"Used up</span></p><p class=\"hint\">WhatsApp allows no more</p>"},
	} {
		s := newSite(t)
		s.status = `{"status":"open","since":"2026-11-21T08:15:30.000Z","newChats":` + c.quota + `}`
		page := strings.Join(strings.Fields(s.logIn().body), " ")
		page = strings.ReplaceAll(page, "> <", "><")
		if shown := strings.Contains(page, "<h2>New chats</h2>"); shown != (c.want != "") || !strings.Contains(page, c.want) {
			t.Errorf("%s: shown %t, or without %q", name, shown, c.want)
		}
	}
}
