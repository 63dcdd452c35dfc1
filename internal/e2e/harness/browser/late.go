package browser

import (
	"sync"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// HoldPictures holds back the pictures that the pages request, until the returned function lets them pass.
func (b *Browser) HoldPictures() (release func()) {
	b.T.Helper()
	var mu sync.Mutex
	var held []fetch.RequestID
	isOver := false
	err := chromedp.Listen(b.ctx, func(event any) {
		if paused, ok := event.(*fetch.EventRequestPaused); ok {
			mu.Lock()
			defer mu.Unlock()
			if !isOver { // else a later call holds it, or the end of the interception lets it pass
				held = append(held, paused.RequestID)
			}
		}
	})
	if err != nil {
		b.T.Fatal(err)
	}
	CallBrowser(b, fetch.Enable, fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: "*", ResourceType: network.ResourceTypeImage}}})
	return func() {
		b.T.Helper()
		mu.Lock()
		isOver = true
		mu.Unlock() // before the calls, whose answers wait for the listener
		for _, id := range held {
			// The request may have ended with its page.
			_, _ = chromedp.Call(b.ctx, fetch.ContinueRequest, fetch.ContinueRequestParams{RequestID: id})
		}
		CallBrowser(b, fetch.Disable, cdp.Empty{})
	}
}
