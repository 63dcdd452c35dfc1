package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/rs/zerolog"

	"bridged/internal/store"
)

// backupCommand copies chats and messages, also while the bridge runs.
//
// Tokens, webhooks and hooks are left out unless they are asked for: a restore
// would let in again whoever was shut out since.
//
// The session's keys are left out on purpose: a session that goes on from an
// old copy uses message keys twice, and recipients drop such messages silently.
// After a restore the account is paired again.
type backupCommand struct {
	File        string `arg:"" help:"The new file; it must not exist."`
	WithSecrets bool   `help:"Copy tokens, webhooks and hooks, too, with their secrets. Those revoked since work again after a restore."`
}

// Run copies the store and prints how to restore it.
func (b backupCommand) Run(e *environment) error {
	c, err := readPart(e.environ, (*config).checkDataDir)
	if err != nil {
		return err
	}
	if err := store.BackupFile(e.ctx, filepath.Join(c.DataDir, "bridged.db"), b.File, b.WithSecrets); err != nil {
		return err
	}
	holds := "Chats and messages are in %s. Tokens, webhooks and hooks are not: make them anew after a restore, or copy them with --with-secrets.\n"
	if b.WithSecrets {
		holds = "Chats, messages, tokens, webhooks and hooks are in %s, with their secrets: keep it like BRIDGE_TOKEN.\n"
	}
	_, err = fmt.Fprintf(e.stdout, holds+"To restore: stop bridged, replace bridged.db in DATA_DIR with the file (delete bridged.db-wal and bridged.db-shm),\n"+
		"start, and pair the account again if its session is lost too.\n", b.File)
	return err
}

// reindexCommand rebuilds the search index.
type reindexCommand struct{}

// Run rebuilds the index and prints how far it is.
func (reindexCommand) Run(e *environment) error {
	return withDataDir(e, func(dir *dataDir) (err error) {
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

// withDataDir does something while no bridge uses the data directory.
func withDataDir(e *environment, do func(*dataDir) error) (err error) {
	c, err := readPart(e.environ, (*config).checkDataDir)
	if err != nil {
		return err
	}
	dir, err := openDataDir(c.DataDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.close()) }()
	return do(dir)
}
