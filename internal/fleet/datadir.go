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

// DataDir identifies a data directory in a fleet by a random name. The name is stored in a file
// of the directory, with the session that ran there last.
type DataDir struct {
	// Directory is the random name. Inode is the inode of the directory's lock file when the name
	// was made. A copy of the directory has another inode and gets a new name; a snapshot of the
	// whole file system has the same.
	Directory string `json:"directory"`
	Inode     uint64 `json:"inode"`
	Session   string `json:"session"`  // the session that ran here last
	Returned  bool   `json:"returned"` // it has ended, and its lease was released

	path string
}

// OpenDataDir reads the file, or creates it if the directory is new or a copy. inode is the inode
// of the directory's lock file, 0 if the system has none. The caller must hold the lock.
func OpenDataDir(path string, inode uint64) (*DataDir, error) {
	p := &DataDir{path: path}
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err == nil && json.Unmarshal(data, p) == nil && p.Directory != "" && p.Inode == inode {
		return p, nil
	}
	*p = DataDir{path: path, Directory: rand.Text(), Inode: inode}
	return p, p.save("", false)
}

// save replaces the file atomically and syncs it, so that it survives a power failure: a
// directory without its name would count as a copy.
func (p *DataDir) save(session string, returned bool) error {
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
