package e2e

import (
	"github.com/chromedp/chromedp"
)

// formatted is a text with everything that texts can have.
const formatted = "*Packing list* for _Saturday_:\n* Boots\n* Water, ~1 l~ 2 l\n\n1. Meet at nine\n2. Walk\n\n> Treffpunkt ist die Hauptstraße 12\n```ssh -L 8080:localhost:8080 camp```\nThe map is at https://example.org/map, use `north`."

// steps are what is done on a page before its screenshot.
type steps = []chromedp.Action[chromedp.Void]

// does runs a script on the page.
func does(script string) chromedp.Action[chromedp.Void] {
	return chromedp.Evaluate[chromedp.Void](script)
}

// opens clicks the last of the elements that a selector finds, and waits for what it opens.
func opens(selector, opened string) steps {
	return steps{becomes(`document.querySelector("` + selector + `")`), does(`[...document.querySelectorAll("` + selector + `")].at(-1).click()`), becomes(opened)}
}

// toInfo goes from a chat to the page about it.
var toInfo = steps{does(`location.href = document.querySelector(".chat-who").href`), loads("#members")}

// toMedia goes from a chat to a tab of its gallery.
func toMedia(tab, selector string) steps {
	return steps{does(`location.href = location.pathname + "/media?tab=` + tab + `"`), loads(selector), becomes(`[...document.images].every(one => one.complete)`)}
}

// unsent puts a text that was refused, and one that waits, into the outbox of the chat.
const unsent = `for (const [key, state, reason, text] of [["k1", "failed", "This number is not on WhatsApp.", "Are you there?"], ["k2", "waiting", "", "See you on Saturday"]])
	localStorage["unsent " + document.body.dataset.visitor + " " + key] = JSON.stringify({key, state, reason, text, chat: location.pathname, at: Date.now(), after: "", part: 0})`

// forgotten empties the outbox.
const forgotten = `for (const name of Object.keys(localStorage)) if (name.startsWith("unsent")) delete localStorage[name]`

// pasted pastes two files into the composer.
const pasted = `(() => {
	const data = new DataTransfer();
	for (const [name, type] of [["The route along the river and back over the hills.pdf", "application/pdf"], ["notes.txt", "text/plain"]]) data.items.add(new File(["hello ".repeat(9000)], name, {type}));
	document.querySelector(".say textarea").dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}));
})()`

// doubtfulExport is a text that an app has exported, with names that nobody knows and lines that
// can be read in more than one way.
const doubtfulExport = `24.12.25, 18:02 - Messages and calls are end-to-end encrypted. No one outside of this chat can read or listen to them.
24.12.25, 18:03 - Sofía: Merry Christmas!
24.12.25, 18:04 - Olga Orlowa: And to you, too
24.12.25, 18:05 - Xaver: Who is coming on Saturday?
24.13.25, 18:06 - Xaver: This date is none
25/12/25 18.07 - Xaver: And this one is in another form
22.11.19, 18:08 - Olga Orlowa: I am
24.12.25, 18:09 - Yuki: Me, too
`

// checks checks a text in the form for exported chats.
func checks(export string) steps {
	return steps{becomes(`document.readyState === "complete" && document.querySelector("#import")`), does(`(form => {
		const data = new DataTransfer();
		data.items.add(new File([` + jsString(export) + `], "WhatsApp Chat - Old friends.txt", {type: "text/plain"}));
		form.querySelector("#choose-chat").value = "Old friends";
		form.querySelector("[type=file]").files = data.files;
		form.requestSubmit();
	})(document.querySelector("[data-import]"))`)}
}

