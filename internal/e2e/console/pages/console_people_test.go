package pages

import (
	"fmt"
	"image/color"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	. "bridged/internal/e2e/harness/browser"
	"bridged/internal/simnet"
)

// ticks chooses a row with a name from a list that follows what is typed, once the list has nothing else that is
// not chosen. The row is clicked as it is found: other rows may take its place at any time.
func ticks(b *Browser, rows, name string) {
	b.T.Helper()
	b.WaitFor(fmt.Sprintf(`(rows => rows.length && rows.every(row => row.innerText.includes(%q)) && (rows[0].click(), true))([...document.querySelectorAll(%q)].filter(row => !row.querySelector(":checked")))`, name, rows))
}

// agree presses the button of the question that is open.
func agree(b *Browser) {
	b.T.Helper()
	b.ClickOn("dialog.ask button.danger")
}

// A chat begins with a number in any spelling: the first message is written on a page
// without any, and arrives.
func TestConsole_BeginsAChatByNumber(t *testing.T) {
	AtBothSizes(t, func(t *testing.T, v Visited) {
		dora := Must(v.Network.NewPhone(Within(t), simnet.PhoneOptions{Number: "4915100000777", Name: "Dora"}))(t)
		v.Open("/console/chats")
		v.ClickOn(".new-link")
		v.Arrives("[name=q][autofocus]")
		v.Do(chromedp.SendKeys(chromedp.CSS("[name=q]"), "+49 151 0000-0778\r"))
		v.Arrives("#fault")
		if text := v.Text("#fault"); !strings.Contains(text, "isn’t on WhatsApp") {
			t.Errorf("of an unknown number it says %q", text)
		}
		v.Fill("[name=q]", "0049 (0)151 0000 0777\r")
		v.Arrives(".chat .say textarea")
		v.Write("Nice to meet you")
		Must(dora.ReceivedText(Within(t), "Nice to meet you"))(t)
		v.WantText("Nice to meet you")
	})
}

// A group is made of people who are found by typing, and administered on its page, which wide windows show next to the
// chat: what its members see is what the page says.
func TestConsole_MakesAndAdministersAGroup(t *testing.T) {
	AtBothSizes(t, func(t *testing.T, v Visited) {
		Say(t, v.Ben, v.Owner.PN(), "hello")
		Say(t, v.Anna, v.Owner.PN(), "hello")
		v.WantStored(v.Ben, "hello")
		v.WantStored(v.Anna, "hello")
		v.Open("/console/new/group")
		v.WaitFor(`document.readyState === "complete"`)                 // with its script
		v.Do(chromedp.SendKeys(chromedp.CSS("[name=name]"), "Walks\r")) // Enter goes on to the members
		for _, name := range []string{"Ben", "Anna Amsel"} {
			v.Fill("[name=q]", name)
			ticks(v.Browser, "[data-found] label", name)
		}
		v.WaitFor(`document.querySelectorAll("[data-found] :checked").length === 2`)
		v.ClickOn("form[data-suggest] button.primary")
		v.Arrives(".chat-who")
		group := bridge.JID(Evaluate[string](v.Browser, `document.querySelector(".chat").dataset.chat`))
		g := Administered{TB: t, C: v.Cast, JID: group, In: WireForm(group)}
		g.Shows(func(view simnet.GroupView) bool { return view.Has(v.Anna) && view.Has(v.Ben) }, v.Ben, v.Anna)

		v.ClickOn(".chat-who")
		v.Arrives("#subject")
		v.WantOnPage("Anna Amsel")
		v.ClickOn("#subject summary")
		v.Fill("[name=topic]", "Every Saturday")
		v.ClickOn("#subject button.primary")
		g.Shows(func(view simnet.GroupView) bool { return view.Topic == "Every Saturday" }, v.Ben)
		v.Arrives(".topic")
		v.WaitFor(`!document.querySelector("#subject details").open`)

		if offered := `!!document.querySelector("#picture .danger")`; Evaluate[bool](v.Browser, offered) {
			t.Error("a picture that there is not can be removed")
		}
		v.Do(chromedp.SetUploadFiles(chromedp.CSS("#picture [type=file]"), []string{filepath.Join(Written(t, map[string][]byte{"walks.png": Banner(t, color.RGBA{20, 160, 20, 255})}), "walks.png")}))
		v.ClickOn("#picture summary")
		v.ClickOn("#picture button.primary")
		v.WaitFor(`[...document.querySelectorAll(".notice, #toast")].some(one => one.innerText.includes("Picture changed"))`)
		shown, _ := v.Network.Group(g.In)
		Looks(t, "the picture", Must(shown.Picture(Within(t), v.Ben, false))(t), 640, color.RGBA{20, 160, 20, 255})
		v.WaitFor(`getComputedStyle(document.querySelector(".portrait .avatar")).backgroundImage.includes("size=full&v=")`)
		v.WaitFor(`document.querySelector("#picture .danger")`)

		menuOfBen := `[...document.querySelectorAll(".member")].find(one => one.innerText.includes("Ben"))`
		v.ClickIt(menuOfBen + `?.querySelector("summary")`)
		v.ClickIt(menuOfBen + `?.querySelector("[value=promote]")`)
		agree(v.Browser)
		g.Shows(func(view simnet.GroupView) bool { return view.HasAdmin(v.Ben) }, v.Anna)
		v.Arrives(".member [value=demote]")

		v.ClickOn(`#link a[href$="?invite#link"]`)
		v.Arrives("#link svg.qr")
		link := v.Text("#link code")
		v.ClickOn("#link button.danger")
		agree(v.Browser)
		v.WaitFor(`(document.querySelector("#link code")?.textContent ?? ` + JsString(link) + `) !== ` + JsString(link))
		if now := v.Text("#link code"); !strings.HasPrefix(now, "https://chat.whatsapp.com/") {
			t.Errorf("the link was %s and is %s", link, now)
		}

		v.ClickOn(".leave summary")
		v.ClickOn(".leave button")
		g.Shows(func(view simnet.GroupView) bool { return !view.Has(v.Owner) }, v.Anna)
		v.WaitFor(`document.readyState === "complete" && document.querySelector("#members") && !document.querySelector("#leave")`)
		v.WantOnPage("You’re no longer in this group.")
	})
}

