package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"bridged/internal/config"
	"bridged/internal/store"
	"bridged/internal/store/storefile"
)

// backupCommand copies chats, messages and settings. It copies tokens, webhooks and hooks only on
// request, because restoring them makes revoked ones valid again. It never copies the session's keys: a
// session that continues from an old copy uses message keys twice, and recipients drop such messages.
func (e *environment) backupCommand() *cobra.Command {
	var withSecrets bool
	c := e.newCommand("backup <file>", "Copy chats, messages and settings into a new file, also while the bridge runs.", func(args []string) error {
		settings, err := config.Part(e.environ, (*config.Config).CheckDataDir)
		if err != nil {
			return err
		}
		if err := storefile.Backup(e.ctx, filepath.Join(settings.DataDir, "bridged.db"), args[0], withSecrets); err != nil {
			return err
		}
		holds := "Chats and messages are in %s. Tokens, webhooks and hooks are not: create them again after a restore, or copy them with --with-secrets.\n"
		if withSecrets {
			holds = "Chats, messages, tokens, webhooks and hooks are in %s, with their secrets: protect the file like BRIDGE_TOKEN.\n"
		}
		_, err = fmt.Fprintf(e.stdout, holds+"To restore: stop bridged, replace bridged.db in DATA_DIR with the file (delete bridged.db-wal and bridged.db-shm),\n"+
			"start, and pair the account again if its session is lost too.\n", args[0])
		return err
	})
	c.Flags().BoolVar(&withSecrets, "with-secrets", false, "Also copy tokens, webhooks and hooks, with their secrets. After a restore they are valid again, even if they were revoked")
	return c
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
