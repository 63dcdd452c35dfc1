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
	for i := range 180 {
		text := fmt.Sprintf("line %d.", i)
		if i%60 == 7 {
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
	shows("1 of 3", "closed 127")
	for _, button := range []string{"[data-older-hit]", "[data-close]", "input"} {
		v.WantSeen("#within " + button)
	}
	shoot(v.Browser, fmt.Sprintf("within-%d", Evaluate[int](v.Browser, "innerWidth")))
	v.ClickOn("#within [data-older-hit]")
	shows("2 of 3", "closed 67")
	v.ClickOn("#within [data-older-hit]")
	shows("3 of 3", "closed 7")
	v.ClickOn("#within [data-newer-hit]")
	shows("2 of 3", "closed 67")
	v.Open("/console/settings")
	v.Do(chromedp.NavigateBack(), Loads("#within:not([hidden])"))
	shows("2 of 3", "closed 67")
	v.ClickOn("#within [data-close]")
	v.WaitFor(`document.querySelector("#within").hidden && !document.querySelector("#messages mark")`)
}