func shots() []shot {
	const sofia = "34600100101@s.whatsapp.net"
	const menuOpen = `document.querySelector("#message-menu[open]")`
	menu := opens(".msg-line > .menu > summary", menuOpen)
	const modal = `document.querySelector("dialog[open]")`
	return []shot{
		{name: "overview", path: "/console/", whole: true},
		{name: "chats", path: "/console/chats"},
		{name: "chats-menu", path: "/console/chats", prepare: opens(".pane-menu > summary", `document.querySelector(".pane-menu[open]")`)},
		{name: "chats-found", path: "/console/chats", prepare: steps{chromedp.SendKeys(chromedp.CSS(".pane input[type=search]"), "so"), loads("#found mark")}},
		{name: "chats-row-menu", path: "/console/chats", prepare: steps{ // again until the script listens
			becomes(modal + ` || document.querySelectorAll(".chat-list .chat-row")[2].dispatchEvent(new PointerEvent("contextmenu", {bubbles: true, cancelable: true, pointerType: "mouse", clientX: 180, clientY: 330})) && false`),
		}},
		{name: "more", path: "/console/chats", prepare: steps{does(`document.querySelector(".rail-more").click()`)}},
		{name: "shortcuts", path: "/console/chats", prepare: steps{does(`document.body.focus()`), chromedp.KeyEvent("?"), becomes(modal)}},
		{name: "group", chat: "Wandern"},
		{name: "group-top", chat: "Wandern", prepare: steps{does(`document.querySelector("#history").scrollTop = -10000`)}},
		{name: "person", chat: "Sofía"},
		{name: "formatted", chat: "Jonas"},
		{name: "rtl", chat: "عائلة"},
		{name: "contact", chat: "Elif"},
		{name: "document", chat: "अर्जुन"},
		{name: "chat-menu", chat: "Wandern", prepare: opens(".chat-head .menu > summary", `document.querySelector(".chat-head .menu[open]")`)},
		{name: "menu", chat: "Wandern", prepare: menu},
		{name: "emoji", chat: "Wandern", prepare: append(menu[:len(menu):len(menu)], opens("[data-emojis]", `document.querySelector(".emoji-list .emoji")`)...)},
		{name: "emoji-found", chat: "Wandern", prepare: append(append(menu[:len(menu):len(menu)], opens("[data-emojis]", `document.querySelector(".emoji-list .emoji")`)...),
			chromedp.SendKeys(chromedp.CSS("#emojis input"), "mountain"))},
		{name: "viewer", chat: "Wandern", prepare: opens(".picture", `document.querySelector("#viewer[open] .shown img")?.complete`)},
		{name: "extras", chat: "Yuki", prepare: opens("[data-extras]", `document.querySelector("#extras").open`)},
		{name: "extras-poll", chat: "Yuki", prepare: append(opens("[data-extras]", `document.querySelector("#extras").open`), does(`document.querySelectorAll("#extras .extras-box > details")[2].open = true`))},
		{name: "reply", chat: "Yuki", prepare: opens("[data-reply]", `!document.querySelector("#replying").hidden`)},
		{name: "recording", chat: "Yuki", prepare: opens("[data-record]", `!document.querySelector("#recording").hidden`), after: steps{does(`document.querySelector("#recording [data-cancel]").click()`)}},
		{name: "files", chat: "Yuki", prepare: steps{does(pasted), becomes(`document.querySelector("#files[open]")`)}},
		{
			name: "outbox", chat: "Yuki", prepare: steps{does(unsent), does(`location.reload()`), loads(".unsent[data-state=failed]")},
			after: steps{does(forgotten)},
		},
		{name: "delete", chat: "Sofía", prepare: opens(".out .menu-box a.danger", `document.querySelector("#deleting[open]")`)},
		{name: "forward-dialog", chat: "Wandern", prepare: opens(".menu-box [href$=forward]", `document.querySelector("dialog[open] .choices-list .chat-row")`)},
		{name: "forward", chat: "Wandern", prepare: steps{does(`location.href = document.querySelector(".menu-box [href$=forward]").href`), loads("#forward")}},
		{name: "gallery", chat: "Wandern", prepare: toMedia("pictures", ".tile-view")},
		{name: "gallery-files", chat: "अर्जुन", prepare: toMedia("files", ".media-file")},
		{name: "gallery-links", chat: "Sofía", prepare: toMedia("links", ".media-file")},
		{name: "gallery-none", chat: "Yuki", prepare: toMedia("pictures", ".empty")},
		{name: "import", path: "/console/import", whole: true},
		{name: "import-review", path: "/console/import", prepare: append(checks(doubtfulExport), becomes(`document.querySelector("#review")`)), whole: true},
		{name: "import-dates", path: "/console/import", prepare: append(checks("1/2/25, 10:00 - Olga: Hi\n"), becomes(`document.querySelector("#dates")`)), whole: true},
		{name: "import-done", path: "/console/import", prepare: append(checks(doubtfulExport), append(opens("#review button.primary", `document.querySelector("#imported")`), becomes(`document.querySelector("main").innerText.includes("is imported")`))...), whole: true},
		{name: "imported-chat", chat: "Old friends"},
		{name: "new", path: "/console/new"},
		{name: "new-number", path: "/console/new?q=%2B49+151+0000001", whole: true},
		{name: "new-group", path: "/console/new/group", whole: true},
		{name: "contacts", path: "/console/contacts", whole: true},
		{name: "contact-info", path: "/console/people/" + "34600100101%40s.whatsapp.net", whole: true},
		{name: "group-info", chat: "Wandern", prepare: toInfo, whole: true},
		{name: "group-info-menu", chat: "Wandern", prepare: append(toInfo, does(`document.querySelectorAll(".member details")[1].open = true`))},
		{name: "group-invite", chat: "Wandern", prepare: append(toInfo, does(`location.search = "?invite"`), loads("#link .link-qr"), does(`document.querySelector("#link").scrollIntoView({block: "center"})`))},
		{name: "group-info-member", chat: "عائلة", prepare: toInfo, whole: true},
		{name: "ask", chat: "Wandern", prepare: append(toInfo, opens(".member [value=remove]", `document.querySelector("dialog.ask[open]")`)...)},
		{name: "group-add", chat: "Wandern", prepare: append(toInfo, does(`location.href = document.querySelector("a[href$='/add']").href`), loads(".pick"))},
		{name: "search", path: "/console/search?q=strasse", whole: true},
		{name: "search-empty", path: "/console/search"},
		{name: "search-filters", path: "/console/search?q=from%3AJonas+kind%3Apictures+since%3A2020-01-01+strasse", prepare: steps{does(`document.querySelector(".search-more").open = true`)}, whole: true},
		{name: "search-none", path: "/console/search?q=in%3AHike+kind%3Ascrolls+zzz"},
		{name: "calls", path: "/console/calls"},
		{name: "events", path: "/console/events"},
		{name: "events-open", path: "/console/events", prepare: steps{does(`document.querySelector(".event-log details").open = true`)}},
		{name: "webhooks", path: "/console/webhooks", whole: true},
		{name: "webhooks-wrong", path: "/console/webhooks", whole: true, prepare: steps{
			does(`(form => { form.noValidate = true; form.url.value = "ftp://example.org"; form.querySelector("#choose-chats").value = "Somebody else"; form.requestSubmit(); })(document.querySelector(".fields"))`), loads(".wrong"),
		}},
		{name: "webhook", path: "/console/webhooks/2", whole: true},
		{name: "pair", path: "/console/pair"},
		{name: "reference", path: "/console/api"},
		{name: "operation", path: "/console/api/sendText", whole: true},
		{name: "operation-file", path: "/console/api/sendFile", whole: true},
		{name: "operation-result", path: "/console/api/listChats", prepare: append(opens("#try button.primary", "true"), loads("#result"), does(`document.querySelector("#result").scrollIntoView()`))},
		{name: "settings", path: "/console/settings", whole: true},
		{name: "tokens", path: "/console/tokens", whole: true},
		{name: "tokens-wrong", path: "/console/tokens", whole: true, prepare: steps{
			does(`(form => { form.noValidate = true; form.requestSubmit(); })(document.querySelector(".panel-body.fields"))`), loads(".wrong"),
		}},
		{name: "hooks", path: "/console/hooks", whole: true},
		{name: "hook", path: "/console/hooks/1", whole: true},
		{name: "problem", path: "/console/chats/34600100199%40s.whatsapp.net/messages/NONE/forward"},
		{name: "state", path: "/console/chats/" + sofia + "/state"},
	}
}

// readOnlyShots are what a visitor sees who may read one chat alone.
func readOnlyShots() []shot {
	return []shot{
		{name: "reader-chats", path: "/console/chats"},
		{name: "reader-chat", chat: "Sofía"},
		{name: "reader-settings", path: "/console/settings", whole: true},
		{name: "reader-refused", path: "/console/webhooks"},
	}
}
