package browser

import (
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Key presses keys where the focus is. As on a keyboard, a key that a page takes for
// itself types nothing.
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
