package browser

import (
	"github.com/chromedp/chromedp"

	. "bridged/internal/e2e/harness"
)

// LogIn logs in with the tests' token.
func (b *Browser) LogIn() {
	b.T.Helper()
	b.Open("/login")
	b.Do(chromedp.SendKeys(chromedp.CSS("#token"), TestToken+"\r"), Loads(".rail"))
}
