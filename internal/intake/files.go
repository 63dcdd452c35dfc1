package intake

import (
	"context"
	"errors"
	"io"
	"time"
)

const (
	// smallFile bounds the size of files with a quota of their own, which large ones do not
	// hold up, and smallFiles their number.
	smallFile  = 1 << 20
	smallFiles = 32
	// largeFiles limits the number of larger files, and ofLargest that of files of the largest size.
	largeFiles = 16
	ofLargest  = 2
	// filePatience and filePace bound how slowly a file may come while others wait.
	filePatience = 10 * time.Second
	filePace     = 256 << 10
	// turnPatience limits how long a file waits for room.
	turnPatience = 2 * time.Minute
)

// ErrBusy reports that there was no room for a file in time.
var ErrBusy = errors.New("too many files are being received")

// Files bounds the files on the disk that are being received and sent.
type Files struct {
	small, large *Quota
	step, most   int64
}

// NewFiles returns a bound of files of most bytes at the most: 16 of them, or
// two of that size, beside 32 of up to a megabyte.
func NewFiles(most int64) *Files {
	step := min(smallFile, most)
	return &Files{
		small: NewQuota(Divide(smallFiles*step), filePatience, filePace),
		large: NewQuota(Divide(ofLargest*most), filePatience, filePace),
		step:  step, most: most,
	}
}

// Begin returns a file of a family, without room. cut must end its reading; see
// [Quota.Take].
func (f *Files) Begin(family int64, cut func()) *File {
	return &File{files: f, family: family, cut: cut, announced: f.most}
}

// File holds the room of one file. One goroutine uses it at a time.
type File struct {
	files     *Files
	family    int64
	cut       func()
	announced int64
	came      int64
	grant     *Grant
}

// Announce says how large the file will be, if that is known.
func (f *File) Announce(size int64) {
	if size >= 0 {
		f.announced = min(size, f.files.most)
	}
}

// Came notes that n more bytes have come, and waits until there is room for them on the
// disk. The errors are [ErrBusy], [ErrCut] and those of ctx.
func (f *File) Came(ctx context.Context, n int) error {
	before := f.came
	f.came += int64(n)
	switch {
	case n == 0:
	case before == 0 && f.came <= f.files.step:
		return f.take(ctx, f.files.small, f.files.step)
	case before <= f.files.step && f.came > f.files.step:
		return f.take(ctx, f.files.large, max(f.announced, f.files.large.shares.All/largeFiles))
	}
	f.grant.Came(n)
	if f.grant.WasCut() {
		return ErrCut
	}
	return nil
}

// take moves the file into the room of a quota.
func (f *File) take(ctx context.Context, quota *Quota, size int64) error {
	f.grant.Whole() // its sender is not the one who is slow now
	waiting, cancel := context.WithTimeoutCause(ctx, turnPatience, ErrBusy)
	defer cancel()
	grant, err := quota.Take(waiting, f.family, size, f.cut)
	switch {
	case err != nil && ctx.Err() == nil && errors.Is(context.Cause(waiting), ErrBusy):
		return ErrBusy
	case err != nil:
		return err
	}
	f.grant.Release()
	f.grant = grant
	return nil
}

// Close gives back the room. It may be called more than once.
func (f *File) Close() { f.grant.Release() }

// Reader returns from with the room of what is read.
func (f *File) Reader(ctx context.Context, from io.Reader) io.Reader {
	return fileReader{f, ctx, from}
}

type fileReader struct {
	file *File
	ctx  context.Context
	from io.Reader
}

// Read reads what there is room for.
func (r fileReader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if room := r.file.Came(r.ctx, n); room != nil {
		return 0, room
	}
	switch {
	case errors.Is(err, io.EOF):
		r.file.grant.Whole()
	case err != nil && r.file.grant.WasCut():
		err = ErrCut
	}
	return n, err
}
