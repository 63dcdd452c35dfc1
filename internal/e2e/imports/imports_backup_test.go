package imports

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/chatexport/exporttest"
	. "bridged/internal/e2e/harness"
)

// TestImports_ComeBackFromABackup: a backup with files has the files of imported chats, and one without
// says how many are missing.
func TestImports_ComeBackFromABackup(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	b, dir := c.Bridge, t.TempDir()
	image := Portrait(t, 32, 1)
	zip := exporttest.LocaleOf("es-MX").Zip(t, exporttest.Android, friends(exporttest.Android, image))
	if err := os.WriteFile(filepath.Join(dir, "friends.zip"), zip, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, printed, said := imports(b, filepath.Join(dir, "friends.zip"), "--chat", "Old friends"); code != 0 {
		t.Fatalf("the import ends with %d: %s %s", code, printed, said)
	}
	runs := func(want string, args ...string) {
		t.Helper()
		if out, err := b.Command(args...); err != nil || !strings.Contains(out, want) {
			t.Fatalf("bridged %v: %v, want %q in\n%s", args, err, want, out)
		}
	}
	whole, without := filepath.Join(dir, "whole.tar"), filepath.Join(dir, "without.db")
	runs("It also has 1 file of imported chats.", "backup", whole, "--with-files")
	runs("It does not have 1 file of imported chats, which --with-files copies.", "backup", without)
	b.Stop()
	for _, name := range []string{"bridged.db", "imported"} {
		if err := os.RemoveAll(filepath.Join(b.Env["DATA_DIR"], name)); err != nil {
			t.Fatal(err)
		}
	}
	runs("Not restored: 1 file of imported chats. Import the chats again", "restore", without)
	runs("Restored 5 messages of 1 chat", "restore", whole)
	b.Start()
	var list struct{ Chats []bridge.Chat }
	b.Get("/api/chats?kind=imported").Want(http.StatusOK).Decode(&list)
	var page struct{ Messages []bridge.Message }
	b.Get("/api/messages/individual/" + list.Chats[0].JID.Escaped() + "?order=asc").Want(http.StatusOK).Decode(&page)
	if picture := b.Get(page.Messages[2].Media.DownloadURL).Want(http.StatusOK); !bytes.Equal(picture.Body, image) {
		t.Errorf("the picture has %d bytes, want %d", len(picture.Body), len(image))
	}
}
