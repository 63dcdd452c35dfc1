package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bridged/internal/backup"
	"bridged/internal/bridge"
	"bridged/internal/config"
	"bridged/internal/shell"
)

const restoreHelp = `Replace chats, messages and settings by those of a backup; the bridge must be stopped.

The backup is a file that bridged backup has made, or - for standard input. It is checked first. The previous store
stays in DATA_DIR under a name with the date. The session of the account does not change.`

// restoreCommand restores a backup into DATA_DIR.
func (e *environment) restoreCommand() *cobra.Command {
	var asJSON bool
	c := e.newCommand("restore <file>", restoreHelp, func(args []string) error {
		restored, err := e.restore(args[0])
		if err != nil {
			return err
		}
		if asJSON {
			return shell.PrintJSON(e.stdout, restored)
		}
		return describeRestored(e.stdout, restored)
	})
	c.Example = "  bridged restore bridged.db\n  age -d -i key.txt bridged.db.age | bridged restore -"
	addJSON(c.Flags(), &asJSON)
	return c
}

func (e *environment) restore(name string) (_ backup.Restored, err error) {
	settings, err := config.Part(e.environ, (*config.Config).CheckDataDir)
	if err != nil {
		return backup.Restored{}, err
	}
	from := io.Reader(os.Stdin)
	if name != "-" {
		file, err := openBackup(name, settings.DataDir)
		if err != nil {
			return backup.Restored{}, err
		}
		defer file.Close()
		from = file
	} else if isTerminal(os.Stdin) {
		return backup.Restored{}, shell.Usage("standard input is a terminal: send it a backup, as in: bridged restore - < bridged.db")
	}
	dir, err := openDataDir(settings.DataDir)
	if err != nil {
		return backup.Restored{}, err
	}
	defer func() { err = errors.Join(err, dir.close()) }()
	return backup.Restore(e.ctx, backup.Target{DataDir: dir.path, TempDir: dir.file("tmp"), Now: time.Now()}, from, name)
}

// openBackup opens a backup, and refuses files that cannot be restored.
func openBackup(name, dataDir string) (*os.File, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &shell.Error{Err: bridge.NotFound("there is no file %s", name), Hint: "bridged backup makes a backup; nightly ones are in BACKUP_DIR"}
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, shell.Usage("%s is a directory: name a backup in it", name)
	case isInside(name, filepath.Join(dataDir, "tmp")):
		return nil, shell.Usage("%s would be lost, because bridged empties DATA_DIR/tmp: move it away first", name)
	case isSame(name, filepath.Join(dataDir, "bridged.db")):
		return nil, shell.Usage("%s is the store itself: name a backup", name)
	}
	if log, err := os.Stat(name + "-wal"); err == nil && log.Size() > 0 {
		return nil, shell.Usage("%[1]s is not complete without %[1]s-wal: it was copied from a running bridge, so choose a file that was made with bridged backup", name)
	}
	return os.Open(name)
}

func isSame(a, b string) bool {
	one, errA := os.Stat(a)
	other, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(one, other)
}

// isInside reports whether a file is in a directory or in one under it.
func isInside(path, dir string) bool {
	for {
		parent := filepath.Dir(path)
		if isSame(parent, dir) {
			return true
		}
		absolute, err := filepath.Abs(path)
		if err != nil || absolute == filepath.Dir(absolute) {
			return false
		}
		path = filepath.Dir(absolute)
	}
}

func describeRestored(to io.Writer, r backup.Restored) error {
	lines := []string{fmt.Sprintf("Restored %s of %s into %s.", bridge.Counted(r.Messages, "message"), bridge.Counted(r.Chats, "chat"), shell.Printable(r.DataDir))}
	if r.NewestMessageAt != nil {
		lines = append(lines, fmt.Sprintf("The newest message is of %s. Later messages are missing: a call that repeats the Idempotency-Key of one of them sends it again.",
			r.NewestMessageAt.UTC().Format("2006-01-02 15:04:05 UTC")))
	}
	if r.Secrets > 0 {
		lines = append(lines, "Tokens, webhooks and hooks of the backup are valid again, even if they were revoked: review them.")
	} else {
		lines = append(lines, "The backup has no tokens, webhooks and hooks: create the ones that you need again.")
	}
	if r.MissingFiles > 0 {
		lines = append(lines, fmt.Sprintf("Not restored: %s of imported chats. Import the chats again, or restore a backup that was made with --with-files.", bridge.Counted(r.MissingFiles, "file")))
	}
	if r.Previous != "" {
		lines = append(lines, fmt.Sprintf("The previous store is now %s. Delete it when you do not need it: it has all its messages and secrets.", shell.Printable(r.Previous)))
	}
	next := "Next: start bridged, and pair the account: bridged pair"
	if r.HasSession {
		next = "Next: start bridged. It uses the session in session.db; if its state is needs-pair, pair the account: bridged pair"
	}
	_, err := io.WriteString(to, strings.Join(append(lines, next), "\n")+"\n")
	return err
}
