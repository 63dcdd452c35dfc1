package frame_test

import (
	"strings"
	"testing"

	"bridged/internal/console/frame"
)

// Names are made from our words alone, whatever the header has.
func TestBrowser_HasAShortName(t *testing.T) {
	t.Parallel()
	const chrome = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 "
	for agent, want := range map[string]string{
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0":                                      "Firefox on Windows",
		"Mozilla/5.0 (X11; Linux x86_64) " + chrome + "Safari/537.36":                                                           "Chrome on Linux",
		"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) " + chrome + "Safari/537.36":                                                  "Chrome on ChromeOS",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) " + chrome + "Safari/537.36 Edg/142.0.0.0":                                   "Edge on Windows",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) " + chrome + "Safari/537.36 OPR/120.0.0.0":                             "Opera on macOS",
		"Mozilla/5.0 (Linux; Android 10; K) " + chrome + "Mobile Safari/537.36":                                                 "Chrome on Android",
		"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile": "Samsung Internet on Android",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15": "Safari on macOS",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148":         "Safari on iPhone",
		"Mozilla/5.0 (iPad; CPU OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) FxiOS/140.0 Mobile/15E148":      "Firefox on iPad",
		"curl/8.5.0": "Unknown browser", "": "Unknown browser", "Firefox/<b>" + strings.Repeat("x", 1<<16): "Firefox",
	} {
		if got := frame.BrowserOf(agent); got != want {
			t.Errorf("%.200s: %q, want %q", agent, got, want)
		}
	}
}
