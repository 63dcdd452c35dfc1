package operations

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/client"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

func TestBackup_WhileRunningIsCompleteAndRestorable(t *testing.T) {
	t.Parallel()
	network, owner := NewOwner(t, simnet.PhoneOptions{})
	friend := NewPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})
	p := StartBridge(t, network)
	device := Pair(t, p, owner)
	id := Must(friend.SendText(Within(t), owner.PN(), "keep this"))(t)
	if err := device.WaitAcknowledged(Within(t), id); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "backup.db")
	if out, err := p.Command("backup", file); err != nil {
		t.Fatalf("backup: %v\n%s", err, out)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the backup: %v, %v, want mode 0600", info, err)
	}
	if out, err := p.Command("backup", file); err == nil {
		t.Errorf("a second backup overwrote the first: %s", out)
	}
	Must(friend.SendText(Within(t), owner.PN(), "after the backup"))(t)
	if out, err := p.Command("restore", file); err == nil || !strings.Contains(out, "another bridged is using DATA_DIR") {
		t.Errorf("restored next to a running bridge: %v\n%s", err, out)
	}
	p.Stop()
	restore(t, p, file)
	p.Start()
	var found struct{ Count int }
	p.Get("/api/messages/search?q=keep+this").Want(http.StatusOK).Decode(&found)
	if found.Count != 1 {
		t.Errorf("the restored store has the message %d times, want once", found.Count)
	}
}

// restore restores a backup into the directory of a stopped bridge.
func restore(t *testing.T, p *Process, file string) string {
	t.Helper()
	out, err := p.Command("restore", file)
	if err != nil || !strings.Contains(out, "The previous store is now ") || !strings.Contains(out, "Next: start bridged. It uses the session") {
		t.Fatalf("restore: %v\n%s", err, out)
	}
	return out
}

// secretsOf holds tokens, a webhook and a hook, with every form of their secrets
// that a file could contain.
type secretsOf struct {
	token         client.MadeToken
	webhook, hook int64
	key           string // the path of the hook's address
	bytes         map[string]string
}

func makeSecrets(t *testing.T, p *Process, chat bridge.JID) secretsOf {
	t.Helper()
	address, secret := "https://receiver.example/path-that-is-secret", "a secret of the tests"
	token := Must(p.API.CreateToken(Within(t), client.NewToken{Name: "to be revoked", Scopes: []bridge.Scope{bridge.ScopeRead}}))(t)
	webhook := Must(p.API.CreateWebhook(Within(t), client.WebhookChange{URL: &address}))(t)
	template := "text"
	name := "backups"
	jid := string(chat)
	hook := Must(p.API.CreateHook(Within(t), client.HookChange{Name: &name, ChatJID: &jid, Template: &template, Secret: &secret}))(t)
	_, key, _ := strings.Cut(hook.Path, ".")
	tokenHash, keyHash := sha256.Sum256([]byte(token.Secret)), sha256.Sum256([]byte(key))
	p.Secrets = append(p.Secrets, token.Secret, webhook.Secret, key)
	return secretsOf{token: token, webhook: webhook.ID, hook: hook.ID, key: hook.Path, bytes: map[string]string{
		"the token": token.Secret, "its hash": string(tokenHash[:]), "the webhook's secret": webhook.Secret, "its path": "path-that-is-secret",
		"the hook's secret": secret, "its key": key, "the hash of its key": string(keyHash[:]),
	}}
}

// Unless asked for, a backup contains no secrets, not even in unused pages, and
// restoring it revives nothing that was revoked since.
func TestBackup_LeavesSecretsOut(t *testing.T) {
	t.Parallel()
	network, owner := NewOwner(t, simnet.PhoneOptions{})
	friend := NewPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})
	p := StartBridge(t, network, "ENABLE_SEND=true")
	device := Pair(t, p, owner)
	if err := device.WaitAcknowledged(Within(t), Must(friend.SendText(Within(t), owner.PN(), "keep this"))(t)); err != nil {
		t.Fatal(err)
	}
	made := makeSecrets(t, p, bridge.JID(friend.PN().String()))
	for _, with := range []bool{true, false} {
		file, args := filepath.Join(t.TempDir(), "backup.db"), []string{"backup"}
		if with {
			args = append(args, "--with-secrets")
		}
		if out, err := p.Command(append(args, file)...); err != nil || strings.Contains(out, "with their secrets") != with {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		data := Must(os.ReadFile(file))(t)
		for what, secret := range made.bytes {
			kept := with && what != "the token" && what != "its key" // stored as hashes
			if bytes.Contains(data, []byte(secret)) != kept {
				t.Errorf("%v: the file holds %s: %v, want %v", args, what, !kept, kept)
			}
		}
		checkRestored(p, t, file, made, with)
	}
}

