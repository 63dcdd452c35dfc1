package server

import (
	"fmt"
	"net/http"

	"go.mau.fi/whatsmeow/proto/waWa6"
	"go.mau.fi/whatsmeow/store"
)

// versions holds two versions of the web client. Directory.Mu guards them.
type versions struct {
	oldest store.WAVersionContainer // the oldest that is admitted
	newest store.WAVersionContainer // the one on the web page; zero while it cannot be reached
}

// CutOff refuses clients of older versions from now on, at the login and when they want to be linked, as the real network does without
// notice.
func (n *Server) CutOff(oldest store.WAVersionContainer) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	n.versions.oldest = oldest
}

// PublishVersion makes the web page name a version as the newest one. Until then the page cannot be reached.
func (n *Server) PublishVersion(newest store.WAVersionContainer) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	n.versions.newest = newest
}

// outdated reports whether a client's version was cut off. Phones' never are.
func (n *Server) outdated(payload *waWa6.ClientPayload) bool {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	version := payload.GetUserAgent().GetAppVersion()
	has := store.WAVersionContainer{version.GetPrimary(), version.GetSecondary(), version.GetTertiary()}
	isPhone := payload.DevicePairingData == nil && payload.GetDevice() == 0
	return !isPhone && has.LessThan(n.versions.oldest)
}

// servePage answers for the web client's page.
func (n *Server) servePage(w http.ResponseWriter, _ *http.Request) {
	n.Mu.Lock()
	newest := n.versions.newest
	n.Mu.Unlock()
	if newest.IsZero() {
		http.Error(w, "this page cannot be reached", http.StatusForbidden)
		return
	}
	fmt.Fprintf(w, `<html><script>{"client_revision":%d,"tier":"simulated"}</script></html>`, newest[2])
}
