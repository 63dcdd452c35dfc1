package operations

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/e2e/powercut"
	"bridged/internal/media/mediatest"
)

// otherUser is a user that owns nothing. Tests run as root change to it, because root may read and
// write the files of everyone.
const otherUser = 65534

// setup is an installation of a stopped bridge, for a test to break.
type setup struct {
	t       *testing.T
	dir     string // the data directory
	env     map[string]string
	program string
	isRoot  bool // the program runs as otherUser
}

// newSetup copies the data directory of a bridge that was started once.
func newSetup(t *testing.T, of *Process) *setup {
	t.Helper()
	base := Must(os.MkdirTemp("", "bridged-setup-*"))(t) // t.TempDir is closed to other users
	t.Cleanup(func() {
		if err := os.RemoveAll(base); err != nil {
			t.Error(err)
		}
	})
	s := &setup{t: t, dir: filepath.Join(base, "data"), env: map[string]string{}, isRoot: os.Getuid() == 0}
	maps.Copy(s.env, of.Env)
	s.env["DATA_DIR"], s.env["HOME"], s.env["TMPDIR"] = s.dir, base, base
	s.env["WA_NETWORK_FILE"] = filepath.Join(base, "network.json")
	s.program = filepath.Join(base, "bridged")
	s.do(os.CopyFS(s.dir, os.DirFS(of.Env["DATA_DIR"])))
	s.copy(of.Env["WA_NETWORK_FILE"], s.env["WA_NETWORK_FILE"])
	if s.isRoot {
		s.do(filepath.WalkDir(base, func(path string, _ os.DirEntry, err error) error {
			return errors.Join(err, os.Chown(path, otherUser, otherUser))
		}))
	}
	if built := Must(exec.LookPath("bridged"))(t); os.Link(built, s.program) != nil { // on another file system
		mediatest.WriteProgram(t, s.program, Must(os.ReadFile(built))(t))
	}
	return s
}

func (s *setup) do(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *setup) copy(from, to string) {
	s.t.Helper()
	s.do(os.WriteFile(to, Must(os.ReadFile(from))(s.t), 0o600))
}

func (s *setup) file(name string) string { return filepath.Join(s.dir, name) }

// run runs a command of the program to its end.
func (s *setup) run(args ...string) (stdout, stderr string, code int) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), TestTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.program, args...)
	for name, value := range s.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Dir = filepath.Dir(s.dir)
	if s.isRoot {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: otherUser, Gid: otherUser}}
	}
	var out, notes bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &notes
	if err := cmd.Run(); ctx.Err() != nil || err != nil && cmd.ProcessState == nil {
		s.t.Fatalf("bridged %v: %v\n%s", args, errors.Join(err, ctx.Err()), notes.String())
	}
	return out.String(), notes.String(), cmd.ProcessState.ExitCode()
}

// startsSaying starts the bridge, waits until its log says something, and stops it.
func (s *setup) startsSaying(sentence string) {
	s.t.Helper()
	cmd, log := exec.CommandContext(s.t.Context(), s.program, "--env-file", "/dev/null"), NewProcessLog()
	s.env["LISTEN_ADDR"] = "127.0.0.1:0"
	for name, value := range s.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Stderr = log
	if s.isRoot {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: otherUser, Gid: otherUser}}
	}
	s.do(cmd.Start())
	Eventually(s.t, func() error {
		if !strings.Contains(log.String(), strings.ReplaceAll(sentence, `"`, `\"`)) {
			return errors.New("the log does not say: " + sentence + "\n" + log.String())
		}
		return nil
	})
	s.do(cmd.Process.Signal(syscall.SIGTERM))
	s.do(cmd.Wait())
}

// needsRoot skips a test that makes files of another user.
func (s *setup) needsRoot() {
	if !s.isRoot {
		s.t.Skip("only root makes files of another user")
	}
}

// ownedByRoot makes a private file of root.
func ownedByRoot(name string) func(*setup) {
	return func(s *setup) {
		s.needsRoot()
		file := Must(os.OpenFile(s.file(name), os.O_CREATE|os.O_RDWR, 0o600))(s.t)
		s.do(errors.Join(file.Close(), os.Chown(file.Name(), 0, 0), os.Chmod(file.Name(), 0o600)))
	}
}

// locks makes this process, another program, hold a lock on a database.
func locks(name string, statements ...string) func(*setup) {
	return func(s *setup) {
		db := Must(sql.Open("sqlite", s.file(name)))(s.t)
		s.t.Cleanup(func() { s.do(db.Close()) })
		db.SetMaxOpenConns(1)
		for _, statement := range statements {
			_, err := db.ExecContext(s.t.Context(), statement)
			s.do(err)
		}
		if s.isRoot { // the files that it has made
			for _, suffix := range []string{"-wal", "-shm"} {
				if err := os.Chown(s.file(name+suffix), otherUser, otherUser); err != nil && !errors.Is(err, os.ErrNotExist) {
					s.do(err)
				}
			}
		}
	}
}

