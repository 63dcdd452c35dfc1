package browser

import (
	"fmt"
	"strings"
	"testing"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// Visited is a cast whose bridge is open in a browser.
type Visited struct {
	*Cast
	*Browser
}

// Visit opens the console of a paired account, logged in.
func Visit(t *testing.T, settings ...string) Visited {
	t.Helper()
	b := OpenBrowser(t, "http://127.0.0.1")
	c := PairedCast(t, settings...)
	b.At(c.Bridge)
	return Visited{c, b}
}

// At logs in to the console of a bridge.
func (b *Browser) At(p *Process) {
	b.T.Helper()
	b.Mu.Lock()
	b.Base = "http://" + p.Address
	b.Mu.Unlock()
	b.LogIn()
}

// OpenChat opens the page of a chat.
func (v Visited) OpenChat(chat simnet.JID) {
	v.Browser.T.Helper()
	v.Open("/console/chats/" + bridge.JID(chat.String()).Escaped())
}

// WantText waits until the messages of the open chat contain a text.
func (b *Browser) WantText(text string) {
	b.T.Helper()
	b.WaitFor(fmt.Sprintf(`document.querySelector("#messages").textContent.includes(%q)`, text))
}

// WantStored waits until the bridge shows a message.
func (v Visited) WantStored(from *simnet.Phone, text string) {
	t := v.Browser.T
	t.Helper()
	Eventually(t, func() error {
		found := v.Bridge.Get(Path("/api/messages/individual/%s", from.PN()))
		if !strings.Contains(string(found.Body), strings.Trim(fmt.Sprintf("%q", text), `"`)) {
			return fmt.Errorf("%q is not stored", text)
		}
		return nil
	})
}
