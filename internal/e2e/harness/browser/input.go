package browser

import (
	"context"
	"fmt"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	. "bridged/internal/e2e/harness"
)

// Key presses keys in the focused element. A key whose event the page cancels types nothing.
func (b *Browser) Key(keys string, modifiers ...chromedp.Modifier) {
	b.T.Helper()
	for _, r := range keys {
		var down input.DispatchKeyEventParams
		for _, event := range kb.Encode(r) {
			for _, modifier := range modifiers {
				event.Modifiers |= int64(modifier)
			}
			switch event.Type {
			case kb.KeyChar:
				down.Text = event.Text
			case kb.KeyUp:
				CallBrowser(b, input.DispatchKeyEvent, down)
				CallBrowser(b, input.DispatchKeyEvent, *event)
			default:
				down = *event
				down.Type = kb.KeyDown
			}
		}
	}
}

// Middle returns the middle of the first element that matches a selector.
func (b *Browser) Middle(selector string) [2]float64 {
	b.T.Helper()
	place := Evaluate[[]float64](b, fmt.Sprintf(`(() => { const box = document.querySelector(%s).getBoundingClientRect(); return [(box.left + box.right) / 2, (box.top + box.bottom) / 2]; })()`, JsString(selector)))
	return [2]float64{place[0], place[1]}
}

// Run evaluates a script and ignores its value.
func (b *Browser) Run(script string) {
	b.T.Helper()
	b.Do(chromedp.Evaluate[chromedp.Void](script))
}

// WantInside reports elements that extend beyond a side of the window.
func (b *Browser) WantInside(what, selector string) {
	b.T.Helper()
	outside := Evaluate[[]string](b, fmt.Sprintf(`[...document.querySelectorAll("*")].filter(one => {
		const box = one.getBoundingClientRect();
		return (box.left < -0.5 || box.right > innerWidth + 0.5) && one.matches(%s) && one.checkVisibility();
	}).map(one => one.outerHTML.slice(0, 120))`, JsString(selector)))
	if len(outside) > 0 {
		b.T.Errorf("%s: outside of the window: %q", what, outside)
	}
	if wide := Evaluate[int](b, `Math.max(document.documentElement.scrollWidth - innerWidth, (document.querySelector("#history")?.scrollWidth ?? 0) - (document.querySelector("#history")?.clientWidth ?? 0))`); wide > 0 {
		b.T.Errorf("%s: %d pixels too wide", what, wide)
	}
}

// unfit lists what of a page its width does not fit: words that are broken in two, and things to click that are
// smaller than 24 pixels and not within a line of text.
const unfit = `(() => {
	const unfit = [], seen = (one) => one.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !one.closest("svg, pre, code, textarea, option, .vh, .skip");
	const range = document.createRange(), texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (texts.nextNode()) {
		const text = texts.currentNode;
		range.selectNode(text);
		if (range.getClientRects().length < 2 || !seen(text.parentElement)) continue; // on one line
		for (const word of text.data.matchAll(/[\p{L}\p{N}]{2,20}/gu)) {
			range.setStart(text, word.index);
			range.setEnd(text, word.index + word[0].length);
			if (new Set([...range.getClientRects()].map((rect) => Math.round(rect.top))).size > 1) unfit.push(word[0] + " is broken in " + text.parentElement.outerHTML.slice(0, 120));
		}
	}
	for (const one of document.querySelectorAll("button, summary, select, a, input:not([type=checkbox], [type=radio], [type=hidden])")) {
		const box = one.getBoundingClientRect();
		if (box.width > 1 && (box.width < 24 || box.height < 24) && getComputedStyle(one).display !== "inline" && seen(one)) unfit.push(box.width + " x " + box.height + ": " + one.outerHTML.slice(0, 120));
	}
	return unfit;
})()`

// WantFit reports words of the page that are broken, and what is too small to click.
func (b *Browser) WantFit(what string) {
	b.T.Helper()
	for _, one := range Evaluate[[]string](b, unfit) {
		b.T.Errorf("%s: %s", what, one)
	}
}

// WantSeen waits until the first element that matches a selector can be clicked, without scrolling to it.
func (b *Browser) WantSeen(selector string) {
	b.T.Helper()
	b.Do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := seen(ctx, t, one(selector), false, true)
		return err
	}))
}

// LogIn logs in with the tests' token. The window only gets the cookie of the session, because the pages that it
// would show take longer than most others. The session knows the browser's zone, as after the form: a page would
// otherwise load again once it has told it.
func (b *Browser) LogIn() {
	b.T.Helper()
	for _, cookie := range NewVisitor(b.T, b.Base).Session(TestToken, Evaluate[string](b, `Intl.DateTimeFormat().resolvedOptions().timeZone`)) {
		CallBrowser(b, network.SetCookie, network.SetCookieParams{
			Name: cookie.Name, Value: cookie.Value, URL: b.Base, Path: cookie.Path, HTTPOnly: new(true), SameSite: network.CookieSameSiteStrict,
		})
	}
}
