package harness

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite"
)

// InDataDir returns the places in the data directory's files that contain the given
// bytes.
func (p *Process) InDataDir(what []byte) (found []string) {
	p.T.Helper()
	err := filepath.WalkDir(p.Env["DATA_DIR"], func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && !entry.Type().IsRegular() {
			return nil
		}
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if bytes.Contains(data, what) {
			found = append(found, filepath.Base(path))
		}
		return err
	})
	if err != nil {
		p.T.Fatal(err)
	}
	return found
}

// Vanishes waits until the data directory contains no trace of the secrets.
func (p *Process) Vanishes(secrets map[string][]byte) {
	p.T.Helper()
	Eventually(p.T, func() error {
		for name, secret := range secrets {
			if found := p.InDataDir(secret); len(found) > 0 {
				return fmt.Errorf("%s is still in %v", name, found)
			}
		}
		return nil
	})
}

// InDatabase runs a statement in a database of the stopped bridge.
func (p *Process) InDatabase(name, query string) {
	p.T.Helper()
	db := Must(sql.Open("sqlite", p.DatabasePath(name)))(p.T)
	_, err := db.Exec(query)
	if err := errors.Join(err, db.Close()); err != nil {
		p.T.Fatal(err)
	}
}

func (p *Process) DatabasePath(name string) string {
	return "file:" + (&url.URL{Path: filepath.Join(p.Env["DATA_DIR"], name)}).EscapedPath()
}
