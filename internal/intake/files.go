package intake

import (
	"context"
	"errors"
	"io"
	"time"
)

const (
	// smallFile is the largest size of files with a separate quota, so that large files do not
	// block them. smallFiles is their number.
	smallFile  = 1 << 20
	smallFiles = 32
	// largeFiles limits the number of larger files, and ofLargest the number of files of the
	// largest size.
	largeFiles = 16
	ofLargest  = 2
	// fileTimeout and filePace define how slowly a file may arrive while others wait.
	fileTimeout = 10 * time.Second
	filePace    = 256 << 10
	// waitTimeout limits how long a file waits for a reservation.
	waitTimeout = 2 * time.Minute
)

// ErrBusy means that a file got no reservation in time.
var ErrBusy = errors.New("too many files are being received")

// Files limits the files on disk that are being received and sent.
type Files struct {
	small, large *Quota
	step, most   int64
}

// NewFiles returns a limit for files of up to most bytes: 16 of them, or two of the largest size,
// and in addition 32 of up to a megabyte.
func NewFiles(most int64) *Files {
	step := min(smallFile, most)
	return &Files{
		small: NewQuota(Divide(smallFiles*step), fileTimeout, filePace),
		large: NewQuota(Divide(ofLargest*most), fileTimeout, filePace),
		step:  step, most: most,
	}
}

// Begin returns a file of a token tree, without a reservation. cancel must cancel its reading; see
// [Quota.Take].
func (f *Files) Begin(tree int64, cancel func()) *File {
	return &File{files: f, tree: tree, cancel: cancel, declared: f.most}
}

// File is the reservation of one file. Only one goroutine may use it at a time.
type File struct {
	files    *Files
	tree     int64
	cancel   func()
	declared int64
	received int64
	reserved *Reservation
}

// Declare sets the expected size, if it is known.
func (f *File) Declare(size int64) {
	if size >= 0 {
		f.declared = min(size, f.files.most)
	}
}

// Received records that n more bytes were received, and waits until they fit into the quota of the
// disk. The errors are [ErrBusy], [ErrTooSlow] and the error of ctx.
func (f *File) Received(ctx context.Context, n int) error {
	before := f.received
	f.received += int64(n)
	switch {
	case n == 0:
	case before == 0 && f.received <= f.files.step:
		return f.take(ctx, f.files.small, f.files.step)
	case before <= f.files.step && f.received > f.files.step:
		return f.take(ctx, f.files.large, max(f.declared, f.files.large.quotas.All/largeFiles))
	}
	f.reserved.Received(n)
	if f.reserved.WasCancelled() {
		return ErrTooSlow
	}
	return nil
}

// take moves the file to a reservation in a quota.
func (f *File) take(ctx context.Context, quota *Quota, size int64) error {
	f.reserved.Complete() // from here on the sender is not the slow one
	waiting, cancel := context.WithTimeoutCause(ctx, waitTimeout, ErrBusy)
	defer cancel()
	reserved, err := quota.Take(waiting, f.tree, size, f.cancel)
	switch {
	case err != nil && ctx.Err() == nil && errors.Is(context.Cause(waiting), ErrBusy):
		return ErrBusy
	case err != nil:
		return err
	}
	f.reserved.Release()
	f.reserved = reserved
	return nil
}

// Close releases the reservation. It may be called more than once.
func (f *File) Close() { f.reserved.Release() }

// Reader returns a reader of from that reserves space for the bytes it reads.
func (f *File) Reader(ctx context.Context, from io.Reader) io.Reader {
	return fileReader{f, ctx, from}
}

type fileReader struct {
	file *File
	ctx  context.Context
	from io.Reader
}

// Read reads as much as fits.
func (r fileReader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if err := r.file.Received(r.ctx, n); err != nil {
		return 0, err
	}
	switch {
	case errors.Is(err, io.EOF):
		r.file.reserved.Complete()
	case err != nil && r.file.reserved.WasCancelled():
		err = ErrTooSlow
	}
	return n, err
}
