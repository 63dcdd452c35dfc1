package browser

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/chromedp/chromedp"
)

// AtBothSizes runs a test in a window and on a phone, light and dark.
func AtBothSizes(t *testing.T, test func(t *testing.T, v Visited)) {
	t.Parallel()
	for _, width := range []int64{1280, 390} {
		t.Run(strconv.FormatInt(width, 10), func(t *testing.T) {
			t.Parallel()
			v := Visit(t)
			v.Resize(width, 844, width < 600)
			test(t, v)
			v.WantNoFaults()
		})
	}
}

// WantOnPage waits until the page shows a text.
func (b *Browser) WantOnPage(text string) {
	b.T.Helper()
	b.WaitFor(fmt.Sprintf(`document.querySelector("main").innerText.includes(%q)`, text))
}

// ClickOn clicks what a selector finds, as soon as it is there.
func (b *Browser) ClickOn(selector string) {
	b.T.Helper()
	b.WaitFor(fmt.Sprintf(`document.readyState === "complete" && document.querySelector(%q)?.checkVisibility()`, selector))
	b.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector(%q).click()`, selector)))
}

// Fill types a text in the place of what a field has.
func (b *Browser) Fill(selector, text string) {
	b.T.Helper()
	b.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector(%q).value = ""`, selector)), chromedp.SendKeys(chromedp.CSS(selector), text))
}

// Arrives waits until a page that has something is loaded.
func (b *Browser) Arrives(selector string) {
	b.T.Helper()
	b.Do(Loads(selector))
}