// checkRestored restores a backup and checks what works afterwards.
func checkRestored(p *Process, t *testing.T, file string, made secretsOf, with bool) {
	t.Helper()
	p.Stop()
	out := restore(t, p, file)
	if strings.Contains(out, "valid again") != with {
		t.Errorf("with secrets: %v, the command says\n%s", with, out)
	}
	p.Start()
	if found := Must(p.API.Search(Within(t), bridge.SearchQuery{Q: "keep this"}))(t); len(found.Items) != 1 {
		t.Errorf("the restored store has %d messages, want 1", len(found.Items))
	}
	_, tokenErr := p.API.WithToken(made.token.Secret).OwnToken(Within(t))
	_, webhookErr := p.API.Webhook(Within(t), made.webhook)
	_, hookErr := p.API.Hook(Within(t), made.hook)
	for what, err := range map[string]error{"token": tokenErr, "webhook": webhookErr, "hook": hookErr} {
		if (err == nil) != with {
			t.Errorf("with secrets: %v, the %s: %v", with, what, err)
		}
	}
	resp := Must(http.Post("http://"+p.Address+made.key, "text/plain", strings.NewReader("hello")))(t)
	if resp.Body.Close(); (resp.StatusCode == http.StatusNotFound) == with {
		t.Errorf("with secrets: %v, the hook's address: %d", with, resp.StatusCode)
	}
}

// TestRestore_IdempotencyKeys: a key that a backup has still stands for its message, and a younger one is
// forgotten with its message.
func TestRestore_IdempotencyKeys(t *testing.T) {
	t.Parallel()
	c := PairedCast(t, "ENABLE_SEND=true")
	send := func(key string) simnet.MessageID {
		t.Helper()
		return SentID(t, c.Bridge.Post("/api/messages/send", Object{"jid": c.Anna.PN().String(), "text": "under " + key}, "Idempotency-Key", key))
	}
	before := send("an-old-key")
	file := filepath.Join(t.TempDir(), "copy.db")
	if out, err := c.Bridge.Command("backup", file); err != nil {
		t.Fatalf("backup: %v\n%s", err, out)
	}
	after := send("a-young-key")
	c.Bridge.Stop()
	restore(t, c.Bridge, file)
	c.Bridge.Start()
	c.Bridge.Becomes(bridge.StateOpen)
	if id := send("an-old-key"); id != before {
		t.Errorf("the old key sent %s and then %s", before, id)
	}
	if id := send("a-young-key"); id == after {
		t.Errorf("two messages have the id %s", id)
	}
	for text, times := range map[string]int{"under an-old-key": 1, "under a-young-key": 2} {
		Eventually(t, func() error {
			shown := map[string]bool{}
			for _, r := range c.Anna.Messages() {
				if r.Text() == text {
					shown[r.Info.ID] = true
				}
			}
			if n := len(shown); n != times {
				return fmt.Errorf("Anna has %q %d times, want %d", text, n, times)
			}
			return nil
		})
	}
}

func TestReindex_NeedsTheBridgeStopped(t *testing.T) {
	t.Parallel()
	network, _ := NewOwner(t, simnet.PhoneOptions{})
	p := StartBridge(t, network)
	if out, err := p.Command("reindex"); err == nil {
		t.Errorf("reindexed beside a running bridge: %s", out)
	}
	p.Stop()
	if out, err := p.Command("reindex"); err != nil {
		t.Errorf("reindex: %v\n%s", err, out)
	}
}

func TestDamagedDatabase_IsRefusedWithARemedy(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string][]byte{"emptied": nil, "overwritten": []byte("this is no database, whatever the name says")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			network, _ := NewOwner(t, simnet.PhoneOptions{})
			p := StartBridge(t, network)
			p.Stop()
			for _, file := range []string{"bridged.db", "session.db"} {
				path := filepath.Join(p.Env["DATA_DIR"], file)
				whole := Must(os.ReadFile(path))(t)
				if err := os.WriteFile(path, damage, 0o600); err != nil {
					t.Fatal(err)
				}
				out, err := p.Command("serve")
				if err == nil {
					t.Errorf("started on an %s %s", name, file)
				}
				t.Logf("%s: %s", file, out)
				if err := os.WriteFile(path, whole, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
