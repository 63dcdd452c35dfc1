package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-chi/chi/v5"
	"github.com/spf13/cobra"

	"bridged/docs"
	"bridged/internal/api/apitest"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // the tests hold little and allocate much
	os.Exit(m.Run())
}

// withoutCommand has the operations of the API that no example of a command calls, and why.
var withoutCommand = map[string]string{
	"listGroupMessages":      "listMessages lists any chat",
	"listIndividualMessages": "as listGroupMessages",
	"getHealth":              "bridged healthcheck calls it",
	"getMetrics":             "is for Prometheus",
	"getDocument":            "is for programmers",
	"getDocumentAsJSON":      "is for programmers",
	"requestPairingCode":     "bridged pair calls it",
	"answerPasskey":          "needs a browser: bridged pair and docs/operations.md say how",
	"getToken":               "bridged token list lists the same",
	"getScheduled":           "bridged scheduled list --json shows the same",
	"deliver":                "is for other programs, with the address of a hook",
}

// interactive has the commands that need no example.
var interactive = []string{"pair", "doctor", "mcp"}

// notRun has the commands whose examples are not run: the one follows the log until it is interrupted, the other
// also calls Chatwoot.
var notRun = []string{"tail", "backfill"}

// exampleCodes has the exit codes of examples that the document's answers make fail.
var exampleCodes = map[string]int{
	`bridged contacts --check "+1 555 765-4321"`:              exitNotFound, // one number is not on WhatsApp
	"bridged group create Readers +15557654321 +447700900123": exitFailure,  // one person was not added
	"bridged imports cancel 8f2b6c0d1e3a4957":                 exitFailure,  // it has ended
	"bridged webhooks test 3":                                 exitFailure,  // the receiver refuses it
}

// TestCommands_ReachEveryOperation runs the example of each command against a bridge that gives the
// document's own answers. Together they make each of its requests.
func TestCommands_ReachEveryOperation(t *testing.T) {
	bridge := newDocumentedBridge(t)
	for _, c := range allCommands() {
		if c.Flags().Lookup("token-file") != nil && c.Example == "" && !slices.Contains(interactive, c.Name()) {
			t.Errorf("%s has no example", c.CommandPath())
		}
		if !callsBridge(c) || slices.Contains(notRun, c.Name()) {
			continue
		}
		for line := range strings.Lines(c.Example) {
			line = strings.TrimSpace(line)
			if !strings.HasPrefix(line, c.CommandPath()+" ") && line != c.CommandPath() {
				t.Errorf("the example of %s is %s", c.CommandPath(), line)
			}
			bridge.runs(t, line)
		}
	}
	for id := range bridge.operations {
		_, isExcepted := withoutCommand[id]
		switch {
		case !bridge.called[id] && !isExcepted:
			t.Errorf("no example of a command calls %s: add a command, or a reason to withoutCommand", id)
		case bridge.called[id] && isExcepted:
			t.Errorf("an example calls %s: it needs no reason in withoutCommand", id)
		}
	}
	for id := range withoutCommand {
		if !bridge.operations[id] {
			t.Errorf("the API has no operation %s", id)
		}
	}
}

// allCommands returns the commands that do something, in their order.
func allCommands() []*cobra.Command {
	var all []*cobra.Command
	var add func(c *cobra.Command)
	add = func(c *cobra.Command) {
		if c.HasParent() && !c.Hidden {
			all = append(all, c)
		}
		for _, child := range c.Commands() {
			add(child)
		}
	}
	add((&environment{}).newRoot())
	return all
}

// callsBridge reports whether a command calls a bridge, and has examples of that.
func callsBridge(c *cobra.Command) bool {
	return c.Flags().Lookup("token-file") != nil && c.Example != ""
}

var update = flag.Bool("update", false, "write the table into the page")

// TestCommands_AreInTheTable compares the table of docs/shell.md with the commands that use a running bridge.
func TestCommands_AreInTheTable(t *testing.T) {
	table := new(strings.Builder)
	table.WriteString("| | Commands |\n|---|---|\n")
	root := (&environment{}).newRoot()
	for _, group := range root.Groups()[1 : len(root.Groups())-1] {
		var uses []string
		for _, c := range root.Commands() {
			if c.GroupID != group.ID {
				continue
			}
			shown := "`" + c.Use + "`"
			var children []string
			for _, child := range c.Commands() {
				children = append(children, "`"+child.Name()+"`")
			}
			if len(children) > 0 {
				shown += " (" + strings.Join(children, ", ") + ")"
			}
			uses = append(uses, shown)
		}
		fmt.Fprintf(table, "| %s | %s |\n", strings.TrimSuffix(group.Title, ":"), strings.Join(uses, ", "))
	}
	if err := docs.CheckTable("../../docs/shell.md", "commands", table.String(), *update); err != nil {
		t.Error(err)
	}
}

