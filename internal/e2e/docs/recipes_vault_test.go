package docs

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	. "bridged/internal/e2e/harness"
)

// vault serves the HTTP API of a password manager on this machine.
type vault struct {
	*httptest.Server
	answers map[string]vaultAnswer // by item
}

type vaultAnswer struct {
	status int
	body   string
}

// newVault serves items as the API documents it: an envelope with success, and
// below data the value, or a message.
func newVault(t *testing.T) *vault {
	t.Helper()
	v := &vault{answers: map[string]vaultAnswer{
		"token":   {http.StatusOK, `{"success":true,"data":{"object":"string","data":"a-token-of-the-vault-'\"$x` + "`y`" + `\\ 0123"}}`},
		"signing": {http.StatusOK, `{"success":true,"data":{"object":"string","data":"whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"}}`},
		"locked":  {http.StatusUnauthorized, `{"success":false,"message":"Vault is locked."}`},
		"missing": {http.StatusNotFound, `{"success":false,"message":"Not found."}`},
		"refused": {http.StatusBadRequest, `{"success":false,"message":"More than one result was found."}`},
		"soft":    {http.StatusOK, `{"success":false,"message":"Not found.","data":{"data":"do not use"}}`},
		"empty":   {http.StatusOK, `{"success":true,"data":{"object":"string","data":""}}`},
		"null":    {http.StatusOK, `{"success":true,"data":{"object":"string","data":null}}`},
		"none":    {http.StatusOK, `{"success":true,"data":null}`},
		"number":  {http.StatusOK, `{"success":true,"data":{"data":7}}`},
		"html":    {http.StatusOK, `<html>a login page</html>`},
		"nothing": {http.StatusOK, ``},
		"torn":    {http.StatusOK, `{"success":true,"data":{"object":"str`},
	}}
	v.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, ok := v.answers[strings.TrimPrefix(r.URL.Path, "/object/password/")]
		if !ok || r.Method != http.MethodGet {
			t.Errorf("%s %s is no call of the vault's API", r.Method, r.URL.Path)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(answer.status)
		_, _ = fmt.Fprint(w, answer.body) // fails only if the script is gone
	}))
	t.Cleanup(v.Close)
	return v
}

// run runs the script with a command that prints its environment.
func (v *vault) run(t *testing.T, settings ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, errs strings.Builder
	cmd := exec.CommandContext(Within(t), "../../../examples/with-vault.sh", "sh", "-c", `printf 'started %s|%s|%s' "$BRIDGE_TOKEN" "$WEBHOOK_SECRET" "$1"`, "sh", "an argument")
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "VAULT_URL=" + v.URL, "http_proxy=http://127.0.0.1:1"}, settings...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// The script starts a program with the vault's secrets, or else fails with the
// reason.
func TestRecipes_SecretsOfAVault(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"sh", "curl", "jq"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("the script needs %s, which is not installed", program)
		}
	}
	v := newVault(t)
	const token, signing = "a-token-of-the-vault-'\"$x`y`\\ 0123", "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"
	for settings, want := range map[string]string{
		"BRIDGE_TOKEN_ITEM=token":                             "started " + token + "||an argument",
		"BRIDGE_TOKEN_ITEM=token WEBHOOK_SECRET_ITEM=signing": "started " + token + "|" + signing + "|an argument",
	} {
		if out, errs, err := v.run(t, strings.Fields(settings)...); err != nil || out != want || errs != "" {
			t.Errorf("%s: %q, %q, %v; want %q", settings, out, errs, err, want)
		}
	}
	fails := func(why string, settings ...string) {
		t.Helper()
		out, errs, err := v.run(t, settings...)
		if err == nil || out != "" || !strings.Contains(errs, why) {
			t.Errorf("%v: %q, %q, %v; want a failure that says %q", settings, out, errs, err, why)
		}
		if strings.Contains(errs, token) || strings.Contains(errs, "do not use") {
			t.Errorf("%v: it shows a secret: %q", settings, errs)
		}
	}
	for item := range v.answers {
		if item == "token" || item == "signing" {
			continue
		}
		fails("the vault gives no secret for "+item+": is it unlocked?", "BRIDGE_TOKEN_ITEM="+item)
		fails("the vault gives no secret for "+item+": is it unlocked?", "BRIDGE_TOKEN_ITEM=token", "WEBHOOK_SECRET_ITEM="+item)
	}
	fails("401", "BRIDGE_TOKEN_ITEM=locked")
	fails("404", "BRIDGE_TOKEN_ITEM=missing")
	fails("BRIDGE_TOKEN_ITEM")
	v.Close()
	fails("the vault gives no secret for token", "BRIDGE_TOKEN_ITEM=token")
}

// TestRecipes_TheScriptIsShort: the page says that it has four lines.
func TestRecipes_TheScriptIsShort(t *testing.T) {
	t.Parallel()
	if lines := strings.Count(string(Must(os.ReadFile("../../../examples/with-vault.sh"))(t)), "\n"); lines != 4 {
		t.Errorf("the script has %d lines", lines)
	}
}
