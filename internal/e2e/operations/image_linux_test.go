package operations

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	. "bridged/internal/e2e/harness"
	"bridged/internal/longtest"
)

// imageUser is the user of the image.
const imageUser = 65532

// TestRestore_InTheImage backs up and restores with what the image has: a static program, no shell and no
// other file, a read-only root, user 65532 without capabilities, and a volume that it owns.
func TestRestore_InTheImage(t *testing.T) {
	t.Parallel()
	if !longtest.Enabled() {
		t.Skip("it links the program again")
	}
	if os.Getuid() != 0 {
		t.Skip("only root can mount a volume and change the root")
	}
	root := Must(os.MkdirTemp("", "bridged-image-*"))(t)
	do := func(name string, args ...string) {
		t.Helper()
		cmd := exec.Command(name, args...) // also after the test's context has ended
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
	}
	do("go", "build", "-C", "../../..", "-ldflags=-s -w", "-o", filepath.Join(root, "bridged"), "./cmd/bridged")
	volume := filepath.Join(root, "data")
	for _, err := range []error{os.Chmod(root, 0o755), os.Mkdir(volume, 0o700)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	c := PairedCast(t)
	c.Stored(t, Say(t, c.Anna, c.Owner.PN(), "before"))
	c.Bridge.Stop()
	if err := exec.Command("mount", "--bind", root, root).Run(); err != nil {
		t.Skipf("nothing can be mounted: %v", err)
	}
	t.Cleanup(func() { do("umount", root); do("rm", "-r", root) })
	do("mount", "-t", "tmpfs", "-o", "size=64m,mode=700", "tmpfs", volume)
	t.Cleanup(func() { do("umount", volume) })
	if err := os.CopyFS(volume, os.DirFS(c.Bridge.Env["DATA_DIR"])); err != nil {
		t.Fatal(err)
	}
	do("chown", "-R", "65532:65532", volume)
	do("mount", "-o", "remount,bind,ro", root)

	run := func(stdin []byte, args ...string) (stdout []byte, stderr string, err error) {
		t.Helper()
		cmd := exec.CommandContext(Within(t), "/bridged", args...)
		cmd.Env = []string{"DATA_DIR=/data", "TMPDIR=/data/tmp", "BRIDGE_TOKEN=" + TestToken}
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: imageUser, Gid: imageUser}}
		var out, notes bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), &out, &notes
		err = cmd.Run()
		return out.Bytes(), notes.String(), err
	}
	for _, flag := range []string{"--with-secrets", "--with-files"} {
		copied, notes, err := run(nil, "backup", "-", flag)
		if err != nil {
			t.Fatalf("backup: %v\n%s", err, notes)
		}
		out, notes, err := run(copied, "restore", "-")
		if err != nil || !strings.Contains(string(out), "Restored 1 message of 1 chat into /data.") {
			t.Fatalf("restore: %v\n%s%s", err, out, notes)
		}
	}
	if out, notes, err := run(nil, "backup", "/data/copy.db"); err != nil || len(out) == 0 {
		t.Errorf("a file in the volume: %v\n%s", err, notes)
	}
	if _, notes, err := run(nil, "backup", "/copy.db"); err == nil || !strings.Contains(notes, "read-only file system") {
		t.Errorf("a file in the read-only root: %v\n%s", err, notes)
	}
	if _, notes, err := run(nil, "restore", "/data/copy.db"); err != nil {
		t.Errorf("a file in the volume: %v\n%s", err, notes)
	}
}