// Questions are dialogs: Esc sends nothing, and the focus is where it was. That is so as well in the pane next to a chat.
func TestConsole_QuestionsAreAnsweredByKeyboard(t *testing.T) {
	t.Parallel()
	v := Visit(t)
	group := Must(v.Owner.CreateGroup(Within(t), simnet.GroupOptions{Subject: "Walks", Members: []*simnet.Phone{v.Ben}}))(t)
	v.Stored(t, Say(t, v.Ben, group.JID(), "hello"))
	info := "/console/chats/" + bridge.JID(group.JID().String()).Escaped() + "/info"
	Eventually(t, func() error {
		if got := v.Bridge.Get(Path("/api/groups/%s", group.JID())); got.Status != 200 {
			return fmt.Errorf("the group is %d", got.Status)
		}
		return nil
	})
	v.Open(info)
	v.ClickOn(".member summary")
	v.Do(chromedp.Focus(chromedp.CSS("[value=remove]")), chromedp.KeyEvent(kb.Enter))
	v.Arrives("dialog[open]")
	v.Do(chromedp.KeyEvent(kb.Escape))
	v.WaitFor(`!document.querySelector("dialog[open]") && document.activeElement.value === "remove"`)
	if view := Must(v.Ben.WaitGroup(Within(t), group.JID(), func(simnet.GroupView) bool { return true }))(t); !view.Has(v.Ben) {
		t.Error("Esc removed him")
	}
	v.WantNoFaults()
	infoNextToAChat(t, v, group.JID())
}

