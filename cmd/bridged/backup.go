package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/rs/zerolog"

	"bridged/internal/store"
)

// backupCommand copies chats, messages and settings, also while the bridge
// runs.
//
// The session's keys are left out on purpose: a session that goes on from an
// old copy uses message keys twice, and recipients drop such messages without
// a word. After a restore the account is paired again.
type backupCommand struct {
	File string `arg:"" help:"The new file; it must not exist."`
}

// Run is called by kong.
func (b backupCommand) Run(e *environment) error {
	c, err := readPart(e.environ, (*config).checkDataDir)
	if err != nil {
		return err
	}
	if err := store.BackupFile(e.ctx, filepath.Join(c.DataDir, "bridged.db"), b.File); err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.stdout, "Chats, messages and settings are in %s. To restore: stop bridged, put the file in the place of bridged.db in DATA_DIR\n"+
		"(delete bridged.db-wal and bridged.db-shm), start, and pair the account again if its session is lost too.\n", b.File)
	return err
}

// reindexCommand makes the search index anew.
type reindexCommand struct{}

// Run is called by kong.
func (reindexCommand) Run(e *environment) (err error) {
	c, err := readPart(e.environ, (*config).checkDataDir)
	if err != nil {
		return err
	}
	dir, err := openDataDir(c.DataDir)
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
}

// compactCommand writes the store anew.
type compactCommand struct{}

// Run is called by kong.
func (compactCommand) Run(e *environment) (err error) {
	c, err := readPart(e.environ, (*config).checkDataDir)
	if err != nil {
		return err
	}
	dir, err := openDataDir(c.DataDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.close()) }()
	if err := store.Compact(e.ctx, dir.file("bridged.db")); err != nil {
		return err
	}
	_, err = fmt.Fprintln(e.stdout, "The store was written anew.")
	return err
}
