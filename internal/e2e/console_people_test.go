package e2e

import (
	"fmt"
	"image/color"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// atBothSizes runs a test in a window and on a phone, light and dark.
func atBothSizes(t *testing.T, test func(t *testing.T, v visited)) {
	t.Parallel()
	for _, width := range []int64{1280, 390} {
		t.Run(strconv.FormatInt(width, 10), func(t *testing.T) {
			t.Parallel()
			v := visit(t)
			v.resize(width, 844, width < 600)
			test(t, v)
			v.wantNoFaults()
		})
	}
}

// wantOnPage waits until the page shows a text.
func (b *browser) wantOnPage(text string) {
	b.t.Helper()
	b.waitFor(fmt.Sprintf(`document.querySelector("main").innerText.includes(%q)`, text))
}

// clickOn clicks what a selector finds, as soon as it is there.
func (b *browser) clickOn(selector string) {
	b.t.Helper()
	b.waitFor(fmt.Sprintf(`document.readyState === "complete" && document.querySelector(%q)?.checkVisibility()`, selector))
	b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector(%q).click()`, selector)))
}

// fill types a text in the place of what a field has.
func (b *browser) fill(selector, text string) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector(%q).value = ""`, selector)), chromedp.SendKeys(chromedp.CSS(selector), text))
}

// ticks chooses a row with a name from a list that follows what is typed. The row is clicked as it
// is found: a moment later another list may be in its place.
func (b *browser) ticks(rows, name string) {
	b.t.Helper()
	b.waitFor(fmt.Sprintf(`(row => row && (row.click(), true))([...document.querySelectorAll(%q)].find(row => row.innerText.includes(%q) && !row.querySelector(":checked")))`, rows, name))
}

// arrives waits until a page that has something is loaded.
func (b *browser) arrives(selector string) {
	b.t.Helper()
	b.do(loads(selector))
}

// agree presses the button of the question that is open.
func (b *browser) agree() {
	b.t.Helper()
	b.clickOn("dialog.ask button.danger")
}

// A chat begins with a number in any spelling: the first message is written on a page
// without any, and arrives.
func TestConsole_BeginsAChatByNumber(t *testing.T) {
	atBothSizes(t, func(t *testing.T, v visited) {
		dora := must(v.network.NewPhone(within(t), simnet.PhoneOptions{Number: "4915100000777", Name: "Dora"}))(t)
		v.open("/console/chats")
		v.clickOn(".new-link")
		v.arrives("[name=q][autofocus]")
		v.do(chromedp.SendKeys(chromedp.CSS("[name=q]"), "+49 151 0000-0778\r"))
		v.arrives("#fault")
		if text := v.text("#fault"); !strings.Contains(text, "is not on WhatsApp") {
			t.Errorf("of an unknown number it says %q", text)
		}
		v.fill("[name=q]", "0049 (0)151 0000 0777\r")
		v.arrives(".chat .say textarea")
		v.do(chromedp.SendKeys(chromedp.CSS(".say textarea"), "Nice to meet you\r"))
		must(dora.ReceivedText(within(t), "Nice to meet you"))(t)
		v.wantText("Nice to meet you")
	})
}

