package disk

import (
	"io"

	"bridged/internal/bridge"
)

// Reserve is the free space of a disk that imports leave to everything else, such as messages that
// come, and tokens that are revoked.
type Reserve struct {
	Dir string // a directory on the disk
	// Free returns the free bytes of the disk of a directory, and all of them; nil asks the system.
	Free func(dir string) (free, all int64, err error)
}

// Limits of a reserve, in bytes: a twentieth of the disk within these, but at most a quarter of it.
const (
	minReserve = 128 << 20
	maxReserve = 1 << 30
)

// ReserveOf returns the reserve of a disk of so many bytes.
func ReserveOf(all int64) int64 { return min(max(all/20, minReserve), maxReserve, all/4) }

// Check refuses to write so many bytes that would not leave the reserve, with
// [bridge.CodeStorageUnavailable]. A system that does not report its free space refuses nothing.
func (r *Reserve) Check(more int64) error {
	if r == nil {
		return nil
	}
	look := r.Free
	if look == nil {
		look = Free
	}
	free, all, err := look(r.Dir)
	if err != nil || free-more >= ReserveOf(all) {
		return nil //nolint:nilerr // without a figure there is nothing to compare
	}
	return bridge.Fail(bridge.CodeStorageUnavailable, "imports leave %d MB of the disk free, of which it has %d MB left: free some space, and import the chat again to store the rest", ReserveOf(all)>>20, free>>20)
}

// checkEvery is how many bytes are written between two looks at the disk.
const checkEvery = 1 << 20

// Reader returns a reader whose bytes are written to the disk. It fails as [Reserve.Check] does.
func (r *Reserve) Reader(from io.Reader) io.Reader { return &reservedReader{Reader: from, reserve: r} }

type reservedReader struct {
	io.Reader
	reserve   *Reserve
	unchecked int64 // bytes until the next look
}

func (r *reservedReader) Read(p []byte) (int, error) {
	if r.unchecked <= 0 {
		if err := r.reserve.Check(checkEvery); err != nil {
			return 0, err
		}
		r.unchecked = checkEvery
	}
	n, err := r.Reader.Read(p)
	r.unchecked -= int64(n)
	return n, err
}
