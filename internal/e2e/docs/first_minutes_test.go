package docs

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// indentedBlock matches a block of a page, also one within a list.
	indentedBlock = regexp.MustCompile("(?ms)^ *```(?:sh|console)\n(.*?)^ *```$")
	// makesSecrets matches a line that writes a file of secrets.
	makesSecrets = regexp.MustCompile(`> \S*(?:\.env|\.creds)$`)
	// needsMore matches lines whose programs need an engine or a server.
	needsMore = regexp.MustCompile(`^(?:docker|kubectl|nsc) `)
)

// secretBlocks returns a page's blocks of commands that make files of secrets.
func secretBlocks(t *testing.T, page string) (blocks []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range indentedBlock.FindAllStringSubmatch(string(text), -1) {
		for line := range strings.Lines(block[1]) {
			if makesSecrets.MatchString(strings.TrimSpace(line)) {
				blocks = append(blocks, block[1])
				break
			}
		}
	}
	return blocks
}

// runBlock types a block into sh in a directory, up to what needs more than a shell, as a
// user whose files are readable by all.
func runBlock(t *testing.T, dir, block string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "deploy/kubernetes"), 0o755); err != nil {
		t.Fatal(err)
	}
	script := "umask 022\n"
	for line := range strings.Lines(block) {
		if line = strings.TrimSpace(line); !needsMore.MatchString(line) {
			script += line + "\n"
		}
	}
	cmd := exec.Command("sh", "-eu", "-c", script)
	cmd.Dir = dir
	if printed, err := cmd.CombinedOutput(); err != nil || len(printed) > 0 {
		t.Fatalf("%s%v\n%s", script, err, printed)
	}
}

// The commands that make files of secrets work in sh as printed, and the files are their
// owner's alone, also those that others could read before. A shell and Docker read from
// .env what was meant: a number with spaces was a command to the shell once.
func TestDocs_FilesOfSecretsArePrivateAndReadable(t *testing.T) {
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("the commands need openssl, which is not installed")
	}
	made := 0
	for _, page := range append(documents(t), "../../../CONTRIBUTING.md") {
		for _, block := range secretBlocks(t, page) {
			for _, earlier := range []bool{false, true} {
				dir, makesEnv := t.TempDir(), strings.Contains(block, "> .env")
				if earlier && makesEnv {
					if err := os.WriteFile(filepath.Join(dir, ".env"), nil, 0o644); err != nil {
						t.Fatal(err)
					}
				}
				runBlock(t, dir, block)
				wantPrivate(t, page, dir)
				if makesEnv {
					made++
					wantRead(t, page, dir)
				}
			}
		}
	}
	if made < 6 {
		t.Errorf("README, the installation and the trial make .env twice each here, but it was made %d times", made)
	}
}

// wantPrivate checks that no other user may read the files in a directory.
func wantPrivate(t *testing.T, page, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode().Perm() != 0o600 {
			t.Errorf("%s makes %s with the mode %o", page, path, info.Mode().Perm())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// wantRead checks what a shell, and Docker if it is installed, read from .env.
func wantRead(t *testing.T, page, dir string) {
	t.Helper()
	const number = "+1 555 123 4567"
	isToken := regexp.MustCompile(`^[0-9a-f]{48}$`)
	cmd := exec.Command("sh", "-eu", "-c", `. ./.env; printf '%s\n%s' "$BRIDGE_TOKEN" "$PHONE_NUMBER"`)
	cmd.Dir = dir
	printed, err := cmd.CombinedOutput()
	token, phone, _ := strings.Cut(string(printed), "\n")
	if err != nil || !isToken.MatchString(token) || phone != number {
		t.Errorf("%s: sh reads .env as %q: %v", page, printed, err)
	}
	if exec.Command("docker", "compose", "version").Run() != nil {
		t.Log("docker compose is not installed: how it reads .env is not tested")
		return
	}
	var project struct {
		Services map[string]struct{ Environment map[string]string }
	}
	compose := exec.Command("docker", "compose", "--project-directory", dir, "--file", "../../../docker-compose.yml", "config", "--format", "json")
	compose.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
	var notes bytes.Buffer
	compose.Stderr = &notes
	config, err := compose.Output()
	if err == nil {
		err = json.Unmarshal(config, &project)
	}
	if read := project.Services["bridged"].Environment; err != nil || read["BRIDGE_TOKEN"] != token || read["PHONE_NUMBER"] != number {
		t.Errorf("%s: docker compose reads .env as %q: %v\n%s", page, read, err, &notes)
	}
}