func runs(name, statement string) func(*setup) {
	return func(s *setup) {
		db := Must(sql.Open("sqlite", s.file(name)))(s.t)
		_, err := db.ExecContext(s.t.Context(), statement)
		s.do(errors.Join(err, db.Close()))
	}
}

// mounted puts the data directory on a file system that lacks something.
func mounted(change func(*powercut.Disk)) func(*setup) {
	return func(s *setup) {
		disk := powercut.New()
		change(disk)
		disk.Open()
		s.do(os.Rename(s.dir, s.dir+".was"))
		s.do(os.Mkdir(s.dir, 0o700))
		s.isRoot = false // only the user who has mounted it may enter
		mount, err := disk.Mount(s.dir)
		if errors.Is(err, powercut.ErrNoFUSE) {
			s.t.Skip(err)
		}
		s.do(err)
		s.t.Cleanup(func() { s.do(mount.Unmount()) })
		for _, name := range []string{"bridged.db", "session.db"} {
			s.copy(filepath.Join(s.dir+".was", name), s.file(name))
		}
	}
}

// remounted mounts the data directory anew, as a volume.
func remounted(fill int, commands ...string) func(*setup) {
	return func(s *setup) {
		s.needsRoot()
		s.do(os.Rename(s.dir, s.dir+".was"))
		s.do(os.Mkdir(s.dir, 0o700))
		for i, command := range commands {
			if out, err := exec.Command("sh", "-c", strings.ReplaceAll(command, "DIR", s.dir)).CombinedOutput(); err != nil {
				s.t.Skipf("%s: %v: %s", command, err, out)
			}
			if i == 0 {
				s.t.Cleanup(func() { s.do(exec.Command("umount", s.dir).Run()) })
			}
		}
		if fill > 0 {
			s.do(os.CopyFS(s.dir, os.DirFS(s.dir+".was")))
			full := Must(os.Create(s.file("tmp/other")))(s.t)
			for err := error(nil); err == nil; {
				_, err = full.Write(make([]byte, fill))
			}
			s.do(full.Close())
			s.do(filepath.WalkDir(s.dir, func(path string, _ os.DirEntry, err error) error {
				return errors.Join(err, os.Chown(path, otherUser, otherUser))
			}))
			s.do(os.Rename(s.file("tmp/other"), s.file("other"))) // the start empties tmp
		}
	}
}

func sets(settings ...string) func(*setup) {
	return func(s *setup) {
		for _, setting := range settings {
			name, value, _ := strings.Cut(setting, "=")
			s.env[name] = value
		}
	}
}

const (
	giveToUser  = "give the whole data directory to that user with chown -R, or run bridged as the other"
	ofRoot      = " belongs to user 0, and this process runs as user 65534, which cannot read or write it"
	endOther    = " is locked by another program"
	waitOther   = "end that program, or wait until it has finished"
	storeCure   = "stop bridged, restore a backup with `bridged restore FILE` and start again; without a backup, move it away to begin with an empty store"
	sessionCure = "stop bridged, delete session.db, session.db-wal and session.db-shm, start again and pair the account; messages are stored elsewhere"
	willNot     = "change it; bridged does not start with it"
)

