package dbfile

import (
	"errors"
	"os"
	"sync"
)

// Spare is a file that reserves space on the disk. An action that must succeed on a full disk, such as
// revoking a token, releases the space and is tried once more. It is safe for concurrent use.
type Spare struct {
	Path string

	mu sync.Mutex
}

// spareSize is more than a transaction of a few rows adds to a write-ahead log, in bytes.
const spareSize = 1 << 20

// Fill writes the file, unless it is there.
func (s *Spare) Fill() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if info, err := os.Stat(s.Path); err == nil && info.Size() == spareSize {
		return nil
	}
	file, err := os.OpenFile(s.Path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(make([]byte, spareSize))
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, os.Remove(s.Path))
	}
	return nil
}

// Release removes the file, and reports whether there was one. It does nothing on nil.
func (s *Spare) Release() bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return os.Remove(s.Path) == nil
}