// infoNextToAChat opens the page about a group of the owner and Ben next to its chat, and the one about Ben in its place.
func infoNextToAChat(t *testing.T, v Visited, group simnet.JID) {
	t.Helper()
	const closed = `!document.querySelector("#info").checkVisibility()`
	titled := func(title string) {
		v.WaitFor(fmt.Sprintf(`document.querySelector("#info-title").textContent === %q && document.querySelector("#info .who-name")`, title))
	}
	v.Resize(1440, 900, false)
	v.OpenChat(group)
	v.Do(Loads(".chat-who"))
	if Evaluate[bool](v.Browser, `(() => {
		let opens;
		addEventListener("click", (event) => { opens = !event.defaultPrevented; event.preventDefault(); }, { once: true });
		document.querySelector(".chat-who").dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, ctrlKey: true }));
		return !opens;
	})()`) {
		t.Error("Ctrl and a click do not open the page")
	}
	v.ClickOn(".chat-head .menu > summary")
	v.ClickOn(".chat-head .menu-box a[href$='/info']")
	titled("Group info")
	v.WaitFor(`document.activeElement.matches("#info [data-close]") && !document.querySelector(".chat-head .menu[open]")`)
	v.WantInside("the page about the group", "#info *:not(.vh, .vh *, svg *, .menu-box, .menu-box *, .column > :nth-child(n + 4) *)")
	if doubled := Evaluate[[]string](v.Browser, `[...document.querySelectorAll("[id]")].map(one => one.id).filter((id, i, all) => all.indexOf(id) < i)`); len(doubled) > 0 {
		t.Error("elements have the same id: ", doubled)
	}
	v.ClickOn("#info .member summary")
	v.ClickOn("#info [value=remove]")
	v.Arrives("dialog.ask[open]")
	v.Key(kb.Escape)
	v.WaitFor(`!document.querySelector("dialog[open]") && document.activeElement.value === "remove"`)
	v.Key(kb.Escape) // closes the menu
	v.WaitFor(`!document.querySelector("#info .menu[open]") && document.querySelector("#info").checkVisibility()`)

	v.ClickOn("#info .member a[href*='/people/" + v.Ben.PN().User + "']")
	titled("Contact info")
	v.ClickOn("#info [data-back]")
	titled("Group info")
	v.ClickOn("#info #subject summary")
	v.Fill("#info [name=name]", "Long walks\r")
	v.WaitFor(`document.querySelector(".chat-title h1").textContent === "Long walks" && document.querySelector("#toast.shown").textContent === "Changes saved"`)
	v.WaitFor(`document.activeElement.matches("#subject summary")`)
	if _, err := v.Ben.WaitGroup(Within(t), group, func(view simnet.GroupView) bool { return view.Name == "Long walks" }); err != nil {
		t.Error(err)
	}
	v.ClickOn("#info #settings summary")
	v.Run(`document.querySelector("#info [name=disappearing]").selectedOptions[0].value = "soon"`)
	v.ClickOn("#info #settings button")
	v.WaitFor(`document.querySelector("#settings [role=alert]")?.textContent.includes("Choose when messages disappear.") || document.querySelector("#toast.bad")?.textContent === "Choose when messages disappear."`)
	v.FaultsOf(400)
	v.Resize(1190, 900, false)
	v.WaitFor(closed)
	v.ClickOn(".chat-who")
	v.Arrives(".page-group #members")
	v.WantNoFaults()
}

// A message is forwarded in a dialog over its chat, to chats that are found by name.
func TestConsole_ForwardsToSeveralChats(t *testing.T) {
	AtBothSizes(t, func(t *testing.T, v Visited) {
		Say(t, v.Ben, v.Owner.PN(), "Pass it on")
		Say(t, v.Anna, v.Owner.PN(), "hello")
		Say(t, v.Carla, v.Owner.PN(), "hello")
		for _, one := range []*simnet.Phone{v.Anna, v.Carla} {
			v.WantStored(one, "hello")
		}
		v.WantStored(v.Ben, "Pass it on")
		v.OpenChat(v.Ben.PN())
		v.WantText("Pass it on")
		v.Do(FromMenu("[href$=forward]", `document.querySelector("dialog[open] #forward")`)...)
		for _, name := range []string{"Anna Amsel", "Carla"} {
			v.Fill("dialog[open] [name=q]", name)
			ticks(v.Browser, "dialog [data-found] label", name)
		}
		v.ClickOn("dialog[open] button.primary")
		for _, one := range []*simnet.Phone{v.Anna, v.Carla} {
			Must(one.ReceivedText(Within(t), "Pass it on"))(t)
		}
		v.WaitFor(`!document.querySelector("dialog[open]") && document.querySelector("#toast").textContent === "Forwarded to 2 chats"`)
	})
}

// Pictures come for people in sight alone, and once: a long list asks the network for few,
// a page that is opened again for none.
func TestConsole_PicturesComeForPeopleInSight(t *testing.T) {
	t.Parallel()
	v := Visit(t)
	v.Resize(1280, 800, false)
	const people = 60
	for i := range people {
		if err := v.Owner.SetContact(Within(t), fmt.Sprintf("4915200000%03d", i), fmt.Sprintf("Person %02d", i), "Person"); err != nil {
			t.Fatal(err)
		}
	}
	Eventually(t, func() error {
		page, err := v.Bridge.API.Contacts(t.Context(), bridge.ContactQuery{Q: "Person", Limit: people})
		if err != nil || len(page.Items) < people {
			return fmt.Errorf("%d people, %v", len(page.Items), err)
		}
		return nil
	})
	v.Anna.SetPicture(Portrait(t, 64, 10), Portrait(t, 16, 10))
	v.Open("/console/contacts")
	v.WaitFor(`getComputedStyle(document.querySelector(".avatar[data-picture*='` + v.Anna.Number() + `']")).backgroundImage.includes("/console/pictures/")`)
	// All of those in sight, and a little beyond, were answered.
	const settled = `(came => came.size >= 8 && [...document.querySelectorAll(".avatar[data-picture]")].every(one => {
		const {top, bottom, height} = one.getBoundingClientRect();
		return !height || top > innerHeight + 60 || bottom < -60 || came.has(new URL(one.dataset.picture, location).href);
	}))(new Set(performance.getEntriesByType("resource").map(one => one.name).filter(name => name.includes("/console/pictures/"))))`
	v.WaitFor(settled)
	first := v.Network.PictureQueries()
	if first == 0 || first > 25 {
		t.Errorf("for %d people the network was asked %d times", people, first)
	}
	v.Open("/console/contacts")
	v.WaitFor(settled)
	if again := v.Network.PictureQueries(); again != first {
		t.Errorf("opened again, the page asked %d more times", again-first)
	}
	v.Do(chromedp.Evaluate[chromedp.Void](`scrollTo(0, document.body.scrollHeight)`))
	Eventually(t, func() error {
		if v.Network.PictureQueries() == first {
			return fmt.Errorf("what came into sight is not asked for")
		}
		return nil
	})
	v.WantNoFaults()
}

