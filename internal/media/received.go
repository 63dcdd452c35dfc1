package media

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/intake"
	"bridged/internal/media/disk"
	"bridged/internal/media/probe"
	"bridged/internal/urlguard"
)

// Received is a file that a caller has sent. It exists until it is closed.
type Received struct {
	file   *os.File
	size   int64
	SHA256 []byte
	remove func()
}

// Close removes the file. It may be called more than once, also on nil.
func (f *Received) Close() {
	if f != nil {
		f.remove()
	}
}

// Size returns the size of the file in bytes.
func (f *Received) Size() int64 { return f.size }

// ReadAt implements io.ReaderAt.
func (f *Received) ReadAt(p []byte, at int64) (int, error) { return f.file.ReadAt(p, at) }

func (p *Preparer) temporary() (*Received, error) {
	file, err := p.opts.Room.Create(p.create)
	if err != nil {
		return nil, disk.Failed(err)
	}
	return &Received{file: file, remove: sync.OnceFunc(func() {
		_ = file.Close() // it was read from since, or is of no use
		if err := os.Remove(file.Name()); err != nil && !errors.Is(err, os.ErrNotExist) {
			p.opts.Log.Error().Err(err).Msg("cannot remove a temporary file")
		}
	})}, nil
}

// Incoming is a file that a caller sends.
type Incoming struct {
	From io.Reader
	// Declared is its size, or a little more; negative if that is not known.
	Declared int64
	Tree     int64 // the token tree of its sender; see [bridge.Token]
	// Cancel ends the reading, from another goroutine, if it is too slow while others wait.
	Cancel func()
}

// Receive stores a file that a caller sends. It waits for a slot. Its errors are
// [bridge.CodePayloadTooLarge], [bridge.CodeStorageUnavailable],
// [bridge.CodeTooManyConnections], or the errors of ctx and From.
func (p *Preparer) Receive(ctx context.Context, in Incoming) (*Received, error) {
	reservation := p.files.Begin(in.Tree, in.Cancel)
	reservation.Declare(in.Declared)
	f, err := p.temporary()
	if err != nil {
		reservation.Close()
		return nil, err
	}
	remove := f.remove
	f.remove = func() {
		remove()
		reservation.Close()
	}
	if err := f.fill(p, reservation.Reader(ctx, in.From), p.opts.MaxBytes); err != nil {
		f.Close()
		return nil, crowded(err)
	}
	return f, nil
}

func crowded(err error) error {
	var sentence string
	switch {
	case errors.Is(err, intake.ErrBusy):
		sentence = "too many other files are being received: try again later"
	case errors.Is(err, intake.ErrTooSlow):
		sentence = "the file was received too slowly while others waited: send it again"
	default:
		return err
	}
	e := bridge.Fail(bridge.CodeTooManyConnections, "%s", sentence)
	e.RetryAfter = 10 * time.Second
	return e
}

// fill copies at most so many bytes.
func (f *Received) fill(p *Preparer, from io.Reader, most int64) error {
	sum := sha256.New()
	size, err := io.Copy(io.MultiWriter(p.opts.Room.Writer(f.file), sum), io.LimitReader(from, most+1))
	switch {
	case disk.IsWriteError(err):
		return disk.Failed(err)
	case err != nil:
		return err
	case size > most:
		return p.tooLarge()
	}
	f.size, f.SHA256 = size, sum.Sum(nil)
	return nil
}

func (p *Preparer) tooLarge() error {
	return bridge.Fail(bridge.CodePayloadTooLarge, "the file is larger than the %d bytes that %s allows", p.opts.MaxBytes, cmp.Or(p.opts.Setting, "MEDIA_MAX_BYTES"))
}

// Batch stores several files that a caller sends in one body. They wait for a slot once, and are together as large
// as one file may be.
type Batch struct {
	p           *Preparer
	reservation *intake.File
	left        int64 // bytes
	files       []*Received
}

// NewBatch returns a batch, which must be closed. in has no From.
func (p *Preparer) NewBatch(in Incoming) *Batch {
	b := &Batch{p: p, reservation: p.files.Begin(in.Tree, in.Cancel), left: p.opts.MaxBytes}
	b.reservation.Declare(in.Declared)
	return b
}

// Receive stores the next file, which exists until it or the batch is closed. Its errors are those of
// [Preparer.Receive].
func (b *Batch) Receive(ctx context.Context, from io.Reader) (*Received, error) {
	f, err := b.p.temporary()
	if err != nil {
		return nil, err
	}
	b.files = append(b.files, f)
	if err := f.fill(b.p, b.reservation.Reader(ctx, from), b.left); err != nil {
		return nil, crowded(err)
	}
	b.left -= f.size
	return f, nil
}

// Close removes the files.
func (b *Batch) Close() {
	for _, f := range b.files {
		f.Close()
	}
	b.reservation.Close()
}

// CheckSize refuses a body whose file is too large; around the file it has at most margin bytes.
func (p *Preparer) CheckSize(length, margin int64) error {
	if length > p.opts.MaxBytes+margin {
		return p.tooLarge()
	}
	return nil
}

// CheckReceived refuses a request, before its file is there, that
// [Preparer.PrepareReceived] would refuse with any file.
func (p *Preparer) CheckReceived(req Request) error {
	given, err := givenType(req)
	if err == nil && req.PTT && p.opts.Converter == nil && given != "" && !isVoice(given) {
		err = notVoice(probe.BaseType(given))
	}
	return err
}

// PrepareReceived describes a file that was received, and converts it as
// [Preparer.Prepare] does. name and contentType come from its sender's device.
func (p *Preparer) PrepareReceived(ctx context.Context, req Request, f *Received, name, contentType string) (bridge.File, error) {
	if f.size == 0 {
		return bridge.File{}, bridge.Invalid("the file is empty")
	}
	return p.describe(ctx, req, urlguard.Result{ContentType: contentType, FileName: name, IsNamed: true, Size: f.size}, f.file)
}
