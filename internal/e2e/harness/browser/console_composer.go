package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	. "bridged/internal/e2e/harness"
)

// Chatting is a chat with Ben that is open in a browser.
func Chatting(t *testing.T, width int64, settings ...string) Visited {
	t.Helper()
	v := Visit(t, settings...)
	Say(t, v.Ben, v.Owner.PN(), "Are you there?")
	v.WantStored(v.Ben, "Are you there?")
	v.Resize(width, 844, false)
	if width < 600 {
		CallBrowser(v.Browser, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: true})
	}
	v.OpenChat(v.Ben.PN())
	v.WaitFor(`document.readyState === "complete"`)
	return v
}

// Write writes a text into the composer, and sends it by the button.
func (b *Browser) Write(text string) {
	b.T.Helper()
	b.Do(chromedp.SendKeys(chromedp.CSS(".say textarea"), text), chromedp.Click(chromedp.CSS("[data-say]")))
}

// Throttle limits the browser's connection.
func (b *Browser) Throttle(conditions network.Conditions) {
	b.T.Helper()
	// Chromium 148 wants to know beside the conditions whether it is offline; later ones, in them.
	type params struct {
		network.EmulateNetworkConditionsByRuleParams
		Offline bool `json:"offline"`
	}
	CallBrowser(b, cdp.Command[params, cdp.Empty]{Method: network.CommandEmulateNetworkConditionsByRule}, params{
		network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: []*network.Conditions{&conditions}}, conditions.Offline,
	})
}

// WantOwn waits until the chat shows exactly these own texts, all of them sent and stored.
func (b *Browser) WantOwn(texts ...string) {
	b.T.Helper()
	list := make([]string, len(texts))
	for i, text := range texts {
		list[i] = JsString(text)
	}
	b.WaitFor(`document.querySelectorAll(".unsent").length === 0 && (() => {
		const want = [` + strings.Join(list, ",") + `];
		const own = [...document.querySelectorAll(".msg.out:not([hidden]) .text")].map(one => one.firstChild.textContent);
		return own.length === want.length && own.every((text, i) => text.startsWith(want[i]));
	})()`)
}