// documentedBridge answers as the examples of the OpenAPI document do, and checks each request against it.
type documentedBridge struct {
	*httptest.Server
	operations map[string]bool // by their ids

	mu     sync.Mutex
	called map[string]bool
}

func newDocumentedBridge(t *testing.T) *documentedBridge {
	t.Helper()
	doc, err := apitest.Document()
	if err != nil {
		t.Fatal(err)
	}
	b := &documentedBridge{operations: make(map[string]bool), called: make(map[string]bool)}
	examples := chi.NewRouter()
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			b.operations[operation.OperationID] = true
			examples.Method(method, path, b.example(operation))
		}
	}
	checked := apitest.Checked(t, answersOf(examples))
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		resp, err := checked.RoundTrip(r)
		if err != nil {
			t.Error(err)
			return
		}
		defer resp.Body.Close()
		maps.Copy(w.Header(), resp.Header)
		w.WriteHeader(resp.StatusCode)
		if _, err := io.Copy(w, resp.Body); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(b.Close)
	return b
}

// answersOf returns a transport that calls a handler.
func answersOf(h http.Handler) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		resp := w.Result()
		resp.Request = r
		return resp, nil
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// example answers with the example of the operation's first success.
func (b *documentedBridge) example(operation *openapi3.Operation) http.HandlerFunc {
	responses := operation.Responses.Map()
	status := slices.Min(slices.Collect(maps.Keys(responses)))
	content := responses[status].Value.Content
	return func(w http.ResponseWriter, _ *http.Request) {
		b.mu.Lock()
		b.called[operation.OperationID] = true
		b.mu.Unlock()
		code, _ := strconv.Atoi(status)
		if media := content["application/json"]; media != nil {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			_ = json.NewEncoder(w).Encode(media.Example)
			return
		}
		for contentType := range content {
			w.Header().Set("Content-Type", strings.ReplaceAll(contentType, "*", "jpeg"))
		}
		const body = "some bytes"
		for name, value := range map[string]string{
			"Accept-Ranges": "bytes", "Content-Length": strconv.Itoa(len(body)), "Content-Disposition": `inline; filename="photo.jpg"`, "ETag": `"` + strings.Repeat("0", 64) + `"`,
			"Last-Modified": "Sat, 21 Nov 2026 08:15:30 GMT", "X-Messenger-Media-Type": "image", "Content-Security-Policy": "sandbox",
		} {
			w.Header().Set(name, value)
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// word matches a word of a command line.
var word = regexp.MustCompile(`"[^"]*"|\S+`)

// words returns the words of a command line without their quotes.
func words(line string) []string {
	found := word.FindAllString(line, -1)
	for i, one := range found {
		found[i] = strings.Trim(one, `"`)
	}
	return found
}

// runs runs a command line as it is and with --json, which has to print JSON alone.
func (b *documentedBridge) runs(t *testing.T, line string) {
	t.Helper()
	args := words(line)[1:]
	environ := []string{"BRIDGE_URL=" + b.URL, "BRIDGE_TOKEN=a-token-of-some-length"}
	for _, args := range [][]string{args, append(slices.Clone(args), "--json")} {
		t.Chdir(t.TempDir())
		for _, name := range []string{"report.pdf", "readers.png", "export.zip", "front.jpg", "back.jpg", "running.mp4"} {
			if err := os.WriteFile(name, []byte("some bytes"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile("payload.json", []byte(`{"text":"hello"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, notes bytes.Buffer
		if code := run(t.Context(), args, environ, &out, &notes); code != exampleCodes[line] {
			t.Errorf("%s ended with %d: %s", strings.Join(args, " "), code, notes.String())
		}
		if args[len(args)-1] != "--json" {
			continue
		}
		for printed := range strings.Lines(out.String()) {
			if !json.Valid([]byte(printed)) {
				t.Errorf("%s printed %q", strings.Join(args, " "), printed)
			}
		}
		if out.Len() == 0 && exampleCodes[line] == 0 {
			t.Errorf("%s printed nothing: %s", strings.Join(args, " "), notes.String())
		}
	}
}
