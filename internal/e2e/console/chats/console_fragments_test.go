package chats

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"bridged/internal/client"
	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/browser"
	"bridged/internal/longtest"
	"bridged/internal/simnet"
)

// What happens in a chat loads that, and not the page again: a few kilobytes.
func aMessageLoadsAFewKilobytes(t *testing.T, v Visited) {
	var id simnet.MessageID
	began := time.Now().Add(-time.Hour)
	for i := range 60 {
		id = Say(t, v.Ben, v.Owner.PN(), fmt.Sprintf("line %d.", i), simnet.At(began.Add(time.Duration(i)*time.Second)))
	}
	v.WantStored(v.Ben, "line 59.")
	v.Bridge.Post(Path("/api/chats/%s/read", v.Ben.PN()), Object{}).Want(http.StatusOK)
	v.OpenChat(v.Ben.PN())
	v.WaitFor(`document.querySelectorAll(".msg").length === 50 && document.querySelectorAll(".chat-list .chat-row").length === 31 && document.readyState === "complete"`)
	page := Evaluate[int](v.Browser, `performance.getEntriesByType("navigation")[0].decodedBodySize`)
	costs := func(what, done string, act func()) {
		t.Helper()
		v.Run(`performance.clearResourceTimings()`)
		act()
		v.WaitFor(done)
		history := Evaluate[int](v.Browser, `performance.getEntriesByType("resource").filter(one => /[?&]part/.test(one.name)).reduce((sum, one) => sum + one.decodedBodySize, 0)`)
		t.Logf("%s loads %d bytes of the chat, whose page has %d", what, history, page)
		if history == 0 || history > 12<<10 {
			t.Errorf("%s loads %d bytes of the chat", what, history)
		}
		v.WaitFor(`performance.getEntriesByType("resource").some(one => /[?&]only=/.test(one.name))`)
		if row := Evaluate[int](v.Browser, `performance.getEntriesByType("resource").filter(one => /\/list\?/.test(one.name)).reduce((most, one) => Math.max(most, one.decodedBodySize), 0)`); row > 4<<10 {
			t.Errorf("%s loads %d bytes of the list", what, row)
		}
		if whole := Evaluate[int](v.Browser, `performance.getEntriesByType("resource").filter(one => new URL(one.name).pathname === location.pathname && !/[?&]part/.test(one.name)).length`); whole != 0 {
			t.Errorf("%s loads the page again", what)
		}
	}
	text := func(text string) string {
		return fmt.Sprintf(`[...document.querySelectorAll(".msg")].at(-1).textContent.includes(%q)`, text)
	}
	costs("a new message", text("new one"), func() { Say(t, v.Ben, v.Owner.PN(), "new one") })
	costs("a reaction", `document.querySelector(".mark")`, func() {
		Must(v.Ben.ReactTo(Within(t), v.Owner.PN(), v.Ben.PN(), id, "👍"))(t)
	})
	v.WaitFor(`document.querySelector(".chat-list > li:first-child").innerText.includes("new one")`)
	costs("an own text", text("my own")+` && !document.querySelector(".unsent")`, func() { v.Write("my own") })
}

// A long chat that is scrolled through holds few of its messages at a time, and shows all of them on the way up and down.
func longChatsHoldFewNodes(t *testing.T, v Visited) {
	count := longtest.Else(500, 3500)
	var export strings.Builder
	for i := range count {
		fmt.Fprintf(&export, "%d.12.25, %02d:%02d - Olga: line %d.\n", 20+i/1200, 1+i/60%20, i%60, i)
	}
	imported := Must(v.Bridge.API.ImportChat(Within(t), client.ChatExport{Chat: "Older friends", Timezone: "UTC"}, strings.NewReader(export.String())))(t)
	v.Open("/console/chats/" + imported.ChatJID.Escaped())
	v.WaitFor(`document.querySelectorAll(".msg").length === 50 && document.readyState === "complete"`)
	v.Run(`window.most = 0; window.seen = new Set()`)
	scroll := func(to, until string) {
		t.Helper()
		v.WaitFor(`(() => {
			const history = document.querySelector("#history");
			most = Math.max(most, document.querySelectorAll("*").length);
			for (const one of document.querySelectorAll(".msg")) seen.add(one.dataset.id);
			history.scrollTop = ` + to + `;
			return ` + until + `;
		})()`)
	}
	scroll("-history.scrollHeight", `!document.querySelector("[data-older]")`)
	if seen := Evaluate[int](v.Browser, "seen.size"); seen != count {
		t.Errorf("%d messages of %d were on the page", seen, count)
	}
	scroll("0", `!document.querySelector("[data-newer]") && document.querySelector("#messages").textContent.includes("line `+fmt.Sprint(count-1)+`.")`)
	most := Evaluate[int](v.Browser, "most")
	t.Logf("%d messages: at most %d nodes", count, most)
	if most > 12_000 {
		t.Errorf("%d nodes", most)
	}
}
