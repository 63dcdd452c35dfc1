package urlguard

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func post(t *testing.T, g *Guard, url string) (*http.Response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader("hello"))
	if err != nil {
		t.Fatal(err)
	}
	transport := g.Transport()
	t.Cleanup(transport.CloseIdleConnections)
	return transport.RoundTrip(req)
}

func TestTransport_ReachesWhatIsPermitted(t *testing.T) {
	var got string
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Method
		w.WriteHeader(http.StatusAccepted)
	})
	resp, err := post(t, newGuard(Options{}), url)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusAccepted || got != http.MethodPost {
		t.Errorf("status %d, method %s", resp.StatusCode, got)
	}
}

func TestTransport_RefusesPrivateAddresses(t *testing.T) {
	canary := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("a private address was asked")
	}))
	t.Cleanup(canary.Close)
	for _, url := range []string{
		canary.URL,
		"http://localhost:" + portOf(t, canary.URL),
		"http://[::ffff:127.0.0.1]:" + portOf(t, canary.URL),
		"http://0x7f000001:" + portOf(t, canary.URL),
	} {
		resp, err := post(t, newGuard(Options{}), url)
		if err == nil {
			resp.Body.Close()
			t.Errorf("%s was answered", url)
			continue
		}
		wantRefusal(t, err, "")
	}
}

func TestTransport_FollowsNoRedirect(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://127.0.0.1/", http.StatusTemporaryRedirect)
	})
	resp, err := post(t, newGuard(Options{}), url)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusTemporaryRedirect {
		t.Errorf("status %d", resp.StatusCode)
	}
}
