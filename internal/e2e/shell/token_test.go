package shell

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

var tokenSecret = regexp.MustCompile(`brt_[A-Z2-7]{26}`)

// A program gets a token for one chat from the command line, keeps it across a
// restart, and loses it at once when it is revoked.
func TestToken_FromTheCommandLine(t *testing.T) {
	t.Parallel()
	network, owner := NewOwner(t, simnet.PhoneOptions{})
	sam := NewPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})
	kim := NewPhone(t, network, simnet.PhoneOptions{Number: "15550100302", Name: "Kim"})
	p := StartBridge(t, network, OwnAddress())
	device := Pair(t, p, owner)
	one := Must(sam.SendText(Within(t), owner.PN(), "a word of Sam"))(t)
	other := Must(kim.SendText(Within(t), owner.PN(), "a word of Kim"))(t)
	if err := device.WaitAcknowledged(Within(t), one, other); err != nil {
		t.Fatal(err)
	}
	p.StaysAtItsAddress() // where the commands look for it
	out, err := p.Command("token", "create", "desk", "--scopes", "read,send", "--chats", sam.PN().String(), "--expires", "24h")
	if err != nil {
		t.Fatalf("create: %v\n%s", err, out)
	}
	secret := tokenSecret.FindString(out)
	if secret == "" || !strings.Contains(out, "Token 1, read, send in one chat") {
		t.Fatalf("create printed %q", out)
	}
	p.Secrets = append(p.Secrets, secret)
	p.Restart()
	p.Becomes(bridge.StateOpen)
	desk := p.WithToken(secret)
	if got := string(desk.Get("/api/messages/search?q=word").Want(http.StatusOK).Body); !strings.Contains(got, "of Sam") || strings.Contains(got, "of Kim") {
		t.Errorf("found %s", got)
	}
	desk.Post("/api/messages/send", map[string]any{"jid": kim.PN().String(), "text": "no"}).Want(http.StatusNotFound)
	desk.Post("/api/messages/send", map[string]any{"jid": sam.PN().String(), "text": "yes"}).Want(http.StatusOK)
	if out, err := p.Command("token", "list"); err != nil || !strings.Contains(out, "desk") || strings.Contains(out, secret) {
		t.Errorf("list: %v\n%s", err, out)
	}
	if out, err := p.Command("token", "revoke", "1"); err != nil || !strings.Contains(out, "Token 1 is revoked.") {
		t.Errorf("revoke: %v\n%s", err, out)
	}
	desk.Get("/api/chats").Want(http.StatusUnauthorized)
	if out, err := p.Command("token", "revoke", "1"); err == nil || !strings.Contains(out, "there is no token 1") {
		t.Errorf("revoke again: %v\n%s", err, out)
	}
}
