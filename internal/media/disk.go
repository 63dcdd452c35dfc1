package media

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// room frees bytes of a full disk, and reports whether it freed any; a nil one frees none.
type room func(bytes int64) bool

// retry calls do, and again as long as the disk is full and room can be made.
func (r room) retry(size int64, do func() error) error {
	for {
		err := do()
		if !isFull(err) || r == nil || !r(size) {
			return err
		}
	}
}

// isFull reports whether an error is that of a full disk.
func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

func (r room) create(create func() (*os.File, error)) (file *os.File, err error) {
	err = r.retry(1, func() (err error) { file, err = create(); return err })
	return file, err
}

// writer returns a writer that makes room and goes on when the disk is full. It fails with [writeError].
func (r room) writer(w io.Writer) io.Writer { return &roomyWriter{w, r} }

type roomyWriter struct {
	dst  io.Writer
	room room
}

func (w *roomyWriter) Write(p []byte) (n int, err error) {
	err = w.room.retry(int64(len(p)), func() error {
		written, err := w.dst.Write(p[n:])
		n += written
		if err != nil {
			return &writeError{err}
		}
		return nil
	})
	return n, err
}

// writeError is a failure of the disk, as opposed to one of the network.
type writeError struct{ err error }

func (e *writeError) Error() string { return "write media file: " + e.err.Error() }
func (e *writeError) Unwrap() error { return e.err }
