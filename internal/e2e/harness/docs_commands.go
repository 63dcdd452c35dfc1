package harness

import (
	"archive/zip"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ConsoleCommands has every command of such blocks, in README and the pages for operators: with what
// runs it, or why no test can. "demo" is run against the demo, with what follows it as a filter.
var ConsoleCommands = map[string]string{
	"bridged import-chat 'WhatsApp Chat - Sofía.zip' --chat +34600100101 --timezone Europe/Madrid":                                               "demo",
	"bridged import-chat friends.zip --chat 'Old friends' --name 'Sofi=+34600100101' --name 'My old name=me' --timezone Europe/Madrid --dry-run": "demo",
	"bridged imports list":                "demo",
	"bridged tail --types all --since 1h": "demo | head -n 3",
	"bridged tail":                        "TestShell_TailFollows",
	"bridged tail --chat 'Wandern am Samstag 🥾' --json | jq -r .message.content": "TestShell_TailFollows",
	"go run ./cmd/bridged demo":    "TestDemo_ItsLinesWorkAsPrinted",
	"go test ./...":                "this runs it",
	"touch .env && chmod 600 .env": "TestDocs_FilesOfSecretsArePrivateAndReadable",
	`printf "BRIDGE_TOKEN=%s\nPHONE_NUMBER='%s'\n" "$(openssl rand -hex 24)" "+1 555 123 4567" > .env`:                      "TestDocs_FilesOfSecretsArePrivateAndReadable",
	`printf "BRIDGE_TOKEN=%s\nENABLE_SEND=true\nPHONE_NUMBER='%s'\n" "$(openssl rand -hex 24)" "+1 555 123 4567" > .env`:    "TestDocs_FilesOfSecretsArePrivateAndReadable",
	"touch deploy/kubernetes/secrets.env deploy/kubernetes/nats.creds":                                                      "TestDocs_FilesOfSecretsArePrivateAndReadable",
	"chmod 600 deploy/kubernetes/secrets.env deploy/kubernetes/nats.creds":                                                  "TestDocs_FilesOfSecretsArePrivateAndReadable",
	`printf 'bridge-token=%s' "$(openssl rand -hex 24)" > deploy/kubernetes/secrets.env`:                                    "TestDocs_FilesOfSecretsArePrivateAndReadable",
	"docker compose exec bridged bridged pair":                                                                              "TestCommands",
	"docker compose exec bridged bridged doctor":                                                                            "TestDoctor_FindsAHealthyBridge",
	"docker compose exec -T bridged bridged backup - > bridged.db":                                                          "TestRecipes_BackupAndRestore",
	`0 7 * * * bridged send 120363025246125486@g.us "$(df -h / | tail -1)" --key "disk-$(date +\%F)"`:                       "a line of a crontab: TestCommands sends with a key",
	"BRIDGE_URL=http://127.0.0.1:8080":                                                                                      "a line of a crontab",
	"BRIDGE_TOKEN_FILE=/etc/bridged/token":                                                                                  "a line of a crontab",
	`docker compose stop`:                                                                                                   "TestRecipes_BackupAndRestore",
	`docker compose run --rm -T bridged restore - < bridged.db`:                                                             "TestRecipes_BackupAndRestore",
	`docker compose exec bridged bridged status`:                                                                            "TestRecipes_BackupAndRestore",
	`docker compose exec -T bridged bridged backup - --with-secrets > before.db`:                                            "TestRecipes_Upgrade",
	`docker compose build --pull`:                                                                                           "TestRecipes_Upgrade",
	`docker run --rm --volumes-from "$(docker compose ps --all --quiet bridged)" busybox tar cf - /data > bridged-data.tar`: "TestRecipes_AnotherMachine",
	`scp bridged-data.tar docker-compose.yml .env new.example.com:bridged/`:                                                 "TestRecipes_AnotherMachine",
	`docker compose create`: "TestRecipes_AnotherMachine",
	`docker run --rm --interactive --volumes-from "$(docker compose ps --all --quiet bridged)" busybox tar xf - -C / < bridged-data.tar`: "TestRecipes_AnotherMachine",
	"docker compose up --detach":                                    "needs a container engine",
	"docker compose -f deploy/compose.fleet.yml up --build":         "needs a container engine",
	"export NATS_URL=nats://fleet:only-for-the-demo@127.0.0.1:4222": "for the next one",
	`nats request bridged.15550100200.api '{"method": "GET", "path": "/api/chats", "headers": {"Authorization": "Bearer only-for-the-demo"}}'`: "needs the client of NATS: TestFleet_RequestsComeThroughTheOneWay asks the same",
	"nsc generate creds --account FLEET --name bridged > deploy/kubernetes/nats.creds":                                                         "needs the tools of NATS",
	"kubectl apply -k deploy/kubernetes": "needs a cluster",
	`kubectl exec --stdin --tty bridged-0 -- /usr/local/bin/bridged pair --phone "+1 555 010 0200"`: "needs a cluster",
}

// RunConsoleCommands runs the commands that ConsoleCommands leaves to the demo.
func (d *demoRun) RunConsoleCommands(address string) {
	d.t.Helper()
	for name, text := range map[string]string{
		"WhatsApp Chat - Sofía.zip": "21/11/2026, 10:15 - Sofía Ramírez: ¿Te acuerdas de la excursión?\n",
		"friends.zip":               "21/11/2026, 10:15 - Sofi: hola\n21/11/2026, 10:16 - My old name: hi\n",
	} {
		var file bytes.Buffer
		w := zip.NewWriter(&file)
		_, err := Must(w.Create("_chat.txt"))(d.t).Write([]byte(text))
		for _, err := range []error{err, w.Close(), os.WriteFile(filepath.Join(d.Dir, name), file.Bytes(), 0o600)} {
			if err != nil {
				d.t.Fatal(err)
			}
		}
	}
	for command, by := range ConsoleCommands {
		filter, isDemo := strings.CutPrefix(by, "demo")
		if !isDemo {
			continue
		}
		cmd := exec.CommandContext(Within(d.t), "sh", "-c", command+filter)
		cmd.Dir, cmd.Env = d.Dir, append(os.Environ(), "BRIDGE_URL="+address, "BRIDGE_TOKEN="+DocsToken)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) == 0 {
			d.t.Errorf("%s: %v\n%s", command, err, out)
		}
	}
}
