package console_test

import (
	"strings"
	"testing"
)

// TestOverview_ShowsTheQuotaOfNewChats if the network has named one.
func TestOverview_ShowsTheQuotaOfNewChats(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ quota, want string }{
		"no limit": {"null", ""},
		"a warning": {
			`{"status":"first_warning","total":1200,"used":1000,"cycleStartsAt":null,"cycleEndsAt":"2026-12-01T00:00:00.000Z"}`,
			"1 000 of 1 200</p><p class=\"hint\">WhatsApp’s limit is near, until ",
		},
		"used up, and nothing else is known": {
			`{"status":"capped","total":null,"used":null,"cycleStartsAt":null,"cycleEndsAt":null}`,
			"Used up</span></p><p class=\"hint\">WhatsApp allows no more</p>",
		},
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

// TestOverview_ShowsTheConnection: the delivered queue, an expiring version, a pause of logins.
func TestOverview_ShowsTheConnection(t *testing.T) {
	t.Parallel()
	for status, want := range map[string][]string{
		`{"status":"open","since":"2026-11-21T08:15:30.000Z","catchingUp":{"received":405,"expected":711}}`: {"in the meantime: 405 of 711"},
		`{"status":"open","since":"2026-11-21T08:15:30.000Z","lastError":"the network will refuse this client's version",
			"clientVersion":{"current":"2.3000.1","expiresAt":"2026-12-24T12:00:00.000Z"}}`: {"The network will refuse", "this version (2.3000.1)", "24 December at 13:00"},
		`{"status":"closed","hasSession":true,"since":"2026-11-21T08:15:30.000Z","lastError":"too many logins: trying again at noon",
			"pausedUntil":"2026-11-21T12:00:00.000Z"}`: {"Too many logins", "only makes the pause longer"},
	} {
		s := newSite(t)
		s.status = status
		page := s.logIn().body
		for _, part := range want {
			if !strings.Contains(page, part) {
				t.Errorf("%s: the overview lacks %q", status, part)
			}
		}
	}
}