// brokenSetups are installations with one fault each. The doctor prints the finding and ends with the code; where
// the start ends too, it says the same.
var brokenSetups = map[string]struct {
	harm            func(*setup)
	verdict, check  string
	message, remedy string
	code            int
	starts          bool   // the bridge starts nevertheless
	start           string // what the start says, if that is not the doctor's sentence
	others          int    // further failures
}{
	"store locked by a writer":   {harm: locks("bridged.db", "PRAGMA journal_mode = WAL", "BEGIN IMMEDIATE"), verdict: "fail", check: "disk", message: "bridged.db" + endOther, remedy: waitOther, code: 1},
	"store locked exclusively":   {harm: locks("bridged.db", "PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE", "CREATE TABLE other (a)"), verdict: "fail", check: "disk", message: "bridged.db" + endOther, remedy: waitOther, code: 1},
	"session locked exclusively": {harm: locks("session.db", "PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE", "CREATE TABLE other (a)"), verdict: "fail", check: "disk", message: "session.db" + endOther, remedy: waitOther, code: 1},
	"store's log of root":        {harm: ownedByRoot("bridged.db-wal"), verdict: "fail", check: "disk", message: "bridged.db-wal" + ofRoot, remedy: giveToUser, code: 1},
	"store's memory of root":     {harm: ownedByRoot("bridged.db-shm"), verdict: "fail", check: "disk", message: "bridged.db-shm" + ofRoot, remedy: giveToUser, code: 1},
	"store of root":              {harm: ownedByRoot("bridged.db"), verdict: "fail", check: "disk", message: "bridged.db" + ofRoot, remedy: giveToUser, code: 1},
	"session's log of root":      {harm: ownedByRoot("session.db-wal"), verdict: "fail", check: "disk", message: "session.db-wal" + ofRoot, remedy: giveToUser, code: 1},
	"session of root":            {harm: ownedByRoot("session.db"), verdict: "fail", check: "disk", message: "session.db" + ofRoot, remedy: giveToUser, code: 1},
	"directory of root": {
		harm:    func(s *setup) { s.needsRoot(); s.do(os.Chown(s.dir, 0, 0)) },
		verdict: "fail", check: "disk", message: "DATA_DIR" + ofRoot, remedy: giveToUser, code: 1,
	},
	"directory is a file": {
		harm:    func(s *setup) { s.do(os.RemoveAll(s.dir)); s.do(os.WriteFile(s.dir, nil, 0o600)) },
		verdict: "fail", check: "disk", message: "DATA_DIR is not a directory", remedy: "set it to a directory", code: 1,
	},
	"no shared memory": {
		harm:    mounted(func(d *powercut.Disk) { d.NoSharedMemory = true }),
		verdict: "fail", check: "disk", message: "bridged.db is on a file system without memory that processes share (mmap), which SQLite requires",
		remedy: "use a local file system for DATA_DIR, or mount the share with a cache (CIFS without cache=none)", code: 1, others: 1,
	},
	"read-only volume": {
		harm:    remounted(0, "mount --bind DIR.was DIR", "mount -o remount,bind,ro DIR"),
		verdict: "fail", check: "disk", message: "DATA_DIR is on a read-only file system", remedy: "mount its volume writable", code: 1,
	},
	"full disk": {
		harm:    remounted(4096, "mount -t tmpfs -o size=4m,mode=700 tmpfs DIR"),
		verdict: "fail", check: "disk", message: "0.0 GB free", remedy: "free some space: until then nothing is stored, and messages wait at the network", code: 1,
		start: "the disk is full: make room",
	},
	"store of a newer bridged": {
		harm: runs("bridged.db", "PRAGMA user_version = 9999"), verdict: "fail", check: "disk",
		message: "bridged.db was written by a newer bridged (schema 9999, this program knows 1)", remedy: "install that version again, or restore a backup", code: 1,
	},
	"store of another program": {
		harm: runs("bridged.db", "PRAGMA application_id = 7"), verdict: "fail", check: "disk",
		message: "bridged.db is a database of another program", remedy: "choose another data directory, or move the file away", code: 1,
	},
	"store overwritten": {
		harm: func(s *setup) {
			s.do(os.WriteFile(s.file("bridged.db"), []byte(strings.Repeat("nothing of the kind ", 99)), 0o600))
		},
		verdict: "fail", check: "disk", message: "bridged.db is damaged", remedy: storeCure, code: 1,
	},
	"session cut off": {harm: func(s *setup) { s.do(os.Truncate(s.file("session.db"), 3*4096)) }, verdict: "fail", check: "disk", message: "session.db is damaged", remedy: sessionCure, code: 1},
	"session emptied": {harm: func(s *setup) { s.do(os.Truncate(s.file("session.db"), 0)) }, verdict: "fail", check: "disk", message: "session.db is damaged", remedy: sessionCure, code: 1},
	"no transcriber": {
		harm: sets("TRANSCRIBE_URL=http://127.0.0.1:1"), verdict: "fail", check: "transcripts", starts: true,
		message: "TRANSCRIBE_URL, http://127.0.0.1:1, does not answer: dial tcp 127.0.0.1:1: connect: connection refused",
		remedy:  "start the service, or correct TRANSCRIBE_URL; until then voice notes wait", code: 1,
	},
	"no NATS": {
		harm: sets("NATS_URL=nats://127.0.0.1:1"), verdict: "fail", check: "fleet", starts: true,
		message: "cannot connect to a server of NATS_URL: nats: no servers available for connection",
		remedy:  "start the servers, or correct NATS_URL, NATS_CREDS_FILE and NATS_CA_FILE", code: 1,
	},
	"network file missing": {
		harm: sets("WA_NETWORK_FILE=/nowhere/network.json"), verdict: "fail", check: "configuration",
		message: "WA_NETWORK_FILE cannot be used: open /nowhere/network.json: no such file or directory", remedy: willNot, code: 1,
	},
	"number without country code": {
		harm: sets("PHONE_NUMBER=0170 1234567"), verdict: "fail", check: "configuration",
		message: "PHONE_NUMBER must begin with the country code, not with 0: E.164 digits such as 15551234567", remedy: willNot, code: 1,
	},
	"no token": {
		harm: sets("BRIDGE_TOKEN="), verdict: "fail", check: "configuration",
		message: "BRIDGE_TOKEN is not set: choose a secret of at least 16 characters, for example with: openssl rand -hex 24", remedy: willNot, code: 1,
	},
	"misspelt variable": {
		harm: sets("ENABLE_SENDING=true"), verdict: "warn", check: "configuration", starts: true,
		message: "ENABLE_SENDING is set, but not a variable of bridged: did you mean ENABLE_SEND?", remedy: "rename or remove it",
	},
	"unknown zone": {
		harm: sets("TZ=Europe/Berln"), verdict: "warn", check: "configuration", starts: true,
		message: `TZ is "Europe/Berln", which is not a time zone that bridged knows, so times are in UTC`, remedy: "set it to a name such as Europe/Berlin",
	},
	"no modes": {
		harm:    mounted(func(d *powercut.Disk) { d.NoModes = true }),
		verdict: "warn", check: "disk", starts: true,
		message: "DATA_DIR has the mode 0777, so other users of this machine may read the account's keys and messages",
		remedy:  "its file system ignores chmod, as mounted Windows shares do; mount it with uid, dir_mode=0700 and file_mode=0600, or use a local file system",
	},
	"directory missing": {
		harm: func(s *setup) { s.do(os.RemoveAll(s.dir)) }, verdict: "warn", check: "disk", starts: true, message: "DATA_DIR does not exist yet",
		remedy: "nothing, if bridged was never started here: the first start creates it. Otherwise correct DATA_DIR, or mount its volume",
	},
}

