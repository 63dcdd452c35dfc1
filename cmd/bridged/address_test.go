package main

import (
	"bytes"
	"context"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// callers are the commands that call a running bridge, with arguments; local are the other commands.
var (
	callers = withExamples(map[string][]string{
		"pair": nil, "doctor": nil, "mcp": nil, "healthcheck": nil, "tail": {"--since", "0"},
		"import-chat":   {"address_test.go", "--chat", "Weekend"},
		"group picture": {"1203630@g.us", "address_test.go"}, "hooks preview": {"2", "testdata/payload.json"},
		"chatwoot backfill": {"--url", "http://127.0.0.1:1", "--account", "1", "--inbox", "1"},
	})
	local = []string{"config", "man", "serve", "demo", "backup", "restore", "reindex", "version"}
)

// withExamples adds the other commands that call a bridge, with the arguments of their first example.
func withExamples(callers map[string][]string) map[string][]string {
	for name, c := range everyCommand() {
		line, _, _ := strings.Cut(strings.TrimSpace(c.Example), "\n")
		if _, given := callers[name]; !given && callsBridge(c) {
			callers[name] = words(line)[1+len(strings.Fields(name)):]
		}
	}
	return callers
}

// everyCommand returns the commands that run, by their words on the command line.
func everyCommand() map[string]*cobra.Command {
	all := map[string]*cobra.Command{}
	for _, c := range allCommands() {
		if len(c.Commands()) == 0 || callsBridge(c) {
			all[strings.TrimPrefix(c.CommandPath(), "bridged ")] = c
		}
	}
	return all
}

func TestCommands_CallABridgeOrDoNot(t *testing.T) {
	for name := range everyCommand() {
		if _, calls := callers[name]; calls == slices.Contains(local, name) {
			t.Errorf("%s: decide whether it calls a running bridge, in callers or in local", name)
		}
	}
}

// answeringBridge refuses every request and reports it on the channel.
func answeringBridge(t *testing.T, start func(http.Handler) *httptest.Server) (*httptest.Server, <-chan string) {
	t.Helper()
	asked := make(chan string, 100)
	bridge := start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Method + " " + r.URL.Path
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		if _, err := io.WriteString(w, `{"error":"not with this token","code":"unauthorized"}`); err != nil {
			t.Log(err)
		}
	}))
	bridge.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(bridge.Close)
	return bridge, asked
}

// typed runs a command as typed, with a token and without the internet.
func typed(t *testing.T, name string, flags []string, variables ...string) (code int, output string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	environ := append([]string{
		"BRIDGE_TOKEN=a-token-of-some-length", "CHATWOOT_TOKEN=a-token", "LISTEN_ADDR=127.0.0.1:1", "PROXY_URL=http://127.0.0.1:1", "DATA_DIR=" + t.TempDir(),
	}, variables...)
	var printed bytes.Buffer
	code = run(ctx, slices.Concat(strings.Fields(name), callers[name], flags), environ, &printed, &printed)
	if ctx.Err() != nil {
		t.Errorf("%s does not end", name)
	}
	return code, printed.String()
}

// Every command that calls a bridge calls the one at BRIDGE_URL, or at --address, also over
// TLS.
func TestCommands_ObeyBridgeURL(t *testing.T) {
	starts := map[string]func(http.Handler) *httptest.Server{"http": httptest.NewServer}
	if runtime.GOOS == "linux" { // where a variable names the certificates to trust
		starts["https"] = httptest.NewTLSServer
	}
	for scheme, start := range starts {
		bridge, asked := answeringBridge(t, start)
		if scheme == "https" {
			file := filepath.Join(t.TempDir(), "ca.pem")
			if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: bridge.Certificate().Raw}), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("SSL_CERT_FILE", file)
		}
		if !strings.HasPrefix(bridge.URL, scheme+"://") {
			t.Fatalf("the bridge is at %s", bridge.URL)
		}
		other, wronglyAsked := answeringBridge(t, httptest.NewServer)
		for name := range callers {
			for way, settings := range map[string][2][]string{
				"BRIDGE_URL":                  {nil, {"BRIDGE_URL=" + bridge.URL}},
				"--address":                   {{"--address", bridge.URL + "/"}, {"BRIDGE_URL=" + other.URL}},
				"a BRIDGE_URL with BASE_PATH": {nil, {"BRIDGE_URL=" + bridge.URL + "/at/home/"}},
			} {
				code, output := typed(t, name, settings[0], settings[1]...)
				if code == 0 {
					t.Errorf("%s succeeds although %s refuses: %s", name, scheme, output)
				}
				if len(asked) == 0 {
					t.Errorf("%s does not call %s, which %s names: %s", name, bridge.URL, way, output)
				}
				for len(asked) > 0 {
					if request := <-asked; strings.Contains(request, " /at/home/") != strings.Contains(way, "BASE_PATH") {
						t.Errorf("%s calls %s, by %s", name, request, way)
					}
				}
			}
		}
		if len(wronglyAsked) > 0 {
			t.Errorf("--address does not take precedence over BRIDGE_URL: %s", <-wronglyAsked)
		}
	}
}

// One sentence says what is wrong with an address, whatever the command and the fault.
func TestCommands_ExplainAMalformedBridgeURL(t *testing.T) {
	const sentence = "BRIDGE_URL, or --address, must be an http:// or https:// address, such as https://bridge.example.com"
	for name := range callers {
		for _, address := range []string{"127.0.0.1:8080", "bridge.example.com", "ftp://bridge.example.com", "https://", "https://me:secret@bridge.example.com", "https://bridge.example.com/?q=1"} {
			for _, settings := range [][2][]string{{nil, {"BRIDGE_URL=" + address}}, {{"--address", address}, nil}} {
				code, output := typed(t, name, settings[0], settings[1]...)
				if want := map[bool]int{true: exitFailure, false: exitConfig}[name == "doctor"]; code != want || strings.Count(output, sentence) != 1 {
					t.Errorf("%s at %s ends with %d: %s", name, address, code, output)
				}
			}
		}
	}
}

// The help names the value of each flag in capitals, as in --since TIME.
func TestHelp_NamesTheValuesOfFlags(t *testing.T) {
	value := regexp.MustCompile(`^[A-Z]*$`)
	for name, c := range everyCommand() {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if shown, _ := pflag.UnquoteUsage(f); !value.MatchString(shown) {
				t.Errorf("%s --%s %s: write the name of its value in capitals and backquotes in the flag's help", name, f.Name, shown)
			}
		})
	}
}
