package e2e

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// consoleBlock matches a block whose commands the pages' test does not run as they are printed.
var consoleBlock = regexp.MustCompile("(?ms)^ *```console\n(.*?)^ *```$")

// consoleCommands has every command of such blocks, in README and the pages for operators: with what
// runs it, or why no test can. "demo" is run against the demo, with what follows it as a filter.
var consoleCommands = map[string]string{
	"bridged import-chat 'WhatsApp Chat - Sofía.zip' --chat +34600100101":                                               "demo",
	"bridged import-chat 'WhatsApp Chat - Sofía.zip' --chat +34600100101 --timezone Europe/Madrid":                      "demo",
	"bridged import-chat friends.zip --chat 'Old friends' --name 'Sofi=+34600100101' --name 'My old name=me' --dry-run": "demo",
	"bridged tail --types all --since 1h":                                                                               "demo | head -n 3",
	"bridged tail":                                                                                                      "TestShell_TailFollows",
	"bridged tail --chat 'Wandern am Samstag 🥾' --json | jq -r .message.content":                                        "TestShell_TailFollows",
	"go run ./cmd/bridged demo":                                                                                         "TestDemo_ItsLinesWorkAsPrinted",
	"go test ./...":                                                                                                     "this runs it",
	"touch .env && chmod 600 .env":                                                                                      "TestDocs_FilesOfSecretsArePrivateAndReadable",
	`printf "BRIDGE_TOKEN=%s\nPHONE_NUMBER='%s'\n" "$(openssl rand -hex 24)" "+1 555 123 4567" > .env`:                  "TestDocs_FilesOfSecretsArePrivateAndReadable",
	`printf "BRIDGE_TOKEN=%s\nENABLE_SEND=true\nPHONE_NUMBER='%s'\n" "$(openssl rand -hex 24)" "+1 555 123 4567" > .env`:                       "TestDocs_FilesOfSecretsArePrivateAndReadable",
	"touch deploy/kubernetes/secrets.env deploy/kubernetes/nats.creds":                                                                         "TestDocs_FilesOfSecretsArePrivateAndReadable",
	"chmod 600 deploy/kubernetes/secrets.env deploy/kubernetes/nats.creds":                                                                     "TestDocs_FilesOfSecretsArePrivateAndReadable",
	`printf 'bridge-token=%s' "$(openssl rand -hex 24)" > deploy/kubernetes/secrets.env`:                                                       "TestDocs_FilesOfSecretsArePrivateAndReadable",
	"docker compose exec bridged bridged pair":                                                                                                 "TestCommands",
	"docker compose exec bridged bridged doctor":                                                                                               "TestDoctor_FindsAHealthyBridge",
	"docker compose exec bridged bridged backup /data/backup.db":                                                                               "TestBackup_WhileRunningIsCompleteAndRestorable",
	`0 7 * * * bridged send 120363025246125486@g.us "$(df -h / | tail -1)" --key "disk-$(date +\%F)"`:                                          "a line of a crontab: TestCommands sends with a key",
	"BRIDGE_URL=http://127.0.0.1:8080":                                                                                                         "a line of a crontab",
	"BRIDGE_TOKEN_FILE=/etc/bridged/token":                                                                                                     "a line of a crontab",
	"docker compose up --detach":                                                                                                               "needs a container engine",
	"docker compose cp bridged:/data/backup.db .":                                                                                              "needs a container engine",
	"docker compose -f deploy/compose.fleet.yml up --build":                                                                                    "needs a container engine",
	"export NATS_URL=nats://fleet:only-for-the-demo@127.0.0.1:4222":                                                                            "for the next one",
	`nats request bridged.15550100200.api '{"method": "GET", "path": "/api/chats", "headers": {"Authorization": "Bearer only-for-the-demo"}}'`: "needs the client of NATS: TestFleet_RequestsComeThroughTheOneDoor asks the same",
	"nsc generate creds --account FLEET --name bridged > deploy/kubernetes/nats.creds":                                                         "needs the tools of NATS",
	"kubectl apply -k deploy/kubernetes":                                                                                                       "needs a cluster",
	`kubectl exec --stdin --tty bridged-0 -- /usr/local/bin/bridged pair --phone "+1 555 010 0200"`:                                            "needs a cluster",
}

// commandPages are those whose commands consoleCommands has.
var commandPages = []string{"../../README.md", "../../docs/shell.md", "../../docs/operations.md"}