// TestDoctor_NamesTheFaultOfABrokenSetUp: an intact store is never called damaged, and the start says what
// the doctor says.
func TestDoctor_NamesTheFaultOfABrokenSetUp(t *testing.T) {
	t.Parallel()
	n := NewNetwork(t)
	whole := StartBridge(t, n, "LISTEN_ADDR=127.0.0.1:0")
	whole.Becomes(bridge.StateNeedsPair)
	whole.Stop()
	for name, test := range brokenSetups {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSetup(t, whole)
			s.env["LISTEN_ADDR"] = "127.0.0.1:1" // no bridge answers there
			test.harm(s)
			files := ""
			if strings.HasPrefix(test.check, "disk") && test.message != "DATA_DIR does not exist yet" {
				files = tree(t, s.dir)
			}
			out, notes, code := s.run("doctor", "--json", "--env-file", "/dev/null")
			var d Diagnosis
			if err := json.Unmarshal([]byte(out), &d); err != nil {
				t.Fatalf("%v\n%s%s", err, out, notes)
			}
			failures, found := 0, false
			for _, f := range d.Findings {
				if f.Verdict == "fail" {
					failures++
				}
				found = found || f.Check == test.check && f.Verdict == test.verdict && f.Message == test.message && f.Remedy == test.remedy
			}
			if !found || code != test.code || failures != test.code+test.others {
				t.Errorf("exit code %d, %d failures, without %s of %s: %s → %s\n%s", code, failures, test.verdict, test.check, test.message, test.remedy, out)
			}
			if files != "" && tree(t, s.dir) != files {
				t.Error("the doctor changed the data directory")
			}
			if test.starts && test.verdict == "warn" && files+s.env["TZ"] != "" {
				s.startsSaying(test.message)
			}
			if test.starts {
				return
			}
			_, notes, code = s.run("serve", "--env-file", "/dev/null")
			sentence := test.message
			if test.check == "disk" {
				sentence += ": " + test.remedy
			}
			if test.start != "" {
				sentence = test.start
			}
			if !strings.Contains(notes, sentence) || !slices.Contains([]int{1, 2}, code) || (code == 2) != (test.check == "configuration") {
				t.Errorf("the start ends with %d:\n%s\nwant %s", code, notes, sentence)
			}
		})
	}
}

// A service that answers is found, whatever it answers.
func TestDoctor_FindsTheServicesThatAnswer(t *testing.T) {
	t.Parallel()
	p := StartBridge(t, NewNetwork(t))
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, "no such page")
	}))
	t.Cleanup(service.Close)
	p.Doctor("TRANSCRIBE_URL="+service.URL).Expect(t, "transcripts", "ok", service.URL+" answers")
}

// PHONE_NUMBER is a bound of pairing: a session of another account goes on, and is named.
func TestPhoneNumber_OfAnotherAccountIsNamed(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	const sentence = "PHONE_NUMBER (…67) is not the number of the paired account (…01), which runs nevertheless"
	c.Bridge.Doctor("PHONE_NUMBER=+1 555 123-4567").Expect(t, "account", "warn", sentence)
	c.Bridge.Stop()
	c.Bridge.Set("PHONE_NUMBER=+1 555 123-4567")
	c.Bridge.Start()
	c.Bridge.WaitForLog(t, sentence)
	c.Bridge.Becomes(bridge.StateOpen)
}
