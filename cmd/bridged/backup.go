package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"bridged/internal/backup"
	"bridged/internal/bridge"
	"bridged/internal/config"
	"bridged/internal/shell"
	"bridged/internal/store"
)

const backupHelp = `Copy chats, messages and settings into a file, also while the bridge runs.

The destination is a new file, a directory, in which the copy is named by its date, or - for standard output. The
copy is checked before it gets its name. Restore it with: bridged restore FILE

A copy with --with-files is a tar file. No copy has the keys of the linked device.`

// backupFlags are the flags of the command backup.
type backupFlags struct {
	secrets, files, replace, asJSON bool
	retain                          int
}

// backupCommand copies chats, messages and settings. It copies tokens, webhooks and hooks only on
// request, because restoring them makes revoked ones valid again.
func (e *environment) backupCommand() *cobra.Command {
	var flags backupFlags
	c := e.newCommand("backup <destination>", backupHelp, func(args []string) error { return e.backup(args[0], flags) })
	c.Example = "  bridged backup bridged.db\n  bridged backup /var/backups/bridged --keep 7\n  bridged backup - | age -r age1… > bridged.db.age"
	c.Flags().BoolVar(&flags.secrets, "with-secrets", false, "Also copy tokens, webhooks and hooks, with their secrets. After a restore they are valid again, even if they were revoked")
	c.Flags().BoolVar(&flags.files, "with-files", false, "Also copy the files of imported chats")
	c.Flags().BoolVar(&flags.replace, "force", false, "Replace the file if it exists")
	c.Flags().IntVar(&flags.retain, "keep", 0, "Then remove the oldest copies in the directory, so that `N` are left")
	c.Flags().BoolVar(&flags.asJSON, "json", false, "Print the result as JSON, on standard error if the copy is on standard output")
	return c
}

func (e *environment) backup(destination string, flags backupFlags) error {
	settings, err := config.Part(e.environ, (*config.Config).CheckDataDir)
	if err != nil {
		return err
	}
	from := backup.Source{DataDir: settings.DataDir, Files: flags.files, Secrets: flags.secrets}
	info, err := os.Stat(destination)
	isDir := err == nil && info.IsDir()
	switch {
	case flags.retain < 0:
		return shell.Usage("--keep must be a number of copies, such as 7")
	case flags.retain > 0 && !isDir:
		return shell.Usage("--keep needs a directory, which %s is not: create it first", destination)
	case flags.replace && (isDir || destination == "-"):
		return shell.Usage("--force needs a file: it replaces nothing in a directory or on standard output")
	}
	result := e.stdout
	var report backup.Report
	switch {
	case destination == "-":
		result = e.stderr
		report, err = e.streamBackup(from)
	case isDir:
		report, err = backup.ToDirectory(e.ctx, from, destination, flags.retain, time.Now())
	default:
		report, err = backup.ToFile(e.ctx, from, destination, flags.replace)
	}
	if err != nil {
		return err
	}
	if flags.asJSON {
		return shell.PrintJSON(result, report)
	}
	return describeBackup(result, report)
}

// newBackups returns the schedule of nightly backups, or nil without BACKUP_DIR.
func (a *app) newBackups(c config.Config) *backup.Schedule {
	if c.BackupDir == "" {
		return nil
	}
	return backup.NewSchedule(backup.ScheduleOptions{
		Source: backup.Source{DataDir: c.DataDir, Files: c.BackupWithFiles, Secrets: c.BackupWithSecrets},
		Dir:    c.BackupDir, At: c.BackupAt.Duration(), Retain: c.BackupKeep, Zone: time.Local, Now: a.store.Clock().Now,
		Failed: func(ctx context.Context, night string, f bridge.BackupFailure) {
			if err := a.store.LogBackupFailure(ctx, night, f); err != nil {
				a.log.Error().Err(err).Msg("cannot store the failure of a backup in the log of events")
			}
		},
		Log: a.log,
	})
}

// backupState returns the function that reads the state of nightly backups, or nil without BACKUP_DIR.
func (a *app) backupState() bridge.BackupState {
	if a.backups == nil {
		return nil
	}
	return a.backups.State
}

// streamBackup writes a backup to standard output, unless that is a terminal.
func (e *environment) streamBackup(from backup.Source) (backup.Report, error) {
	if isTerminal(e.stdout) {
		return backup.Report{}, shell.Usage("standard output is a terminal: send it to a file or a program, as in: bridged backup - > bridged.db")
	}
	ignoreSIGPIPE() // otherwise the signal ends the program without an error message
	dir := cmp.Or(os.Getenv("TMPDIR"), filepath.Join(from.DataDir, "tmp"))
	return backup.ToStream(e.ctx, from, e.stdout, dir)
}

func describeBackup(to io.Writer, r backup.Report) error {
	destination := r.File
	if destination == "-" {
		destination = "standard output"
	}
	lines := fmt.Sprintf("Copied %s of %s to %s (%.1f MB), and checked the copy.\n", bridge.Counted(r.Messages, "message"), bridge.Counted(r.Chats, "chat"), shell.Printable(destination), float64(r.Bytes)/1e6)
	if r.WithSecrets {
		lines += "It also has tokens, webhooks and hooks with their secrets: protect it like BRIDGE_TOKEN.\n"
	} else {
		lines += "It has no tokens, webhooks and hooks: create them again after a restore, or copy them with --with-secrets.\n"
	}
	switch {
	case r.WithFiles && r.MissingFiles > 0:
		lines += fmt.Sprintf("%d of %d files of imported chats are missing or damaged in DATA_DIR.\n", r.MissingFiles, r.ImportedFiles)
	case r.WithFiles:
		lines += fmt.Sprintf("It also has %s of imported chats.\n", bridge.Counted(r.ImportedFiles, "file"))
	case r.ImportedFiles > 0:
		lines += fmt.Sprintf("It does not have %s of imported chats, which --with-files copies.\n", bridge.Counted(r.ImportedFiles, "file"))
	}
	for _, name := range r.Removed {
		lines += "Removed " + name + ".\n"
	}
	_, err := io.WriteString(to, lines)
	return err
}

func (e *environment) reindexCommand() *cobra.Command {
	return e.newCommand("reindex", "Rebuild the search index; the bridge must be stopped.", func([]string) (err error) {
		settings, err := config.Part(e.environ, (*config.Config).CheckDataDir)
		if err != nil {
			return err
		}
		dir, err := openDataDir(settings.DataDir)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, dir.close()) }()
		s, err := store.Open(e.ctx, store.Options{Path: dir.file("bridged.db"), Log: newLog(e.stderr, zerolog.WarnLevel, "")})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		err = s.Reindex(e.ctx, func(done, total int) { fmt.Fprintf(e.stdout, "\rindexed %d of %d messages", done, total) })
		fmt.Fprintln(e.stdout)
		return err
	})
}
