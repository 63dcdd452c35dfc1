package shell

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
)

// withFile opens a regular file for use. An error of reading it takes precedence over the one of use.
func withFile(path string, use func(io.Reader) error) (err error) {
	// Opening a pipe would wait for its writer.
	if info, err := os.Stat(path); err != nil {
		return &fileError{err}
	} else if !info.Mode().IsRegular() {
		return Usage("%s is not a regular file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return &fileError{err}
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	read := &trackedReader{Reader: file}
	if err = use(read); err != nil && read.err != nil {
		return &fileError{read.err}
	}
	return err
}

// fileError is the error of a local file to send or import.
type fileError struct{ error }

// FileError returns an error of a local file, with the exit code for it.
func FileError(err error) error { return &fileError{err} }

// IsMissingFile reports whether err says that a file to send or import does not exist.
func IsMissingFile(err error) bool {
	_, ok := errors.AsType[*fileError](err)
	return ok && errors.Is(err, fs.ErrNotExist)
}

func (e *fileError) Unwrap() error { return e.error }

// trackedReader remembers the error of its reader and counts the bytes.
type trackedReader struct {
	io.Reader
	err   error
	count atomic.Int64
}

func (n *trackedReader) Read(p []byte) (int, error) {
	count, err := n.Reader.Read(p)
	n.count.Add(int64(count))
	if err != nil && err != io.EOF {
		n.err = err
	}
	return count, err
}
