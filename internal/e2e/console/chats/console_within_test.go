package chats

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"bridged/internal/client"
	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/browser"
)

// A search within a chat goes from result to result, also to those that are not on the page, and is there again after a look
// elsewhere and Back.
func searchesWithinAChat(t *testing.T, v Visited) {
	var export strings.Builder
	for i := range 300 {
		text := fmt.Sprintf("line %d.", i)
		if i%100 == 7 {
			text = fmt.Sprintf("the Straße is closed %d", i)
		}
		fmt.Fprintf(&export, "24.12.25, %02d:%02d - Olga: %s\n", 1+i/60, i%60, text)
	}
	imported := Must(v.Bridge.API.ImportChat(Within(t), client.ChatExport{Chat: "Old friends", Timezone: "UTC"}, strings.NewReader(export.String())))(t)
	v.Open("/console/chats/" + imported.ChatJID.Escaped())
	v.WaitFor(`document.querySelectorAll(".msg").length === 50 && document.readyState === "complete"`)
	v.ClickOn(".chat-head .menu > summary")
	v.ClickOn("[data-within]")
	v.WaitFor(`document.activeElement === document.querySelector("#within input")`)
	v.Do(chromedp.SendKeys(chromedp.CSS("#within input"), "strasse"))
	shows := func(count, text string) {
		t.Helper()
		v.WaitFor(fmt.Sprintf(`document.querySelector("#within [role=status]").textContent === %q && document.querySelector(".msg.found mark")?.textContent === "Straße" && document.querySelector(".msg.found").textContent.includes(%q) && (() => {
			const box = document.querySelector(".msg.found mark").getBoundingClientRect(), within = document.querySelector("#history").getBoundingClientRect();
			return box.top > within.top && box.bottom < within.bottom;
		})()`, count, text))
	}
	shows("1 of 3", "closed 207")
	for _, button := range []string{"[data-older-hit]", "[data-close]", "input"} {
		v.WantSeen("#within " + button)
	}
	shoot(v.Browser, fmt.Sprintf("within-%d", Evaluate[int](v.Browser, "innerWidth")))
	v.ClickOn("#within [data-older-hit]")
	shows("2 of 3", "closed 107")
	v.ClickOn("#within [data-older-hit]")
	shows("3 of 3", "closed 7")
	v.ClickOn("#within [data-newer-hit]")
	shows("2 of 3", "closed 107")
	v.Open("/console/settings")
	v.Do(chromedp.NavigateBack(), Loads("#within:not([hidden])"))
	shows("2 of 3", "closed 107")
	v.ClickOn("#within [data-close]")
	v.WaitFor(`document.querySelector("#within").hidden && !document.querySelector("#messages mark")`)
}

// The results of a search are there again after one of them was opened, and Back.
func resultsSurviveBack(t *testing.T, v Visited) {
	Say(t, v.Ben, v.Owner.PN(), "the key is under the mat")
	v.WantStored(v.Ben, "under the mat")
	v.Open("/console/chats")
	v.WaitFor(`document.readyState === "complete"`)
	v.Do(chromedp.SendKeys(chromedp.CSS(".pane input[type=search]"), "under"))
	v.WaitFor(`document.querySelector("#found mark")`)
	v.ClickIt(`[...document.querySelectorAll("#found .chat-row")].at(-1)`)
	v.Do(Loads(".msg.found mark"))
	v.Do(chromedp.NavigateBack(), Loads("#found mark"))
	v.WantSeen("#found .chat-row")
	v.WaitFor(`document.querySelector(".pane input[type=search]").value === "under"`)
}
