// Package disk writes files to a disk that may be full.
package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
)

// Room frees bytes of a full disk, and reports whether it freed any; a nil one frees none.
type Room func(bytes int64) bool

// Retry calls do, and again as long as the disk is full and room can be made.
func (r Room) Retry(size int64, do func() error) error {
	for {
		err := do()
		if !IsFull(err) || r == nil || !r(size) {
			return err
		}
	}
}

// IsFull reports whether an error means that the disk is full.
func IsFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

func (r Room) Create(create func() (*os.File, error)) (file *os.File, err error) {
	err = r.Retry(1, func() (err error) { file, err = create(); return err })
	return file, err
}

// Writer returns a writer that makes room and goes on when the disk is full. It fails with [WriteError].
func (r Room) Writer(w io.Writer) io.Writer { return &freeingWriter{w, r} }

type freeingWriter struct {
	dst  io.Writer
	room Room
}

func (w *freeingWriter) Write(p []byte) (n int, err error) {
	err = w.room.Retry(int64(len(p)), func() error {
		written, err := w.dst.Write(p[n:])
		n += written
		if err != nil {
			return &WriteError{err}
		}
		return nil
	})
	return n, err
}

// WriteError is a failure of the disk, as opposed to one of the network.
type WriteError struct{ Err error }

func (e *WriteError) Error() string { return "write media file: " + e.Err.Error() }
func (e *WriteError) Unwrap() error { return e.Err }

// IsWriteError reports whether an error is a [WriteError].
func IsWriteError(err error) bool {
	_, ok := errors.AsType[*WriteError](err)
	return ok
}

// ProgressEvery is how often a long transfer is logged.
const ProgressEvery = 5 * time.Second

// progress logs from time to time how many bytes were written to it.
type progress struct {
	log    zerolog.Logger
	what   string
	every  time.Duration
	logged time.Time
	bytes  int64
}

// NewProgress returns a writer that logs every so often how many bytes were written to it.
func NewProgress(log zerolog.Logger, what string, every time.Duration) io.Writer {
	return &progress{log: log, what: what, every: every, logged: time.Now()}
}

func (p *progress) Write(b []byte) (int, error) {
	p.bytes += int64(len(b))
	if now := time.Now(); now.Sub(p.logged) >= p.every {
		p.logged = now
		p.log.Info().Int64("bytes", p.bytes).Msg(p.what)
	}
	return len(b), nil
}

// CreateIn creates a temporary file in a directory that may have been wiped, but none above
// it: nothing should take the place of a data directory that is gone.
func CreateIn(dir, pattern string) (*os.File, error) {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return os.CreateTemp(dir, pattern)
}

func Failed(err error) error {
	return bridge.Fail(bridge.CodeStorageUnavailable, "the file could not be stored: the disk may be full").Because(err)
}
