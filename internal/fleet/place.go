package fleet

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"bridged/internal/dbfile"
)

// Place identifies a data directory in a fleet: by a random name, kept in a file with
// the session that was run here last.
type Place struct {
	// Directory is the random name. Inode is that of the directory's lock file when
	// the name was made: a copy of the directory has another one, and gets a name of
	// its own. A snapshot of the whole file system has the same.
	Directory string `json:"directory"`
	Inode     uint64 `json:"inode"`
	Session   string `json:"session"`  // that was run here last
	Returned  bool   `json:"returned"` // it ended, and was given back to the fleet

	path string
}

// OpenPlace reads the file, or makes it in a new directory and in a copy. inode is
// that of the directory's lock file, 0 where the system has none. The caller has the
// lock.
func OpenPlace(path string, inode uint64) (*Place, error) {
	p := &Place{path: path}
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err == nil && json.Unmarshal(data, p) == nil && p.Directory != "" && p.Inode == inode {
		return p, nil
	}
	*p = Place{path: path, Directory: rand.Text(), Inode: inode}
	return p, p.save("", false)
}

// save replaces the file, whole or not at all, also where the power fails: a directory
// that has forgotten its name counts as a copy.
func (p *Place) save(session string, returned bool) error {
	p.Session, p.Returned = session, returned
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(p.path+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(append(data, '\n'))
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(p.path+".new", p.path); err != nil {
		return err
	}
	return dbfile.SyncDir(filepath.Dir(p.path))
}
