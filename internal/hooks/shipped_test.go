package hooks

import (
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the texts that payloads are shown as")

// Payloads of the shape that the services document become the texts beside them.
func TestShipped_ShowWhatHappened(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.json")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d payloads: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimPrefix(file, "testdata/"), func(t *testing.T) {
			got := renderFile(t, file)
			golden := strings.TrimSuffix(file, ".json") + ".txt"
			if *update {
				if err := os.WriteFile(golden, []byte(got+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.TrimSuffix(string(want), "\n"), got); diff != "" {
				t.Errorf("want (-), got (+):\n%s", diff)
			}
		})
	}
}

// renderFile renders a payload with the template that its directory is named
// after, and the event that its name begins with.
func renderFile(t *testing.T, file string) string {
	t.Helper()
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	service := filepath.Base(filepath.Dir(file))
	event, _, _ := strings.Cut(filepath.Base(file), ".")
	header := http.Header{"Content-Type": {"application/json"}}
	switch service {
	case "gitea":
		header.Set("X-Gitea-Event", event)
	case "github":
		header.Set("X-GitHub-Event", event)
	}
	return render(t, service, header, body)
}

// render returns the text of a body.
func render(t *testing.T, source string, header http.Header, body []byte) string {
	t.Helper()
	template, err := Parse(source)
	if err != nil {
		t.Fatal(err)
	}
	payload, err := template.Payload(header, body)
	if err != nil {
		t.Fatal(err)
	}
	text, err := template.Render(payload, header)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Every template that is shipped is shown by a payload, and makes do with one
// that has nothing in it.
func TestShipped_EachHasAPayload(t *testing.T) {
	shown := map[string]bool{"text": true}
	files, err := filepath.Glob("testdata/*/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		service := filepath.Base(filepath.Dir(file))
		event, _, _ := strings.Cut(filepath.Base(file), ".")
		shown[service], shown[service+"/"+event] = true, true
	}
	for name, template := range shipped() {
		if !slices.Contains(Names(), name) || !shown[name] {
			t.Errorf("%s is shown by no payload", name)
		}
		for event := range template.byEvent {
			if !shown[name+"/"+event] && event != "action_run_success" {
				t.Errorf("%s of %s is shown by no payload", event, name)
			}
			if _, err := template.Render(map[string]any{}, http.Header{"X-Gitea-Event": {event}}); err != nil {
				t.Errorf("%s of %s: %v", event, name, err)
			}
		}
		if template.always != nil {
			if _, err := template.Render(map[string]any{}, http.Header{}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestShipped_SayNothingOfOtherEvents(t *testing.T) {
	header := http.Header{"X-Gitea-Event": {"wiki"}}
	if text := render(t, "gitea", header, []byte(`{"action":"created"}`)); text != "" {
		t.Errorf("got %q", text)
	}
}

func TestText_IsTheBodyAsItStands(t *testing.T) {
	for kind, body := range map[string]string{
		"":                                  "*Backup* done",
		"application/x-www-form-urlencoded": "disk=full & *hot*",
		"application/json":                  `{"a":1}`,
	} {
		header := http.Header{}
		if kind != "" {
			header.Set("Content-Type", kind)
		}
		if got := render(t, "text", header, []byte(body)); got != body {
			t.Errorf("%s: got %q, want %q", kind, got, body)
		}
	}
}