// A group is made of people who are found by typing, and administered on its page: what
// its members see is what the page says.
func TestConsole_MakesAndAdministersAGroup(t *testing.T) {
	atBothSizes(t, func(t *testing.T, v visited) {
		say(t, v.ben, v.owner.PN(), "hello")
		say(t, v.anna, v.owner.PN(), "hello")
		v.wantStored(v.ben, "hello")
		v.wantStored(v.anna, "hello")
		v.open("/console/new/group")
		v.waitFor(`document.readyState === "complete"`)                 // with its script
		v.do(chromedp.SendKeys(chromedp.CSS("[name=name]"), "Walks\r")) // Enter goes on to the members
		for _, name := range []string{"Ben", "Anna Amsel"} {
			v.fill("[name=q]", name)
			v.ticks("[data-found] label", name)
		}
		v.waitFor(`document.querySelectorAll("[data-found] :checked").length === 2`)
		v.clickOn("form[data-suggest] button.primary")
		v.arrives(".chat-who")
		group := bridge.JID(evaluate[string](v.browser, `document.querySelector(".chat").dataset.chat`))
		g := administered{TB: t, c: v.cast, jid: group, in: wireForm(group)}
		g.shows(func(view simnet.GroupView) bool { return view.Has(v.anna) && view.Has(v.ben) }, v.ben, v.anna)

		v.clickOn(".chat-who")
		v.arrives("#subject")
		v.wantOnPage("Anna Amsel")
		v.fill("[name=topic]", "Every Saturday")
		v.clickOn("#subject button.primary")
		g.shows(func(view simnet.GroupView) bool { return view.Topic == "Every Saturday" }, v.ben)
		v.arrives(".topic")

		if offered := `!!document.querySelector("#picture .danger")`; evaluate[bool](v.browser, offered) {
			t.Error("a picture that there is not can be removed")
		}
		v.do(chromedp.SetUploadFiles(chromedp.CSS("#picture [type=file]"), []string{filepath.Join(written(t, map[string][]byte{"walks.png": banner(t, color.RGBA{20, 160, 20, 255})}), "walks.png")}))
		v.clickOn("#picture button.primary")
		v.waitFor(`[...document.querySelectorAll(".notice")].some(one => one.innerText.includes("Picture changed"))`)
		shown, _ := v.network.Group(g.in)
		looks(t, "the picture", must(shown.Picture(within(t), v.ben, false))(t), 640, color.RGBA{20, 160, 20, 255})
		v.waitFor(`getComputedStyle(document.querySelector(".portrait .avatar")).backgroundImage.includes("size=full&v=")`)
		v.waitFor(`document.querySelector("#picture .danger")`)

		menuOfBen := `[...document.querySelectorAll(".member")].find(one => one.innerText.includes("Ben"))`
		v.do(chromedp.Evaluate[chromedp.Void](`(one => { one.querySelector("details").open = true; one.querySelector("[value=promote]").click() })(` + menuOfBen + `)`))
		v.agree()
		g.shows(func(view simnet.GroupView) bool { return view.HasAdmin(v.ben) }, v.anna)
		v.arrives(".member [value=demote]")

		v.clickOn(`a[href="?invite#link"]`)
		v.arrives("#link svg.qr")
		link := v.text("#link code")
		v.clickOn("#link button.danger")
		v.agree()
		v.arrives(".notice")
		if now := v.text("#link code"); now == link || !strings.HasPrefix(now, "https://chat.whatsapp.com/") {
			t.Errorf("the link was %s and is %s", link, now)
		}

		v.clickOn(".leave summary")
		v.clickOn(".leave button")
		g.shows(func(view simnet.GroupView) bool { return !view.Has(v.owner) }, v.anna)
		v.arrives(".page-group main:not(:has(#leave))")
		v.wantOnPage("You’re not in this group anymore")
	})
}

// Questions are dialogs: Esc sends nothing, and the focus is where it was.
func TestConsole_QuestionsAreAnsweredByKeyboard(t *testing.T) {
	t.Parallel()
	v := visit(t)
	group := must(v.owner.CreateGroup(within(t), simnet.GroupOptions{Subject: "Walks", Members: []*simnet.Phone{v.ben}}))(t)
	v.stored(t, say(t, v.ben, group.JID(), "hello"))
	info := "/console/chats/" + bridge.JID(group.JID().String()).Escaped() + "/info"
	eventually(t, func() error {
		if got := v.bridge.Get(path("/api/groups/%s", group.JID())); got.Status != 200 {
			return fmt.Errorf("the group is %d", got.Status)
		}
		return nil
	})
	v.open(info)
	v.clickOn(".member summary")
	v.do(chromedp.Focus(chromedp.CSS("[value=remove]")), chromedp.KeyEvent(kb.Enter))
	v.arrives("dialog[open]")
	v.do(chromedp.KeyEvent(kb.Escape))
	v.waitFor(`!document.querySelector("dialog[open]") && document.activeElement.value === "remove"`)
	if view := must(v.ben.WaitGroup(within(t), group.JID(), func(simnet.GroupView) bool { return true }))(t); !view.Has(v.ben) {
		t.Error("Esc removed him")
	}
	v.wantNoFaults()
}

