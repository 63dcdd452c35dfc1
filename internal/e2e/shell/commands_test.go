package shell

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"bridged/internal/chatwoot/chatwoottest"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// TestCommands runs the scripts in testdata: commands as typed, with their
// environment, output and exit codes.
func TestCommands(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, script := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(script), ".txtar"), func(t *testing.T) {
			t.Parallel()
			s := &scene{t: t}
			testscript.Run(t, testscript.Params{Files: []string{script}, RequireExplicitExec: true, Cmds: map[string]func(*testscript.TestScript, bool, []string){
				"exits": exits, "bridge": s.start, "stops": s.stops, "starts": s.starts, "listens-everywhere": s.listensEverywhere,
				"phone-types-code": s.phoneTypesCode, "phone-scans": s.phoneScans,
				"company": s.company, "says": s.says, "hears": s.hears, "founds": s.founds, "gives": s.gives, "sees-edit": s.seesEdit, "sees-reaction": s.seesReaction, "loses-answers": s.losesAnswers,
				"chatwoot": s.startChatwoot, "chatwoot-shows": s.chatwootShows, "chatwoot-fails": s.chatwootFails, "chatwoot-rule": s.chatwootRule,
				"sees-deletion": s.seesDeletion, "rings": s.rings, "asks-to-join": s.asksToJoin, "link-of-group": s.linkOf, "website": s.website, "speaks": s.speaks,
			}})
		})
	}
}

// exits runs a command that has to end with an exit code: exits 2 bridged serve
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits code command [arg...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// scene holds everything that a script may use besides the command line.
type scene struct {
	t     *testing.T
	owner *simnet.Phone
	cast  *Cast // of a company
	inbox *chatwoottest.Server
	*Process

	founded *simnet.Group // by Ben
}

// start starts a bridge and sets the script's environment: bridge
func (s *scene) start(ts *testscript.TestScript, _ bool, _ []string) {
	n := NewNetwork(s.t)
	s.owner = NewPhone(s.t, n, simnet.PhoneOptions{Number: "491510000001", Name: "Olga"})
	s.adopt(ts, StartBridge(s.t, n))
}

// listensEverywhere replaces the bridge's address by one that listens on every
// interface: listens-everywhere
func (s *scene) listensEverywhere(ts *testscript.TestScript, _ bool, _ []string) {
	_, port, err := net.SplitHostPort(s.Address)
	ts.Check(err)
	ts.Setenv("LISTEN_ADDR", "0.0.0.0:"+port)
}

// phoneTypesCode types the pairing code that the bridge shows: phone-types-code
func (s *scene) phoneTypesCode(ts *testscript.TestScript, _ bool, _ []string) {
	var code string
	Eventually(s.Process.T, func() error {
		status := s.Status()
		if status.PairingCode == nil {
			return errors.New("the status shows no pairing code")
		}
		code = *status.PairingCode
		return nil
	})
	_, err := s.owner.EnterPairingCode(Within(s.Process.T), code)
	ts.Check(err)
}

// phoneScans scans the QR code once a command has had time to draw it, which is
// when it asks for the status again: phone-scans
func (s *scene) phoneScans(ts *testscript.TestScript, _ bool, _ []string) {
	s.QR()
	asked := func() int { return strings.Count(s.Log.String(), `"path":"/api/auth/status"`) }
	before := asked() + 1 // the log may still lack our own last request
	Eventually(s.Process.T, func() error {
		if asked() < before+2 {
			return errors.New("no command asks for the status")
		}
		return nil
	})
	_, err := s.owner.HoldTo(Within(s.Process.T), s.QR)
	ts.Check(err)
}

// TestDataDir_IsPrivate: it contains an account's keys.
func TestDataDir_IsPrivate(t *testing.T) {
	t.Parallel()
	n, owner := NewOwner(t, simnet.PhoneOptions{})
	b := StartBridge(t, n)
	Pair(t, b, owner)
	found := 0
	err := filepath.WalkDir(b.Env["DATA_DIR"], func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		found++
		want := os.FileMode(0o600)
		if entry.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has the mode %v, want %v", path, info.Mode().Perm(), want)
		}
		return nil
	})
	if err != nil || found < 5 {
		t.Fatalf("%d files: %v", found, err)
	}
	for _, name := range []string{"session.db", "bridged.db", "media", "tmp"} {
		if _, err := os.Stat(filepath.Join(b.Env["DATA_DIR"], name)); err != nil {
			t.Error(err)
		}
	}
}
