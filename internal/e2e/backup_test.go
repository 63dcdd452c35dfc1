package e2e

import (
	"bytes"
	"crypto/sha256"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/simnet"
)

// command runs another bridged in the environment of p and returns its output.
func (p *process) command(args ...string) (string, error) {
	p.t.Helper()
	cmd := exec.Command("bridged", args...)
	for name, value := range p.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestBackup_WhileRunningIsCompleteAndRestorable(t *testing.T) {
	t.Parallel()
	network, owner := newOwner(t, simnet.PhoneOptions{})
	friend := newPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})
	p := startBridge(t, network)
	device := pair(t, p, owner)
	id := must(friend.SendText(within(t), owner.PN(), "keep this"))(t)
	if err := device.WaitAcknowledged(within(t), id); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "backup.db")
	if out, err := p.command("backup", file); err != nil {
		t.Fatalf("backup: %v\n%s", err, out)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the backup: %v, %v, want mode 0600", info, err)
	}
	if out, err := p.command("backup", file); err == nil {
		t.Errorf("a second backup overwrote the first: %s", out)
	}
	must(friend.SendText(within(t), owner.PN(), "after the backup"))(t)
	p.stop()

	data := p.env["DATA_DIR"]
	for _, name := range []string{"bridged.db", "bridged.db-wal", "bridged.db-shm"} {
		if err := os.Remove(filepath.Join(data, name)); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	if err := os.Rename(file, filepath.Join(data, "bridged.db")); err != nil {
		t.Fatal(err)
	}
	p.start()
	var found struct{ Count int }
	p.Get("/api/messages/search?q=keep+this").Want(http.StatusOK).Decode(&found)
	if found.Count != 1 {
		t.Errorf("the restored store has the message %d times, want once", found.Count)
	}
}

// secretsOf holds tokens, a webhook and a hook, with every form of their secrets
// that a file could contain.
type secretsOf struct {
	token         client.MadeToken
	webhook, hook int64
	key           string // the path of the hook's address
	bytes         map[string]string
}

func makeSecrets(t *testing.T, p *process, chat bridge.JID) secretsOf {
	t.Helper()
	address, secret := "https://receiver.example/path-that-is-secret", "a secret of the tests"
	token := must(p.api.CreateToken(within(t), client.NewToken{Name: "to be revoked", Scopes: []bridge.Scope{bridge.ScopeRead}}))(t)
	webhook := must(p.api.CreateWebhook(within(t), client.WebhookChange{URL: &address}))(t)
	template := "text"
	name := "backups"
	jid := string(chat)
	hook := must(p.api.CreateHook(within(t), client.HookChange{Name: &name, ChatJID: &jid, Template: &template, Secret: &secret}))(t)
	_, key, _ := strings.Cut(hook.Path, ".")
	tokenHash, keyHash := sha256.Sum256([]byte(token.Secret)), sha256.Sum256([]byte(key))
	p.secrets = append(p.secrets, token.Secret, webhook.Secret, key)
	return secretsOf{token: token, webhook: webhook.ID, hook: hook.ID, key: hook.Path, bytes: map[string]string{
		"the token": token.Secret, "its hash": string(tokenHash[:]), "the webhook's secret": webhook.Secret, "its path": "path-that-is-secret",
		"the hook's secret": secret, "its key": key, "the hash of its key": string(keyHash[:]),
	}}
}

// Unless asked for, a backup contains no secrets, not even in unused pages, and
// restoring it revives nothing that was revoked since.
func TestBackup_LeavesSecretsOut(t *testing.T) {
	t.Parallel()
	network, owner := newOwner(t, simnet.PhoneOptions{})
	friend := newPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})
	p := startBridge(t, network, "ENABLE_SEND=true")
	device := pair(t, p, owner)
	if err := device.WaitAcknowledged(within(t), must(friend.SendText(within(t), owner.PN(), "keep this"))(t)); err != nil {
		t.Fatal(err)
	}
	made := makeSecrets(t, p, bridge.JID(friend.PN().String()))
	for _, with := range []bool{true, false} {
		file, args := filepath.Join(t.TempDir(), "backup.db"), []string{"backup"}
		if with {
			args = append(args, "--with-secrets")
		}
		if out, err := p.command(append(args, file)...); err != nil || strings.Contains(out, "with their secrets") != with {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		data := must(os.ReadFile(file))(t)
		for what, secret := range made.bytes {
			kept := with && what != "the token" && what != "its key" // stored as hashes
			if bytes.Contains(data, []byte(secret)) != kept {
				t.Errorf("%v: the file holds %s: %v, want %v", args, what, !kept, kept)
			}
		}
		p.checkRestored(t, file, made, with)
	}
}

// checkRestored restores a backup and checks what works afterwards.
func (p *process) checkRestored(t *testing.T, file string, made secretsOf, with bool) {
	t.Helper()
	p.stop()
	for _, name := range []string{"bridged.db-wal", "bridged.db-shm"} {
		if err := os.Remove(filepath.Join(p.env["DATA_DIR"], name)); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	if err := os.Rename(file, filepath.Join(p.env["DATA_DIR"], "bridged.db")); err != nil {
		t.Fatal(err)
	}
	p.start()
	if found := must(p.api.Search(within(t), bridge.SearchQuery{Q: "keep this"}))(t); len(found.Items) != 1 {
		t.Errorf("the restored store has %d messages, want 1", len(found.Items))
	}
	_, tokenErr := p.api.WithToken(made.token.Secret).OwnToken(within(t))
	_, webhookErr := p.api.Webhook(within(t), made.webhook)
	_, hookErr := p.api.Hook(within(t), made.hook)
	for what, err := range map[string]error{"token": tokenErr, "webhook": webhookErr, "hook": hookErr} {
		if (err == nil) != with {
			t.Errorf("with secrets: %v, the %s: %v", with, what, err)
		}
	}
	resp := must(http.Post("http://"+p.address+made.key, "text/plain", strings.NewReader("hello")))(t)
	if resp.Body.Close(); (resp.StatusCode == http.StatusNotFound) == with {
		t.Errorf("with secrets: %v, the hook's address: %d", with, resp.StatusCode)
	}
}

func TestReindex_NeedsTheBridgeStopped(t *testing.T) {
	t.Parallel()
	network, _ := newOwner(t, simnet.PhoneOptions{})
	p := startBridge(t, network)
	if out, err := p.command("reindex"); err == nil {
		t.Errorf("reindexed beside a running bridge: %s", out)
	}
	p.stop()
	if out, err := p.command("reindex"); err != nil {
		t.Errorf("reindex: %v\n%s", err, out)
	}
}

func TestDamagedDatabase_IsRefusedWithARemedy(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string][]byte{"emptied": nil, "overwritten": []byte("this is no database, whatever the name says")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			network, _ := newOwner(t, simnet.PhoneOptions{})
			p := startBridge(t, network)
			p.stop()
			for _, file := range []string{"bridged.db", "session.db"} {
				path := filepath.Join(p.env["DATA_DIR"], file)
				whole := must(os.ReadFile(path))(t)
				if err := os.WriteFile(path, damage, 0o600); err != nil {
					t.Fatal(err)
				}
				out, err := p.command("serve")
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