// A message is forwarded in a dialog over its chat, to chats that are found by name.
func TestConsole_ForwardsToSeveralChats(t *testing.T) {
	atBothSizes(t, func(t *testing.T, v visited) {
		id := say(t, v.ben, v.owner.PN(), "Pass it on")
		say(t, v.anna, v.owner.PN(), "hello")
		say(t, v.carla, v.owner.PN(), "hello")
		for _, one := range []*simnet.Phone{v.anna, v.carla} {
			v.wantStored(one, "hello")
		}
		v.wantStored(v.ben, "Pass it on")
		v.openChat(v.ben.PN())
		v.wantText("Pass it on")
		// The link stands in the message's menu.
		v.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(at => {
			const link = document.querySelector("a[href$='/forward']") || document.querySelector("#messages").appendChild(document.createElement("a"));
			link.href = location.pathname + "/messages/" + at + "/forward";
			link.click();
		})(%q)`, id)))
		v.waitFor(`document.querySelector("dialog[open] #forward")`)
		for _, name := range []string{"Anna Amsel", "Carla"} {
			v.fill("dialog[open] [name=q]", name)
			v.ticks("dialog label", name)
		}
		v.clickOn("dialog[open] button.primary")
		for _, one := range []*simnet.Phone{v.anna, v.carla} {
			must(one.ReceivedText(within(t), "Pass it on"))(t)
		}
		v.waitFor(`!document.querySelector("dialog[open]") && document.querySelector("#toast").textContent === "Forwarded to 2 chats."`)
	})
}

// Pictures come for people in sight alone, and once: a long list asks the network for few,
// a page that is opened again for none.
func TestConsole_PicturesComeForPeopleInSight(t *testing.T) {
	t.Parallel()
	v := visit(t)
	v.resize(1280, 800, false)
	const people = 60
	for i := range people {
		if err := v.owner.SetContact(within(t), fmt.Sprintf("4915200000%03d", i), fmt.Sprintf("Person %02d", i), "Person"); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, func() error {
		page, err := v.bridge.api.Contacts(t.Context(), bridge.ContactQuery{Q: "Person", Limit: people})
		if err != nil || len(page.Items) < people {
			return fmt.Errorf("%d people, %v", len(page.Items), err)
		}
		return nil
	})
	v.anna.SetPicture(portrait(t, 64, 10), portrait(t, 16, 10))
	v.open("/console/contacts")
	v.waitFor(`getComputedStyle(document.querySelector(".avatar[data-picture*='` + v.anna.Number() + `']")).backgroundImage.includes("/console/pictures/")`)
	// All of those in sight, and a little beyond, were answered.
	const settled = `(came => came.size >= 8 && [...document.querySelectorAll(".avatar[data-picture]")].every(one => {
		const {top, bottom, height} = one.getBoundingClientRect();
		return !height || top > innerHeight + 60 || bottom < -60 || came.has(new URL(one.dataset.picture, location).href);
	}))(new Set(performance.getEntriesByType("resource").map(one => one.name).filter(name => name.includes("/console/pictures/"))))`
	v.waitFor(settled)
	first := v.network.PictureQueries()
	if first == 0 || first > 25 {
		t.Errorf("for %d people the network was asked %d times", people, first)
	}
	v.open("/console/contacts")
	v.waitFor(settled)
	if again := v.network.PictureQueries(); again != first {
		t.Errorf("opened again, the page asked %d more times", again-first)
	}
	v.do(chromedp.Evaluate[chromedp.Void](`scrollTo(0, document.body.scrollHeight)`))
	eventually(t, func() error {
		if v.network.PictureQueries() == first {
			return fmt.Errorf("what came into sight is not asked for")
		}
		return nil
	})
	v.wantNoFaults()
}

// Without its script every page can be used: the picture stands in the row, people are
// found and chosen, a message is forwarded.
func TestConsole_PeopleWithoutScript(t *testing.T) {
	t.Parallel()
	v := visit(t)
	id := say(t, v.ben, v.owner.PN(), "Pass it on")
	say(t, v.anna, v.owner.PN(), "hello")
	v.wantStored(v.ben, "Pass it on")
	v.wantStored(v.anna, "hello")
	v.anna.SetPicture(portrait(t, 64, 10), portrait(t, 16, 10))
	callBrowser(v.browser, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	v.open("/console/chats/" + bridge.JID(v.ben.PN().String()).Escaped() + "/messages/" + id + "/forward")
	v.do(chromedp.SendKeys(chromedp.CSS("[name=q]"), "Anna\r"), chromedp.WaitReady(chromedp.CSS("[name=q][value=Anna]")))
	v.clickOn("[data-found] input")
	v.clickOn("#forward button.primary:not(.needless)")
	must(v.anna.ReceivedText(within(t), "Pass it on"))(t)
	v.do(chromedp.WaitReady(chromedp.CSS(".chat"))) // where it leads
	v.open("/console/contacts")
	v.do(chromedp.WaitVisible(chromedp.CSS(".avatar img")))
	v.wantNoFaults()
}

// The page for forwarding a message fits its window, however long a word is, and the name in
// a quote has the contrast of WCAG 2.2 AA in all colours, light and dark, on that page and in
// own bubbles.
func TestConsole_ForwardPageFitsAndIsReadable(t *testing.T) {
	t.Parallel()
	v := visit(t)
	word := strings.Repeat("Donaudampfschiff", 200)
	id := say(t, v.ben, v.owner.PN(), word)
	v.wantStored(v.ben, word)
	for _, width := range []int64{390, 768, 1440} {
		v.resize(width, 844, width == 390)
		v.open("/console/chats/" + bridge.JID(v.ben.PN().String()).Escaped() + "/messages/" + id + "/forward")
		v.waitFor(`document.querySelector("#forward .quote")`)
		v.waitFor(`document.documentElement.scrollWidth <= innerWidth && document.querySelector("#forward .quote").getBoundingClientRect().right <= innerWidth`)
	}
	for _, theme := range []string{"light", "dark"} {
		v.waitFor(fmt.Sprintf(`(theme => {
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
	v.wantNoFaults()
}
