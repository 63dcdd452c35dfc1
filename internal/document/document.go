// Package document reads the text of documents that strangers made: PDF, Word, Excel,
// PowerPoint, OpenDocument and plain text.
//
// All but plain text is read in a process of its own, with limits of time, memory and
// output: a document may make a reader spin or swell, and a process can be ended. Plain text is
// read as a stream.
package document

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gabriel-vasile/mimetype"

	"bridged/internal/bridge"
	"bridged/internal/intake"
)

const (
	// maxTime ends a process.
	maxTime = 10 * time.Second
	// killTime limits the wait for the input and output of a process that was killed.
	killTime = 2 * time.Second
	// maxText limits a text, in bytes; the rest is left out.
	maxText = 4 << 20
	// maxMemory limits the data of a process, in bytes, and goMemory what Go's collector aims at.
	maxMemory = 256 << 20
	goMemory  = "GOMEMLIMIT=160MiB"
	// maxQueued limits how many of a token tree read or wait.
	maxQueued = 16
	// headSize counts the bytes by which the kind of a document is known, as mimetype's limit.
	headSize = 3072
)

// Reader reads documents by starting a program that calls [Serve]: one at a time, for token trees
// in turn ([intake.Semaphore]).
type Reader struct {
	program string
	args    []string
	slot    *intake.Semaphore
	time    time.Duration // of one process
	started func(pid int) // is called for each process; nil but in tests
}

// NewReader returns a reader that has one process at a time.
func NewReader(program string, args ...string) *Reader {
	return &Reader{program, args, intake.NewSemaphore(intake.Limits{Slots: 1, Queued: maxQueued}), maxTime, nil}
}

// Part returns at most so many characters of a document's text, from an offset in characters on,
// and how many the whole text has. It calls open more than once, and holds nothing of the document
// but 32 KiB and the part; while it waits for its turn, nothing.
//
// It fails with [bridge.CodeUnsupportedMedia], [bridge.CodeTooManyConnections], and the errors of
// ctx, of open and of what that opens.
func (r *Reader) Part(ctx context.Context, open func() (io.ReadCloser, error), offset, most int) (text string, length int, err error) {
	read := func(f func(io.Reader) error) error {
		file, err := open()
		if err != nil {
			return err
		}
		return errors.Join(f(file), file.Close())
	}
	head := make([]byte, headSize)
	err = read(func(file io.Reader) error {
		n, err := io.ReadFull(file, head)
		head = head[:n]
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = nil
		}
		return err
	})
	if err != nil {
		return "", 0, err
	}
	p := &part{offset: offset, most: most}
	switch kindOf(head) {
	case "":
		return "", 0, bridge.Fail(bridge.CodeUnsupportedMedia, "this kind of document has no text that can be read here (%s): get_media says where to download it", mimetype.Detect(head).String())
	case plain:
		if err = read(p.plain); errors.Is(err, errNotUTF8) {
			p = &part{offset: offset, most: most}
			err = read(p.latin1)
		}
	default:
		p.isTrimmed, p.rest = true, maxText
		err = r.process(ctx, read, p)
	}
	if err != nil {
		return "", 0, err
	}
	text, length = p.end()
	return text, length, nil
}

// process has a process write the text of a document, when it is its turn.
func (r *Reader) process(ctx context.Context, read func(func(io.Reader) error) error, p *part) error {
	release, err := r.slot.Acquire(ctx)
	defer release()
	if errors.Is(err, intake.ErrNoSlot) {
		busy := bridge.Fail(bridge.CodeTooManyConnections, "too many other documents are being read: try again later")
		busy.RetryAfter = r.time
		return busy
	}
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, r.time)
	defer cancel()
	program := exec.CommandContext(limited, r.program, r.args...)
	program.Env = []string{goMemory, "GOMAXPROCS=1"} // and none of ours
	program.Stdout = p                               // its errors may quote the document, and are not for the log
	program.WaitDelay = killTime
	dieWithParent(program)
	return read(func(file io.Reader) error {
		document := &noting{Reader: file}
		program.Stdin = document
		err := program.Start()
		if err == nil && r.started != nil {
			r.started(program.Process.Pid)
		}
		if err == nil {
			err = program.Wait()
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case document.failure.Load() != nil:
			return *document.failure.Load()
		case err != nil:
			return bridge.Fail(bridge.CodeUnsupportedMedia, "the document cannot be read: it is damaged, encrypted or too large").Because(err)
		}
		return nil
	})
}

// noting notes why a document could not be read to its end.
type noting struct {
	io.Reader
	failure atomic.Pointer[error]
}

// Read implements io.Reader.
func (n *noting) Read(p []byte) (int, error) {
	read, err := n.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		n.failure.Store(&err)
	}
	return read, err
}

// The kinds of documents.
const (
	plain  = "plain"
	pdf    = "pdf"
	office = "office"
	sheet  = "sheet"
)

// kindOf returns the kind of a document by its bytes, "" for one without a text.
func kindOf(document []byte) string {
	found := mimetype.Detect(document)
	switch {
	case found.Is("application/pdf"):
		return pdf
	case found.Is("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"):
		return sheet
	case strings.HasPrefix(found.String(), "application/vnd.openxmlformats-officedocument."), strings.HasPrefix(found.String(), "application/vnd.oasis.opendocument."):
		return office
	}
	for one := found; one != nil; one = one.Parent() {
		if one.Is("text/plain") {
			return plain
		}
	}
	return ""
}

// Serve writes the text of one document, which it reads to its end. It is what a
// [Reader] starts.
func Serve(in io.Reader, out io.Writer) (err error) {
	if err := limitProcess(); err != nil {
		return fmt.Errorf("limit the process: %w", err)
	}
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("the document cannot be read: panic of type %T", cause)
		}
	}()
	document, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	switch kindOf(document) {
	case pdf:
		return writePDF(document, out)
	case office:
		return writeOffice(document, out)
	case sheet:
		return writeSheet(document, out)
	}
	return errors.New("no document with a text")
}
