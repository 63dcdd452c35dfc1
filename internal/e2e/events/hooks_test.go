package events

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// A push signed by Gitea reaches the contact's phone once, even when delivered
// twice and across a restart, until the token that created the hook is revoked.
func TestHooks_APushArrivesOnce(t *testing.T) {
	t.Parallel()
	network, owner := NewOwner(t, simnet.PhoneOptions{})
	sam := NewPhone(t, network, simnet.PhoneOptions{Number: "15550100311", Name: "Sam"})
	p := StartBridge(t, network)
	device := Pair(t, p, owner)
	hello := Must(sam.SendText(Within(t), owner.PN(), "hello"))(t)
	if err := device.WaitAcknowledged(Within(t), hello); err != nil {
		t.Fatal(err)
	}
	var token struct {
		ID     int64
		Secret string
	}
	p.Post("/api/tokens", Object{"name": "hooks", "scopes": []string{"manage", "send"}, "chats": []string{sam.PN().String()}}).Want(http.StatusCreated).Decode(&token)
	var hook struct{ Path string }
	p.WithToken(token.Secret).Post("/api/hooks", Object{"name": "pushes", "chatJid": sam.PN().String(), "template": "gitea", "secret": "signs-in-the-tests"}).
		Want(http.StatusCreated).Decode(&hook)
	p.Secrets = append(p.Secrets, "signs-in-the-tests", hook.Path[strings.Index(hook.Path, ".")+1:])

	push := string(Must(os.ReadFile("../../hooks/testdata/gitea/push.json"))(t))
	mac := hmac.New(sha256.New, []byte("signs-in-the-tests"))
	mac.Write([]byte(push))
	deliver := func(id string) int {
		t.Helper()
		return p.WithToken("").Post(hook.Path, push,
			"X-Gitea-Event", "push", "X-Gitea-Delivery", id, "X-Gitea-Signature", hex.EncodeToString(mac.Sum(nil))).Status
	}
	for range 2 {
		if status := deliver("f6266f16-1bf3-46a5-9ea4-602e06ead473"); status != http.StatusOK {
			t.Errorf("delivered: %d", status)
		}
	}
	text := strings.TrimSpace(string(Must(os.ReadFile("../../hooks/testdata/gitea/push.txt"))(t)))
	Must(sam.ReceivedText(Within(t), text))(t)
	p.Restart()
	p.Becomes(bridge.StateOpen)
	for _, id := range []string{"f6266f16-1bf3-46a5-9ea4-602e06ead473", "0a9f4f6e-2222-4b1b-9a55-000000000002"} {
		if status := deliver(id); status != http.StatusOK {
			t.Errorf("delivered after the restart: %d", status)
		}
	}
	// Later messages arrive later.
	p.Post("/api/messages/send", Object{"jid": sam.PN().String(), "text": "the end"}).Want(http.StatusOK)
	Must(sam.ReceivedText(Within(t), "the end"))(t)
	count := 0
	for _, received := range sam.Messages() {
		if received.Text() == text {
			count++
		}
	}
	if count != 1 {
		t.Errorf("%d messages of one push, which was delivered again under another id, too", count)
	}
	p.Do(http.MethodDelete, "/api/tokens/"+fmt.Sprint(token.ID), "").Want(http.StatusOK)
	if status := deliver("0a9f4f6e-3333-4b1b-9a55-000000000003"); status != http.StatusNotFound {
		t.Errorf("delivered to the hook of a revoked token: %d", status)
	}
}

// TestHooks_SignedDeliveriesArriveOnce, for every service, across a restart, under
// any id.
func TestHooks_SignedDeliveriesArriveOnce(t *testing.T) {
	t.Parallel()
	network, owner := NewOwner(t, simnet.PhoneOptions{})
	sam := NewPhone(t, network, simnet.PhoneOptions{Number: "15550100312", Name: "Sam"})
	p := StartBridge(t, network)
	device := Pair(t, p, owner)
	if err := device.WaitAcknowledged(Within(t), Must(sam.SendText(Within(t), owner.PN(), "hello"))(t)); err != nil {
		t.Fatal(err)
	}
	type answer struct {
		Sent, Duplicate bool
		MsgID           string
	}
	payloads := map[string]string{"alertmanager": "firing", "gitea": "push", "github": "push", "grafana": "firing", "json": "text", "text": "", "uptime-kuma": "down"}
	paths, firsts := map[string]string{}, map[string]answer{}
	deliver := func(service, id string) (got answer) {
		t.Helper()
		body := `{"backup":"done"}`
		if file := payloads[service]; file != "" {
			body = string(Must(os.ReadFile("../../hooks/testdata/" + service + "/" + file + ".json"))(t))
		}
		at := fmt.Sprint(time.Now().Unix())
		mac := hmac.New(sha256.New, []byte("signs-in-the-tests"))
		mac.Write([]byte(at + ":" + body))
		p.WithToken("").Post(paths[service], body, "X-Gitea-Event", "push", "X-Gitea-Delivery", id, "X-GitHub-Delivery", id, "Idempotency-Key", id,
			"X-Grafana-Alerting-Timestamp", at, "X-Grafana-Alerting-Signature", hex.EncodeToString(mac.Sum(nil))).Want(http.StatusOK).Decode(&got)
		return got
	}
	p.Secrets = append(p.Secrets, "signs-in-the-tests")
	for service := range payloads {
		var hook struct{ Path string }
		p.Post("/api/hooks", Object{"name": service, "chatJid": sam.PN().String(), "template": service, "secret": "signs-in-the-tests"}).Want(http.StatusCreated).Decode(&hook)
		p.Secrets = append(p.Secrets, hook.Path[strings.Index(hook.Path, ".")+1:])
		paths[service] = hook.Path
		if firsts[service] = deliver(service, "first"); !firsts[service].Sent || firsts[service].Duplicate {
			t.Errorf("%s: %+v", service, firsts[service])
		}
	}
	p.Restart()
	p.Becomes(bridge.StateOpen)
	for service, first := range firsts {
		if again := deliver(service, "second"); again.Sent || !again.Duplicate || again.MsgID != first.MsgID {
			t.Errorf("%s, after the restart: %+v, want the message %s", service, again, first.MsgID)
		}
	}
}
