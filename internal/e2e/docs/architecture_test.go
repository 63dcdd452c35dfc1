package docs

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// goPackage describes a package of this module, as go list prints it.
type goPackage struct {
	ImportPath string
	Dir        string
	GoFiles    []string // without tests
	Imports    []string // without those of tests
}

const (
	module    = "bridged/"
	whatsmeow = "go.mau.fi/whatsmeow"
	libsignal = "go.mau.fi/libsignal"
	protobuf  = "google.golang.org/protobuf"
	sqlDriver = "modernc.org/sqlite"
	sqlite    = "zombiezen.com/go/sqlite"

	fuse       = "github.com/hanwen/go-fuse/v2"
	natsClient = "github.com/nats-io/nats.go"
	natsServer = "github.com/nats-io/nats-server"
)

// TestArchitecture checks the imports of our packages against the table [ours].
func TestArchitecture(t *testing.T) {
	t.Parallel()
	packages := listPackages(t)
	for _, p := range packages {
		name := strings.TrimPrefix(p.ImportPath, module)
		t.Run(name, func(t *testing.T) {
			for _, imported := range p.Imports {
				if !allowed(name, imported) {
					t.Errorf("%s imports %s", name, imported)
				}
			}
		})
	}
	for needed := range ours {
		if !slices.ContainsFunc(packages, func(p goPackage) bool { return p.ImportPath == module+needed }) {
			t.Errorf("there is no package %s", needed)
		}
	}
}

