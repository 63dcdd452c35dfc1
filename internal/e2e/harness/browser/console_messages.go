package browser

import (
	"fmt"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	. "bridged/internal/e2e/harness"
)

// OnTouch makes the browser a phone with a touch screen.
func (b *Browser) OnTouch(width int64) {
	b.T.Helper()
	CallBrowser(b, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: true, MaxTouchPoints: 1})
	b.Resize(width, 844, false)
}

// Middle returns the middle of the first element that matches a selector.
func (b *Browser) Middle(selector string) [2]float64 {
	b.T.Helper()
	place := Evaluate[[]float64](b, fmt.Sprintf(`(() => { const box = document.querySelector(%s).getBoundingClientRect(); return [(box.left + box.right) / 2, (box.top + box.bottom) / 2]; })()`, JsString(selector)))
	return [2]float64{place[0], place[1]}
}

// Run evaluates a script for what it does.
func (b *Browser) Run(script string) {
	b.T.Helper()
	b.Do(chromedp.Evaluate[chromedp.Void](script))
}

// WantInside reports elements that leave the window at a side.
func (b *Browser) WantInside(what, selector string) {
	b.T.Helper()
	outside := Evaluate[[]string](b, fmt.Sprintf(`[...document.querySelectorAll(%s)].filter(one => one.getClientRects().length).filter(one => {
		const box = one.getBoundingClientRect();
		return box.left < -0.5 || box.right > innerWidth + 0.5;
	}).map(one => one.outerHTML.slice(0, 120))`, JsString(selector)))
	if len(outside) > 0 {
		b.T.Errorf("%s: outside of the window: %q", what, outside)
	}
	if wide := Evaluate[int](b, `Math.max(document.documentElement.scrollWidth - innerWidth, (document.querySelector("#history")?.scrollWidth ?? 0) - (document.querySelector("#history")?.clientWidth ?? 0))`); wide > 0 {
		b.T.Errorf("%s: %d pixels too wide", what, wide)
	}
}
