package browser

import (
	"sync"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// HoldPictures holds back the pictures that the pages request, until the returned function lets them pass.
func (b *Browser) HoldPictures() (release func()) {
	b.T.Helper()
	var mu sync.Mutex
	var held []fetch.RequestID
	isLate := true
	pass := func(id fetch.RequestID) {
		// The request may have ended with its page.
		_, _ = chromedp.Call(b.ctx, fetch.ContinueRequest, fetch.ContinueRequestParams{RequestID: id})
	}
	err := chromedp.Listen(b.ctx, func(event any) {
		paused, ok := event.(*fetch.EventRequestPaused)
		if !ok {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if isLate {
			held = append(held, paused.RequestID)
			return
		}
		go pass(paused.RequestID)
	})
	if err != nil {
		b.T.Fatal(err)
	}
	CallBrowser(b, fetch.Enable, fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: "*", ResourceType: network.ResourceTypeImage}}})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		isLate = false
		for _, id := range held {
			pass(id)
		}
	}
}
