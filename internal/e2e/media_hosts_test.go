package e2e

import (
	"net/http"
	"testing"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// canaryAddress returns an address that must get no connections.
func canaryAddress(t testing.TB) string {
	t.Helper()
	c := newCanary(t)
	t.Cleanup(func() {
		if n := c.sang.Load(); n > 0 {
			t.Errorf("%d connections to where a stranger pointed", n)
		}
	})
	return "127.0.0.1:" + c.port
}

// lyingPaths lead to another host than the one they are appended to.
func lyingPaths(canary string) []string {
	return []string{"@" + canary + "/v/x", ":1@" + canary + "/v/x", "https://" + canary + "/v/x", "x@" + canary + "/v/x?a=b", "/v/x#y", "/v\\x", "v/x"}
}

// sendsFrom sends a picture that claims a given path.
func (c *cast) sendsFrom(t testing.TB, place string, file []byte) sentFile {
	t.Helper()
	whole := must(c.ben.ReceivedID(within(t), must(c.owner.SendImage(within(t), c.ben.PN(), simnet.Media{Data: file, Mimetype: "image/png"}))(t)))(t)
	image := proto.CloneOf(whole.RawMessage.GetImageMessage())
	image.DirectPath, image.URL = proto.String(place), proto.String("https://"+place)
	id := must(c.ben.Send(within(t), c.owner.PN(), &waE2E.Message{ImageMessage: image}))(t)
	return c.arrived(t, id, c.ben.PN(), file)
}

// A sender cannot choose the host that the bridge connects to, neither for a
// download nor for a forward.
func TestMediaHosts_SendersDoNotChooseThem(t *testing.T) {
	t.Parallel()
	c := pairedCast(t)
	c.owner.AnswerMedia(simnet.MediaGone)
	for _, place := range lyingPaths(canaryAddress(t)) {
		f := c.sendsFrom(t, place, noise(1000+len(place)))
		refused(t, c.bridge.Get(f.path), http.StatusInternalServerError, bridge.CodeMediaInvalid)
		refused(t, c.bridge.Post("/api/messages/forward", object{"sourceChatJid": f.chat.String(), "sourceMsgId": f.id, "destJid": c.anna.PN().String()}),
			http.StatusInternalServerError, bridge.CodeMediaGone)
	}
}

// Nor can a phone that names a file's new path.
func TestMediaHosts_NewPlacesDoNotChooseThem(t *testing.T) {
	t.Parallel()
	c := pairedCast(t)
	for _, place := range lyingPaths(canaryAddress(t)) {
		f := c.receives(t, c.ben, noise(2000+len(place)))
		c.network.CDN().Expire(f.directPath)
		c.owner.ReuploadTo(place)
		refused(t, c.bridge.Get(f.path), http.StatusInternalServerError, bridge.CodeMediaInvalid)
		refused(t, c.bridge.Post("/api/messages/forward", object{"sourceChatJid": f.chat.String(), "sourceMsgId": f.id, "destJid": c.anna.PN().String()}),
			http.StatusInternalServerError, bridge.CodeMediaInvalid)
	}
}

// Nor can a server that redirects the client.
func TestMediaHosts_RedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	c := pairedCast(t)
	f := c.receives(t, c.ben, noise(3000))
	c.network.CDN().Fail(simnet.CDNFault{Status: http.StatusFound, Location: "https://" + canaryAddress(t) + "/v/x"})
	refused(t, c.bridge.Get(f.path), http.StatusServiceUnavailable, bridge.CodeMediaUnavailable)
	c.bridge.Post("/api/messages/forward", object{"sourceChatJid": f.chat.String(), "sourceMsgId": f.id, "destJid": c.anna.PN().String()}).Want(http.StatusOK)
}

// Invalid hosts are ignored, even if the network names them.
func TestMediaHosts_InvalidOnesAreIgnored(t *testing.T) {
	t.Parallel()
	c := pairedCast(t, fetchesLoopback)
	bird := canaryAddress(t)
	f := c.receives(t, c.ben, noise(4000)) // before, because phones believe the network
	c.network.CDN().NameHosts("user@"+bird, bird+"/path", bird+"#", bird+"?", bird+":1", "\\"+bird, c.network.Addr())
	c.bridge.restart()
	c.bridge.becomes(bridge.StateOpen)
	c.downloads(t, f)
	c.bridge.Post("/api/messages/forward", object{"sourceChatJid": f.chat.String(), "sourceMsgId": f.id, "destJid": c.anna.PN().String()}).Want(http.StatusOK)
	url := newWebsite(t).has("/paper.txt", []byte("words"))
	c.sendsMedia(t, object{"jid": c.anna.PN().String(), "url": url, "type": "document"})
}