// TestArchitecture_OnePackageReachesIntoWhatsmeow: only one package uses its dangerous
// methods, its device and stores, its tables in session.db and the formats of its
// log.
func TestArchitecture_OnePackageReachesIntoWhatsmeow(t *testing.T) {
	t.Parallel()
	reached := regexp.MustCompile(`DangerousInternals|database/sql|whatsmeow_[a-z]|\b(cli|Client)\.Store\.[A-Z]|waLog\.`)
	err := filepath.WalkDir("../../wa", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || filepath.Dir(path) == filepath.Join("../..", "wa", "session") {
			return err
		}
		source, err := os.ReadFile(path)
		for n, line := range strings.Split(string(source), "\n") {
			if found := reached.FindString(line); found != "" {
				t.Errorf("%s:%d has %s, which belongs into internal/wa/session", path, n+1, found)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// ours lists the packages of this module that each package may import. cmd/bridged
// may import all; besides it, only demo, bench and interop/network may import the
// simulated network.
var ours = map[string][]string{
	"migrations":                {},
	"internal/bridge":           {},
	"internal/dbfile":           {"internal/bridge"},
	"internal/wa":               {"internal/bridge", "internal/dbfile", "internal/wa/convert", "internal/wa/groups", "internal/wa/history", "internal/wa/offline", "internal/wa/sending", "internal/wa/session"},
	"internal/vcard":            {},
	"internal/wa/convert":       {"internal/bridge", "internal/vcard"},
	"internal/wa/session":       {"internal/bridge", "internal/dbfile", "internal/wa/convert"},
	"internal/wa/history":       {"internal/bridge", "internal/wa/convert", "internal/wa/session"},
	"internal/wa/offline":       {"internal/bridge"},
	"internal/wa/sending":       {"internal/bridge", "internal/wa/convert", "internal/wa/groups", "internal/wa/session"},
	"internal/wa/groups":        {"internal/bridge", "internal/wa/convert", "internal/wa/session"},
	"internal/store":            {"internal/bridge", "internal/dbfile", "internal/folding", "internal/search", "internal/sqlite", "internal/store/columns", "internal/store/people", "internal/store/read", "internal/store/settings", "internal/store/storefile"},
	"internal/store/columns":    {"internal/bridge", "internal/store/storefile"},
	"internal/store/read":       {"internal/bridge", "internal/dbfile", "internal/folding", "internal/search", "internal/sqlite", "internal/store/columns", "internal/store/people", "internal/store/settings"},
	"internal/store/people":     {"internal/bridge", "internal/folding", "internal/sqlite", "internal/store/settings", "internal/store/storefile"},
	"internal/store/storefile":  {"internal/bridge", "internal/dbfile", "internal/sqlite", "migrations"},
	"internal/store/settings":   {"internal/bridge", "internal/dbfile", "internal/sqlite"},
	"internal/sqlite":           {"internal/bridge"},
	"internal/search":           {"internal/bridge", "internal/folding", "internal/sqlite"},
	"internal/folding":          {"internal/bridge"},
	"internal/store/storetest":  {"internal/search", "internal/sqlite", "internal/store/storefile"},
	"internal/urlguard":         {},
	"internal/media":            {"internal/bridge", "internal/intake", "internal/media/disk", "internal/media/probe", "internal/transcode", "internal/urlguard"},
	"internal/media/cdn":        {"internal/bridge", "internal/media/disk", "internal/urlguard"},
	"internal/media/disk":       {"internal/bridge"},
	"internal/media/files":      {"internal/bridge", "internal/media/cdn", "internal/media/disk", "internal/media/probe"},
	"internal/media/mediatest":  {"internal/bridge"},
	"internal/media/probe":      {"internal/bridge"},
	"internal/preview":          {"internal/bridge", "internal/urlguard"},
	"internal/transcode":        {"internal/bridge", "internal/intake"},
	"internal/document":         {"internal/bridge", "internal/intake"},
	"internal/chatexport":       {"internal/bridge"},
	"internal/chatimport":       {"internal/bridge", "internal/chatexport", "internal/folding", "internal/media", "internal/media/disk", "internal/media/files", "internal/store", "internal/chatimport/match", "internal/intake"},
	"internal/chatimport/match": {"internal/bridge", "internal/store"},
	"internal/intake":           {"internal/bridge"},
	"internal/api":              {"internal/api/album", "internal/api/answer", "internal/api/callers", "internal/api/content", "internal/api/download", "internal/api/export", "internal/api/front", "internal/api/metrics", "internal/api/openapi", "internal/api/stream", "internal/bridge", "internal/chatimport", "internal/intake", "internal/store", "internal/media", "internal/media/files", "internal/media/probe", "internal/schedule", "internal/webhook", "internal/webhook/format", "internal/hooks"},
	"internal/api/apitest":      {"internal/api"},
	"internal/api/album":        {"internal/api/callers", "internal/api/content", "internal/api/download", "internal/api/front", "internal/bridge", "internal/media"},
	"internal/api/answer":       {"internal/bridge"},
	"internal/api/content":      {"internal/api/front", "internal/bridge", "internal/hooks", "internal/intake", "internal/media"},
	"internal/schedule":         {"internal/bridge", "internal/media/disk", "internal/store"},
	"internal/api/callers":      {"internal/bridge", "internal/store"},
	"internal/api/download":     {"internal/api/front", "internal/bridge", "internal/media/files", "internal/media/probe"},
	"internal/api/export":       {"internal/api/answer", "internal/api/download", "internal/bridge", "internal/chatexport", "internal/intake", "internal/media/files"},
	"internal/api/metrics":      {"internal/api/stream", "internal/bridge", "internal/media/files", "internal/store"},
	"internal/api/stream":       {"internal/api/front", "internal/bridge", "internal/store"},
	"internal/api/front":        {"internal/bridge", "internal/intake", "internal/spelling"},
	"internal/webhook":          {"internal/bridge", "internal/store", "internal/store/settings", "internal/urlguard", "internal/webhook/format"},
	"internal/webhook/format":   {"internal/bridge"},
	"internal/hooks":            {"internal/bridge", "internal/intake"},
	"internal/oauth":            {"internal/api/callers", "internal/api/front", "internal/bridge", "internal/client", "internal/store", "internal/store/settings", "internal/urlguard"},
	"internal/console":          {"internal/console/chats", "internal/console/explorer", "internal/console/frame", "internal/console/names", "internal/console/people", "internal/console/setup", "internal/console/view", "internal/oauth"},
	"internal/console/markup":   {"internal/bridge"},
	"internal/console/view":     {"internal/bridge", "internal/console/markup"},
	"internal/console/frame":    {"internal/api/front", "internal/bridge", "internal/client", "internal/console/view", "internal/intake", "internal/media/files", "internal/oauth"},
	"internal/console/names":    {"internal/bridge", "internal/client", "internal/console/frame", "internal/console/view"},
	"internal/console/people":   {"internal/bridge", "internal/client", "internal/console/frame", "internal/console/names", "internal/console/view"},
	"internal/console/chats":    {"internal/bridge", "internal/client", "internal/console/frame", "internal/console/markup", "internal/console/names", "internal/console/people", "internal/console/view", "internal/folding", "internal/media/files"},
	"internal/console/setup":    {"internal/bridge", "internal/client", "internal/console/frame", "internal/console/names", "internal/console/view", "internal/oauth"},
	"internal/console/explorer": {"internal/bridge", "internal/client", "internal/console/frame", "internal/console/names", "internal/console/view"},
	"internal/mcp":              {"internal/api/front", "internal/bridge", "internal/client", "internal/folding", "internal/intake", "internal/spelling"},
	"internal/shell":            {"internal/bridge", "internal/chatwoot", "internal/client", "internal/folding", "internal/vcard"},
	"internal/chatwoot":         {"internal/bridge", "internal/client", "internal/compat/cloud"},
	"internal/fleet":            {"internal/bridge", "internal/client", "internal/dbfile", "internal/intake"},
	"internal/fleet/fleettest":  {},
	"internal/fuzzbudget":       {},
	"internal/longtest":         {},
	"internal/spelling":         {},
	"internal/simnet":           {"internal/simnet/content", "internal/simnet/groups", "internal/simnet/media", "internal/simnet/pairing", "internal/simnet/people", "internal/simnet/server", "internal/simnet/signal", "internal/simnet/wire"},
	"internal/simnet/groups":    {"internal/simnet/media", "internal/simnet/people", "internal/simnet/wire"},
	"internal/simnet/pairing":   {"internal/simnet/people", "internal/simnet/wire"},
	"internal/simnet/people":    {"internal/simnet/media", "internal/simnet/wire"},
	"internal/simnet/server":    {"internal/simnet/groups", "internal/simnet/media", "internal/simnet/pairing", "internal/simnet/people", "internal/simnet/wire"},
	"internal/simnet/content":   {},
	"internal/simnet/media":     {"internal/simnet/wire"},
	"internal/simnet/signal":    {"internal/simnet/wire"},
	"internal/simnet/wire":      {},
	"internal/client":           {"internal/bridge"},
	"internal/config":           {"internal/api/front", "internal/bridge", "internal/spelling", "internal/transcode", "internal/wa", "internal/webhook", "internal/webhook/format"},
	"internal/pairscreen":       {"internal/bridge", "internal/shell"},
	"internal/compat":           {"internal/api/front", "internal/bridge", "internal/client", "internal/intake"},
	"internal/compat/cloud":     {"internal/api/front", "internal/bridge", "internal/client", "internal/compat", "internal/intake", "internal/webhook/format"},
	"internal/compat/waha":      {"internal/bridge", "internal/client", "internal/compat", "internal/webhook/format", "internal/vcard"},
	"internal/compat/evolution": {"internal/bridge", "internal/client", "internal/compat", "internal/webhook/format"},
	"internal/transcribe":       {"internal/bridge", "internal/media/files", "internal/media/probe", "internal/store", "internal/store/settings"},
	"internal/maintenance":      {"internal/bridge", "internal/media/files", "internal/store", "internal/webhook"},
	"internal/backup":           {"internal/bridge", "internal/dbfile", "internal/media/disk", "internal/sqlite", "internal/store/storefile"},
	"internal/doctor":           {"internal/bridge", "internal/client", "internal/dbfile", "internal/media/disk"},
	"internal/demo":             {"internal/bridge", "internal/client", "internal/simnet"},
	"internal/e2e/powercut":     {},

	"internal/e2e/harness":         {"internal/api/apitest", "internal/bridge", "internal/client", "internal/demo", "internal/longtest", "internal/simnet"},
	"internal/e2e/harness/agent":   {"internal/bridge", "internal/client", "internal/e2e/harness", "internal/simnet"},
	"internal/e2e/harness/browser": {"internal/bridge", "internal/e2e/harness", "internal/simnet"},
	"internal/e2e/harness/traffic": {"internal/bridge", "internal/e2e/harness", "internal/simnet"},
	"internal/e2e/screenshots":     {"internal/bridge", "internal/client", "internal/e2e/harness", "internal/e2e/harness/agent", "internal/e2e/harness/browser"},
	"internal/e2e/soak":            {"internal/bridge", "internal/demo", "internal/e2e/harness", "internal/e2e/harness/traffic", "internal/simnet"},

	"bench":           {"internal/bridge", "internal/client", "internal/simnet", "internal/store"},
	"interop/network": {"internal/demo", "internal/simnet"},

	"internal/chatexport/exporttest": {},

	"internal/fleet/fleettest/servers": {"internal/fleet/fleettest"},

	"internal/intake/intaketest": {"internal/fuzzbudget"},
	"internal/compat/compattest": {"internal/api", "internal/bridge", "internal/client", "internal/compat", "internal/intake/intaketest", "internal/media", "internal/store", "internal/store/storetest", "internal/urlguard", "internal/webhook", "internal/webhook/format"},
}

// allowed reports whether a package of ours may import another package.
func allowed(name, imported string) bool {
	switch {
	case isPartOf(imported, whatsmeow+"/store"), isPartOf(imported, whatsmeow+"/util/log"), isPartOf(imported, libsignal):
		return name == "internal/wa/session" || isPartOf(name, "internal/simnet")
	case isPartOf(imported, whatsmeow), isPartOf(imported, protobuf):
		return isPartOf(name, "internal/wa") || isPartOf(name, "internal/simnet")
	case isPartOf(imported, sqlDriver):
		return name == "internal/wa/session" || name == "internal/dbfile" || name == "internal/e2e/harness"
	case isPartOf(imported, sqlite):
		return name == "internal/sqlite"
	case isPartOf(imported, fuse):
		return name == "internal/e2e/powercut"
	case isPartOf(imported, natsClient):
		return name == "internal/fleet"
	case strings.HasPrefix(imported, natsServer):
		return name == "internal/fleet/fleettest"
	case isPartOf(imported, module+"internal/e2e") && !isPartOf(name, "internal/e2e"):
		return false
	case strings.HasPrefix(imported, module):
		return name == "cmd/bridged" || slices.Contains(ours[name], strings.TrimPrefix(imported, module))
	case name == "internal/bridge":
		return !strings.Contains(firstPart(imported), ".") // the standard library's paths have no domain
	}
	return true
}

// isPartOf reports whether a package belongs to a module.
func isPartOf(imported, of string) bool {
	return imported == of || strings.HasPrefix(imported, of+"/")
}

func firstPart(imported string) string {
	first, _, _ := strings.Cut(imported, "/")
	return first
}

// listPackages returns the packages of this module.
func listPackages(t *testing.T) []goPackage {
	t.Helper()
	packages, err := listed()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	return packages
}

var listed = sync.OnceValues(func() (packages []goPackage, err error) {
	list := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,Imports", "./...")
	list.Dir = "../../.."
	out, err := list.Output()
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
})
