package server

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"go.mau.fi/whatsmeow/proto/waWa6"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/people"
)

// versions holds two versions of the web client. Directory.Mu guards them.
type versions struct {
	oldest store.WAVersionContainer // the oldest that is admitted
	newest store.WAVersionContainer // the one on the web page; zero while it cannot be reached

	announced bool                     // clients older than lasting are sent expires
	lasting   store.WAVersionContainer // the oldest that does not expire
	expires   time.Time                // when older ones are refused; zero if that was withdrawn
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

// AnnounceExpiry tells companions of versions older than lasting, now and at each login, that their version is refused from a moment on. A zero
// moment withdraws that.
func (n *Server) AnnounceExpiry(lasting store.WAVersionContainer, at time.Time) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	n.versions.announced, n.versions.lasting, n.versions.expires = true, lasting, at
	for c := range n.conns {
		if c.Device != nil && c.Device.Active {
			n.announceExpiry(c)
		}
	}
}

// announceExpiry sends a client the end of its version. The caller holds Directory.Mu.
func (n *Server) announceExpiry(c *people.Client) {
	v := &n.versions
	if !v.announced || c.Device.Number == 0 || !versionOf(c.Payload()).LessThan(v.lasting) {
		return
	}
	expiration := Node{Tag: "client_expiration"}
	if !v.expires.IsZero() {
		expiration.Attrs = attrs{"t": strconv.FormatInt(v.expires.Unix(), 10)}
	}
	c.Send(Node{Tag: "ib", Attrs: attrs{"from": types.ServerJID}, Content: []Node{expiration}})
}

// versionOf returns the version that a client reports.
func versionOf(payload *waWa6.ClientPayload) store.WAVersionContainer {
	version := payload.GetUserAgent().GetAppVersion()
	return store.WAVersionContainer{version.GetPrimary(), version.GetSecondary(), version.GetTertiary()}
}

// Version returns the version that a device reported at its present login.
func (n *Server) Version(d *people.Device) store.WAVersionContainer {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	if d.Conn == nil {
		return store.WAVersionContainer{}
	}
	return versionOf(d.Conn.Payload())
}

// outdated reports whether a client's version was cut off. Phones' never are.
func (n *Server) outdated(payload *waWa6.ClientPayload) bool {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	isPhone := payload.DevicePairingData == nil && payload.GetDevice() == 0
	return !isPhone && versionOf(payload).LessThan(n.versions.oldest)
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
