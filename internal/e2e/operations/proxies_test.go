package operations

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/client"
	. "bridged/internal/e2e/harness"
)

// caddyOptions keep Caddy to the test: it has no port of its own for settings, and neither asks
// for certificates nor changes what the machine trusts.
const caddyOptions = `{
	admin off
	auto_https disable_redirects
	skip_install_trust
	storage file_system %s
}
import %s
`

// startCaddy runs Caddy with a file of deploy/ and its variables. It returns Caddy's directory and log.
func startCaddy(t *testing.T, file string, environ ...string) (dir string, said *ProcessLog) {
	t.Helper()
	caddy := program(t, "caddy")
	dir = t.TempDir()
	config := fmt.Sprintf(caddyOptions, dir, Must(filepath.Abs("../../../deploy/"+file))(t))
	if err := os.WriteFile(filepath.Join(dir, "Caddyfile"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	said = NewProcessLog()
	cmd := exec.Command(caddy, "run", "--adapter", "caddyfile", "--config", filepath.Join(dir, "Caddyfile"))
	cmd.Env = append(environ, "HOME="+dir)
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it has ended if the test failed
		if err := cmd.Wait(); err != nil {
			t.Errorf("caddy: %v\n%s", err, said)
		}
	})
	return dir, said
}

// startCaddyOfOne runs Caddy with deploy/caddy/Caddyfile before a bridge, and returns the ports of its
// two sites, the first of which has TLS, and what signs its certificate.
func startCaddyOfOne(t *testing.T, bridge string) (whole, below string, roots *x509.CertPool) {
	t.Helper()
	whole, below = FreePort(t), FreePort(t)
	dir, said := startCaddy(t, "caddy/Caddyfile", "BRIDGE_NAME=https://localhost:"+whole, "HOME_NAME=http://127.0.0.1:"+below, "BRIDGE_ADDRESS="+bridge)
	roots = x509.NewCertPool()
	Eventually(t, func() error {
		root, err := os.ReadFile(filepath.Join(dir, "pki/authorities/local/root.crt"))
		if err == nil && !roots.AppendCertsFromPEM(root) {
			err = fmt.Errorf("%q is no certificate", root)
		}
		if err != nil {
			return fmt.Errorf("%w: %s", err, said)
		}
		conn, err := tls.Dial("tcp", "localhost:"+whole, &tls.Config{RootCAs: roots})
		if err != nil {
			return err
		}
		return conn.Close()
	})
	return whole, below, roots
}

// behindCaddy tries the example for Caddy, run by Caddy: over TLS at a name of its own, and below a path.
func behindCaddy(t *testing.T, s CompatScene) {
	t.Helper()
	whole, below, roots := startCaddyOfOne(t, s.Address)
	through := s
	through.Process = behind(s.Process, t, "127.0.0.1:"+below)
	everything(through, t)
	logsOut(t, console(through, t))

	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	api := client.Over(transport, "https://localhost:"+whole, TestToken)
	last := Must(api.LastEvent(Within(t)))(t)
	Say(t, s.Friend, s.Owner.PN(), "over TLS")
	for event, err := range api.Events(Within(t), client.EventQuery{After: last, Types: []bridge.EventType{bridge.EventMessageCreated}}) {
		if err != nil || event.Message == nil || event.Message.Content != "over TLS" {
			t.Errorf("the stream has %v, %v", event, err)
		}
		break
	}
	id := s.UploadTo(t, "a.png", Portrait(t, 20, 20))
	var described struct{ URL string }
	if err := api.WithToken(s.Full).Call(Within(t), http.MethodGet, "/cloud/v21.0/"+id, nil, &described); err != nil || !strings.HasPrefix(described.URL, "https://localhost:"+whole+"/bridged/cloud/") {
		t.Errorf("the file is at %s, %v", described.URL, err)
	}
}

// OAuth's clients look for documents about a bridge below a path outside of that path.
func TestProxies_OAuth(t *testing.T) {
	t.Parallel()
	p := StartBridge(t, NewNetwork(t), "BASE_PATH=/bridged", "MCP=read", "MCP_OAUTH=true", "PUBLIC_URL=https://home.example.com")
	_, below, _ := startCaddyOfOne(t, p.Address)
	for path, want := range map[string]string{
		"/.well-known/oauth-authorization-server/bridged":         `"issuer":"https://home.example.com/bridged"`,
		"/.well-known/oauth-protected-resource/bridged/mcp":       `"resource":"https://home.example.com/bridged/mcp"`,
		"/bridged/.well-known/oauth-protected-resource/mcp":       `"resource":"https://home.example.com/bridged/mcp"`,
		"/.well-known/oauth-authorization-server/bridged/console": "",
	} {
		resp := Must(http.Get("http://127.0.0.1:" + below + path))(t)
		defer resp.Body.Close()
		if body := string(Must(io.ReadAll(resp.Body))(t)); want != "" && (resp.StatusCode != http.StatusOK || !strings.Contains(body, want)) || want == "" && body != "" {
			t.Errorf("%s: %d %s", path, resp.StatusCode, body)
		}
	}
}