// A command that is new on a page needs a test, or a reason that there is none.
func TestDocs_EveryCommandIsRunOrSaysWhyNot(t *testing.T) {
	tests := slices.Concat(testsByDirectory(t)["internal/e2e"], testsByDirectory(t)["cmd/bridged"])
	found := make(map[string]bool)
	for _, page := range commandPages {
		text := must(os.ReadFile(page))(t)
		for _, block := range consoleBlock.FindAllSubmatch(text, -1) {
			for line := range strings.Lines(string(block[1])) {
				command := strings.TrimSpace(line)
				if command == "" {
					continue
				}
				found[command] = true
				by, known := consoleCommands[command]
				if !known {
					t.Errorf("%s: no test runs %q: add it to consoleCommands", page, command)
				}
				if strings.HasPrefix(by, "Test") && !slices.Contains(tests, by) {
					t.Errorf("%s should run %q, and does not exist", by, command)
				}
			}
		}
	}
	for command := range consoleCommands {
		if !found[command] {
			t.Errorf("no page has the command %q any more", command)
		}
	}
}

// runConsoleCommands runs the commands that consoleCommands leaves to the demo.
func (d *demoRun) runConsoleCommands(address string) {
	d.t.Helper()
	for name, text := range map[string]string{
		"WhatsApp Chat - Sofía.zip": "21/11/2026, 10:15 - Sofía Ramírez: ¿Te acuerdas de la excursión?\n",
		"friends.zip":               "21/11/2026, 10:15 - Sofi: hola\n21/11/2026, 10:16 - My old name: hi\n",
	} {
		var file bytes.Buffer
		w := zip.NewWriter(&file)
		_, err := must(w.Create("_chat.txt"))(d.t).Write([]byte(text))
		for _, err := range []error{err, w.Close(), os.WriteFile(filepath.Join(d.dir, name), file.Bytes(), 0o600)} {
			if err != nil {
				d.t.Fatal(err)
			}
		}
	}
	for command, by := range consoleCommands {
		filter, isDemo := strings.CutPrefix(by, "demo")
		if !isDemo {
			continue
		}
		cmd := exec.CommandContext(within(d.t), "sh", "-c", command+filter)
		cmd.Dir, cmd.Env = d.dir, append(os.Environ(), "BRIDGE_URL="+address, "BRIDGE_TOKEN="+docsToken)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) == 0 {
			d.t.Errorf("%s: %v\n%s", command, err, out)
		}
	}
}

// inlineCommand matches a command that a page names in its text.
var inlineCommand = regexp.MustCompile("`bridged ([a-z-]+)")

// TestDocs_NameTheCommandsThatThereAre: those of the program are on the page for operators, and pages name no other.
func TestDocs_NameTheCommandsThatThereAre(t *testing.T) {
	help := string(must(exec.Command("bridged", "help").Output())(t))
	var names []string
	for _, row := range regexp.MustCompile(`(?m)^  ([a-z-]+) {2,}\S`).FindAllStringSubmatch(help, -1) {
		names = append(names, row[1])
	}
	if len(names) < 20 {
		t.Fatalf("the help lists %d commands:\n%s", len(names), help)
	}
	operations := string(must(os.ReadFile("../../docs/operations.md"))(t))
	for _, name := range names {
		if !regexp.MustCompile("`(?:bridged )?" + name + "[ `]").MatchString(operations) {
			t.Errorf("docs/operations.md does not name the command %s", name)
		}
	}
	for _, page := range documents(t) {
		for _, named := range inlineCommand.FindAllStringSubmatch(string(must(os.ReadFile(page))(t)), -1) {
			if !slices.Contains(append(names, "help"), named[1]) {
				t.Errorf("%s names the command %s, which does not exist", page, named[1])
			}
		}
	}
}

// TestDocs_HaveOneFigureForSearch: README repeats the medians of the table of measurements.
func TestDocs_HaveOneFigureForSearch(t *testing.T) {
	table := string(must(os.ReadFile("../../docs/performance.md"))(t))
	_, table, ok := strings.Cut(table, "| 1,000,000 messages, ms | p50 | p99 |")
	if !ok {
		t.Fatal("docs/performance.md has no table of searches")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	least, most := 1e9, 0.0
	for _, row := range regexp.MustCompile(`(?m)^\| [^|]+\| ([^|]+) \|`).FindAllStringSubmatch(table, -1) {
		for _, number := range regexp.MustCompile(`\d+(?:\.\d+)?`).FindAllString(row[1], -1) {
			var ms float64
			if _, err := fmt.Sscan(number, &ms); err != nil {
				t.Fatal(err)
			}
			least, most = min(least, ms), max(most, ms)
		}
	}
	want := fmt.Sprintf("%.1f to %.0f ms (median)", least, most)
	if !strings.Contains(string(must(os.ReadFile("../../README.md"))(t)), want) {
		t.Errorf("README does not say that searches take %s", want)
	}
}