// Without the script pages can be read: a row shows the picture, and Enter in the search of a form
// sends nothing.
func TestConsole_PeopleWithoutScript(t *testing.T) {
	t.Parallel()
	v := Visit(t)
	id := Say(t, v.Ben, v.Owner.PN(), "Pass it on")
	Say(t, v.Anna, v.Owner.PN(), "hello")
	v.WantStored(v.Ben, "Pass it on")
	v.WantStored(v.Anna, "hello")
	v.Anna.SetPicture(Portrait(t, 64, 10), Portrait(t, 16, 10))
	CallBrowser(v.Browser, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	v.Open("/console/chats/" + bridge.JID(v.Ben.PN().String()).Escaped() + "/messages/" + id + "/forward")
	v.Do(chromedp.SendKeys(chromedp.CSS("[name=q]"), "Anna\r"))
	v.Do(chromedp.Click(chromedp.CSS("[data-found] input")), chromedp.Click(chromedp.CSS("#forward button.primary")))
	Must(v.Anna.ReceivedText(Within(t), "Pass it on"))(t)
	v.Do(chromedp.WaitReady(chromedp.CSS(".chat"))) // where it leads
	v.Open("/console/contacts")
	v.Do(chromedp.WaitVisible(chromedp.CSS(".avatar img")))
	v.WantNoFaults()
}

// The page for forwarding a message fits its window, however long a word is, and the name in
// a quote has the contrast of WCAG 2.2 AA in all colours, light and dark, on that page and in
// own bubbles.
func TestConsole_ForwardPageFitsAndIsReadable(t *testing.T) {
	t.Parallel()
	v := Visit(t)
	word := strings.Repeat("Donaudampfschiff", 200)
	id := Say(t, v.Ben, v.Owner.PN(), word)
	v.WantStored(v.Ben, word)
	for _, width := range []int64{390, 768, 1440} {
		v.Resize(width, 844, width == 390)
		v.Open("/console/chats/" + bridge.JID(v.Ben.PN().String()).Escaped() + "/messages/" + id + "/forward")
		v.WaitFor(`document.querySelector("#forward .quote")`)
		v.WaitFor(`document.documentElement.scrollWidth <= innerWidth && document.querySelector("#forward .quote").getBoundingClientRect().right <= innerWidth`)
	}
	for _, theme := range []string{"light", "dark"} {
		v.WaitFor(fmt.Sprintf(`(theme => {
			document.documentElement.dataset.theme = theme;
			const dot = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
			const painted = (...colours) => {
				for (const c of colours) { dot.fillStyle = c; dot.fillRect(0, 0, 1, 1); }
				return [...dot.getImageData(0, 0, 1, 1).data].slice(0, 3);
			};
			const light = rgb => rgb.map(c => (c /= 255) <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4).reduce((sum, c, i) => sum + c * [.2126, .7152, .0722][i], 0);
			const quote = document.querySelector("#forward .quote"), probe = document.body.appendChild(document.createElement("i"));
			const colourOf = name => { probe.style.color = "var(" + name + ")"; return getComputedStyle(probe).color; };
			return ["--bg", "--surface", "--in", "--out"].every(ground => [0, 1, 2, 3, 4, 5, 6, 7].every(hue => {
				quote.className = "quote hue-" + hue;
				const back = painted(colourOf(ground), getComputedStyle(quote).backgroundColor);
				return ["strong", "span"].every(part => {
					const both = [back, painted(getComputedStyle(quote.querySelector(part)).color)].map(light).sort((a, b) => b - a);
					return (both[0] + .05) / (both[1] + .05) >= 4.5;
				});
			}));
		})(%q)`, theme))
	}
	v.WantNoFaults()
}
