package media

import (
	"net/http"
	"testing"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// canaryAddress returns an address that must get no connections.
func canaryAddress(t testing.TB) string {
	t.Helper()
	c := NewCanary(t)
	t.Cleanup(func() {
		if n := c.Sang.Load(); n > 0 {
			t.Errorf("%d connections to where a stranger pointed", n)
		}
	})
	return "127.0.0.1:" + c.Port
}

// lyingPaths lead to another host than the one they are appended to.
func lyingPaths(canary string) []string {
	return []string{"@" + canary + "/v/x", ":1@" + canary + "/v/x", "https://" + canary + "/v/x", "x@" + canary + "/v/x?a=b", "/v/x#y", "/v\\x", "v/x"}
}

// sendsFrom sends a picture that claims a given path.
func sendsFrom(c *Cast, t testing.TB, place string, file []byte) SentFile {
	t.Helper()
	whole := Must(c.Ben.ReceivedID(Within(t), Must(c.Owner.SendImage(Within(t), c.Ben.PN(), simnet.Media{Data: file, Mimetype: "image/png"}))(t)))(t)
	image := proto.CloneOf(whole.RawMessage.GetImageMessage())
	image.DirectPath, image.URL = proto.String(place), proto.String("https://"+place)
	id := Must(c.Ben.Send(Within(t), c.Owner.PN(), &waE2E.Message{ImageMessage: image}))(t)
	return c.Arrived(t, id, c.Ben.PN(), file)
}

// A sender cannot choose the host that the bridge connects to, neither for a
// download nor for a forward.
func TestMediaHosts_SendersDoNotChooseThem(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	c.Owner.AnswerMedia(simnet.MediaGone)
	for _, place := range lyingPaths(canaryAddress(t)) {
		f := sendsFrom(c, t, place, Noise(1000+len(place)))
		Refused(t, c.Bridge.Get(f.Path), http.StatusInternalServerError, bridge.CodeMediaInvalid)
		Refused(t, c.Bridge.Post("/api/messages/forward", Object{"sourceChatJid": f.Chat.String(), "sourceMsgId": f.ID, "destJid": c.Anna.PN().String()}),
			http.StatusInternalServerError, bridge.CodeMediaGone)
	}
}

// Nor can a phone that names a file's new path.
func TestMediaHosts_NewPlacesDoNotChooseThem(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	for _, place := range lyingPaths(canaryAddress(t)) {
		f := receives(c, t, c.Ben, Noise(2000+len(place)))
		c.Network.CDN().Expire(f.DirectPath)
		c.Owner.ReuploadTo(place)
		Refused(t, c.Bridge.Get(f.Path), http.StatusInternalServerError, bridge.CodeMediaInvalid)
		Refused(t, c.Bridge.Post("/api/messages/forward", Object{"sourceChatJid": f.Chat.String(), "sourceMsgId": f.ID, "destJid": c.Anna.PN().String()}),
			http.StatusInternalServerError, bridge.CodeMediaInvalid)
	}
}

// Nor can a server that redirects the client.
func TestMediaHosts_RedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	f := receives(c, t, c.Ben, Noise(3000))
	c.Network.CDN().Fail(simnet.CDNFault{Status: http.StatusFound, Location: "https://" + canaryAddress(t) + "/v/x"})
	Refused(t, c.Bridge.Get(f.Path), http.StatusServiceUnavailable, bridge.CodeMediaUnavailable)
	c.Bridge.Post("/api/messages/forward", Object{"sourceChatJid": f.Chat.String(), "sourceMsgId": f.ID, "destJid": c.Anna.PN().String()}).Want(http.StatusOK)
}

// Invalid hosts are ignored, even if the network names them.
func TestMediaHosts_InvalidOnesAreIgnored(t *testing.T) {
	t.Parallel()
	c := PairedCast(t, FetchesLoopback)
	bird := canaryAddress(t)
	f := receives(c, t, c.Ben, Noise(4000)) // before, because phones believe the network
	c.Network.CDN().NameHosts("user@"+bird, bird+"/path", bird+"#", bird+"?", bird+":1", "\\"+bird, c.Network.Addr())
	c.Bridge.Restart()
	c.Bridge.Becomes(bridge.StateOpen)
	c.Downloads(t, f)
	c.Bridge.Post("/api/messages/forward", Object{"sourceChatJid": f.Chat.String(), "sourceMsgId": f.ID, "destJid": c.Anna.PN().String()}).Want(http.StatusOK)
	url := NewWebsite(t).Has("/paper.txt", []byte("words"))
	c.SendsMedia(t, Object{"jid": c.Anna.PN().String(), "url": url, "type": "document"})
}
