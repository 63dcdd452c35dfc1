package main

import (
	"testing"

	"github.com/chromedp/chromedp"

	. "bridged/internal/e2e/harness/agent"
	. "bridged/internal/e2e/harness/browser"
)

// formatted is a text with everything that texts can have.
const formatted = "*Packing list* for _Saturday_:\n* Boots\n* Water, ~1 l~ 2 l\n\n1. Meet at nine\n2. Walk\n\n> Treffpunkt ist die Hauptstraße 12\n```ssh -L 8080:localhost:8080 camp```\nThe map is at https://example.org/map, use `north`."

// toInfo goes from a chat to the page about it.
var toInfo = Steps{Does(`location.href = document.querySelector(".chat-who").href`), Loads("#members")}

// toMedia goes from a chat to a tab of its gallery.
func toMedia(tab, selector string) Steps {
	return Steps{Does(`location.href = location.pathname + "/media?tab=` + tab + `"`), Loads(selector), Becomes(`[...document.images].every(one => one.complete)`)}
}

func shots() []shot {
	const sofia = "34600100101@s.whatsapp.net"
	const menuOpen = `document.querySelector("#message-menu[open]")`
	menu := Opens(".msg-menu", menuOpen)
	const modal = `document.querySelector("dialog[open]")`
	return []shot{
		{name: "overview", path: "/console/", whole: true},
		{name: "chats", path: "/console/chats"},
		{name: "chats-menu", path: "/console/chats", prepare: Opens(".pane-menu > summary", `document.querySelector(".pane-menu[open]")`)},
		{name: "chats-found", path: "/console/chats", prepare: Steps{Does(`document.querySelector(".pane input[type=search]").value = ""`), chromedp.SendKeys(chromedp.CSS(".pane input[type=search]"), "so"), Loads("#found mark")}},
		{name: "chats-row-menu", path: "/console/chats", prepare: Steps{ // again until the script listens
			Becomes(modal + ` || document.querySelectorAll(".chat-list .chat-row")[2].dispatchEvent(new PointerEvent("contextmenu", {bubbles: true, cancelable: true, pointerType: "mouse", clientX: 180, clientY: 330})) && false`),
		}},
		{name: "more", path: "/console/chats", prepare: Steps{ClicksIt(`document.querySelector(innerWidth < 720 ? ".rail-more" : ".pane-head h2")`)}},
		{name: "shortcuts", path: "/console/chats", prepare: Steps{Does(`document.body.focus()`), chromedp.KeyEvent("?"), Becomes(modal)}},
		{name: "group", chat: "Wandern"},
		{name: "group-top", chat: "Wandern", prepare: Steps{Does(`document.querySelector("#history").scrollTop = -10000`)}},
		{name: "person", chat: "Sofía"},
		{name: "formatted", chat: "Jonas"},
		{name: "scheduled", path: "/console/scheduled", whole: true},
		{name: "scheduled-change", path: "/console/scheduled", prepare: Steps{Does(`document.querySelector(".later-acts details").open = true`)}, whole: true},
		{name: "scheduled-chat", chat: "Elif"},
		{name: "scheduled-new", chat: "Jonas", prepare: Steps{Does(`document.querySelector("#extras").open = true; document.querySelector("#later").open = true`)}},
		{name: "rtl", chat: "عائلة"},
		{name: "contact", chat: "Elif"},
		{name: "document", chat: "अर्जुन"},
		{name: "chat-menu", chat: "Wandern", prepare: Opens(".chat-head .menu > summary", `document.querySelector(".chat-head .menu[open]")`)},
		{name: "menu", chat: "Wandern", prepare: menu},
		{name: "emoji", chat: "Wandern", prepare: append(menu[:len(menu):len(menu)], Opens("[data-emojis]", `document.querySelector(".emoji-list .emoji")`)...)},
		{name: "emoji-found", chat: "Wandern", prepare: append(append(menu[:len(menu):len(menu)], Opens("[data-emojis]", `document.querySelector(".emoji-list .emoji")`)...),
			chromedp.SendKeys(chromedp.CSS("#emojis input"), "mountain"))},
		{name: "viewer", chat: "Wandern", prepare: append(Steps{Does(`document.querySelector("#history").dispatchEvent(new Event("wheel"))`)}, // it no longer stays at the unread messages
			Opens(".picture", `document.querySelector("#viewer[open] .shown img")?.complete`)...)},
		{name: "extras", chat: "Yuki", prepare: Opens("[data-extras]", `document.querySelector("#extras").open`)},
		{name: "extras-poll", chat: "Yuki", prepare: append(Opens("[data-extras]", `document.querySelector("#extras").open`), Does(`document.querySelectorAll("#extras .extras-box > details")[2].open = true`))},
		{name: "reply", chat: "Yuki", prepare: FromMenu("[href*=reply]", `!document.querySelector("#replying").hidden`)},
		{name: "recording", chat: "Yuki", prepare: Opens("[data-record]", `!document.querySelector("#recording").hidden`), after: Steps{Clicks("#recording [data-cancel]")}},
		{name: "files", chat: "Yuki", prepare: Steps{Does(Pasted), Becomes(`document.querySelector("#files[open]")`)}},
		{
			name: "outbox", chat: "Yuki", prepare: Steps{Does(Unsent), Does(`location.reload()`), Loads(".unsent[data-state=failed]")},
			after: Steps{Does(Forgotten)},
		},
		{name: "delete", chat: "Sofía", prepare: FromMenu("a.danger", `document.querySelector("#change[open]")`)},
		{name: "pin", chat: "Wandern", prepare: FromMenu("[href*='?pin=']", `document.querySelector("#change[open]")`)},
		{name: "forward-dialog", chat: "Wandern", prepare: FromMenu("[href$=forward]", `document.querySelector("dialog[open] .choices-list .chat-row")`)},
		{name: "forward", chat: "Wandern", prepare: Steps{Does(`location.href = location.pathname + "/messages/" + [...document.querySelectorAll(".msg")].at(-1).id.slice(2) + "/forward"`), Loads("#forward")}},
		{name: "gallery", chat: "Wandern", prepare: toMedia("pictures", ".tile-view")},
		{name: "gallery-files", chat: "अर्जुन", prepare: toMedia("files", ".media-file")},
		{name: "gallery-links", chat: "Sofía", prepare: toMedia("links", ".media-file")},
		{name: "gallery-none", chat: "Yuki", prepare: toMedia("pictures", ".empty")},
		{name: "import", path: "/console/import", whole: true},
		{name: "import-review", path: "/console/import", prepare: append(Checks(DoubtfulExport), Becomes(`document.querySelector("#review")`)), whole: true},
		{name: "import-dates", path: "/console/import", prepare: append(Checks("1/2/25, 10:00 - Olga: Hi\n"), Becomes(`document.querySelector("#dates")`)), whole: true},
		{name: "import-done", path: "/console/import", prepare: append(Checks(DoubtfulExport), append(Opens("#review button.primary", `document.querySelector("#imported")`), Becomes(`document.querySelector("main").innerText.includes("was imported")`))...), whole: true},
		{name: "imported-chat", chat: "Old friends"},
		{name: "new", path: "/console/new"},
		{name: "new-number", path: "/console/new?q=%2B49+151+0000001", whole: true},
		{name: "new-group", path: "/console/new/group", whole: true},
		{name: "contacts", path: "/console/contacts", whole: true},
		{name: "contact-info", path: "/console/people/" + "34600100101%40s.whatsapp.net", whole: true},
		{name: "group-info", chat: "Wandern", prepare: toInfo, whole: true},
		{name: "group-next-to-chat", chat: "Wandern", prepare: Steps{Clicks(".chat-who"), Loads("#members")}},
		{name: "contact-next-to-chat", chat: "Sofía", prepare: Steps{Clicks(".chat-who"), Loads("#block")}},
		{name: "group-info-menu", chat: "Wandern", prepare: append(toInfo, Does(`document.querySelectorAll(".member details")[1].open = true`))},
		{name: "group-invite", chat: "Wandern", prepare: append(toInfo, Does(`location.search = "?invite"`), Loads("#link .link-qr"), Does(`document.querySelector("#link").scrollIntoView({block: "center"})`))},
		{name: "group-info-member", chat: "عائلة", prepare: toInfo, whole: true},
		{name: "ask", chat: "Wandern", prepare: append(append(toInfo, Opens(".member:has([value=remove]) summary", "true")...), Opens(".member [value=remove]", `document.querySelector("dialog.ask[open]")`)...)},
		{name: "group-add", chat: "Wandern", prepare: append(toInfo, Does(`location.href = document.querySelector("a[href$='/add']").href`), Loads(".pick"))},
		{name: "search", path: "/console/search?q=strasse", whole: true},
		{name: "search-empty", path: "/console/search"},
		{name: "search-filters", path: "/console/search?q=from%3AJonas+kind%3Apictures+since%3A2020-01-01+strasse", prepare: Steps{Does(`document.querySelector(".search-more").open = true`)}, whole: true},
		{name: "search-none", path: "/console/search?q=in%3AHike+kind%3Ascrolls+zzz"},
		{name: "calls", path: "/console/calls"},
		{name: "events", path: "/console/events"},
		{name: "events-open", path: "/console/events", prepare: Steps{Does(`document.querySelector(".event-log details").open = true`)}},
		{name: "webhooks", path: "/console/webhooks", whole: true},
		{name: "webhooks-wrong", path: "/console/webhooks", whole: true, prepare: Steps{
			Does(`(form => { form.noValidate = true; form.url.value = "ftp://example.org"; form.querySelector("#choose-chats").value = "Somebody else"; form.requestSubmit(); })(document.querySelector(".fields"))`), Loads(".wrong"),
		}},
		{name: "webhook", path: "/console/webhooks/2", whole: true},
		{name: "pair", path: "/console/pair"},
		{name: "reference", path: "/console/api"},
		{name: "operation", path: "/console/api/sendText", whole: true},
		{name: "operation-file", path: "/console/api/sendFile", whole: true},
		{name: "operation-result", path: "/console/api/listChats", prepare: append(Opens("#try button.primary", "true"), Loads("#result"), Does(`document.querySelector("#result").scrollIntoView()`))},
		{name: "settings", path: "/console/settings", whole: true},
		{name: "tokens", path: "/console/tokens", whole: true},
		{name: "tokens-wrong", path: "/console/tokens", whole: true, prepare: Steps{
			Does(`(form => { form.noValidate = true; form.requestSubmit(); })(document.querySelector(".panel-body.fields"))`), Loads(".wrong"),
		}},
		{name: "hooks", path: "/console/hooks", whole: true},
		{name: "hook", path: "/console/hooks/1", whole: true},
		{name: "problem", path: "/console/chats/34600100199%40s.whatsapp.net/messages/NONE/forward"},
		{name: "state", path: "/console/chats/" + sofia + "/state"},
	}
}

// readOnlyShots are pages as a visitor sees them with a token that may only read one chat.
func readOnlyShots() []shot {
	return []shot{
		{name: "reader-chats", path: "/console/chats"},
		{name: "reader-chat", chat: "Sofía"},
		{name: "reader-settings", path: "/console/settings", whole: true},
		{name: "reader-refused", path: "/console/webhooks"},
	}
}

// consentShots are pages for consent.
func consentShots(t testing.TB, address string) []shot {
	claude := AccessLink(t, address, "Claude", "https://claude.ai/api/mcp/auth_callback")
	local := AccessLink(t, address, "A program with a name that is much longer than names of programs", "http://127.0.0.1:3118/callback")
	wrong := Steps{Does(`document.querySelector("main form [value=allow]").click()`), Loads(".wrong")}
	return []shot{
		{name: "authorize", path: claude, whole: true},
		{name: "authorize-wrong", path: claude, whole: true, prepare: wrong},
		{name: "authorize-local", path: local, whole: true},
		{name: "authorize-refused", path: claude + "&response_mode=fragment"},
		{name: "authorize-unknown", path: "/console/authorize?client_id=brc_UNKNOWN"},
	}
}
