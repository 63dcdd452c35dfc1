package dbfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrEmpty means that a file has no bytes. SQLite takes it for a new database,
// and what was in it would be gone silently.
var ErrEmpty = errors.New("the file is empty")

// Header is what the first bytes of a SQLite file say
// (sqlite.org/fileformat.html, 1.3).
type Header struct {
	Application     uint32
	pageSize, pages int64
}

// ReadHeader reads the header of a database and compares the file with it. It
// fails with [ErrEmpty], or says what is wrong where the file is no database, or
// is cut short. The length counts only without a write-ahead log, which may have
// the pages that are missing.
func ReadHeader(path string) (Header, error) {
	file, err := os.Open(path)
	if err != nil {
		return Header{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return Header{}, err
	}
	if info.Size() == 0 {
		return Header{}, ErrEmpty
	}
	var b [100]byte
	if _, err := io.ReadFull(file, b[:]); err != nil || string(b[:16]) != "SQLite format 3\x00" {
		return Header{}, errors.New("it does not begin as a SQLite database does")
	}
	h := Header{
		Application: binary.BigEndian.Uint32(b[68:]),
		pageSize:    int64(binary.BigEndian.Uint16(b[16:])),
		pages:       int64(binary.BigEndian.Uint32(b[28:])),
	}
	if h.pageSize == 1 {
		h.pageSize = 65536
	}
	if _, err := os.Stat(path + "-wal"); err != nil && info.Size() < h.pageSize*h.pages {
		return h, fmt.Errorf("it has %d bytes of %d", info.Size(), h.pageSize*h.pages)
	}
	return h, nil
}
