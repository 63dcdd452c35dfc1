// Package document reads the text of untrusted documents: PDF, Word, Excel, PowerPoint,
// OpenDocument and plain text.
//
// All but plain text is read in a separate process with limits of time, memory and output,
// because a document may make a parser loop or allocate without end, and a process can be killed.
// Plain text is read as a stream.
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
	// processTimeout limits one process.
	processTimeout = 10 * time.Second
	// killTimeout limits the wait for the input and output of a killed process.
	killTimeout = 2 * time.Second
	// maxText limits a text, in bytes. The rest is left out.
	maxText = 4 << 20
	// maxMemory limits the data of a process, in bytes. goMemory is the soft limit of Go's
	// garbage collector.
	maxMemory = 256 << 20
	goMemory  = "GOMEMLIMIT=160MiB"
	// maxQueued limits how many documents one token tree may read or wait for.
	maxQueued = 16
	// headSize is how many bytes determine the kind of a document, as in package mimetype.
	headSize = 3072
)

// Reader reads documents by starting a program that calls [Serve]. It reads one document at a
// time, for token trees in turn ([intake.Semaphore]).
type Reader struct {
	program string
	args    []string
	slot    *intake.Semaphore
	time    time.Duration // of one process
	started func(pid int) // called for each process; nil except in tests
}

// NewReader returns a reader that starts a program with arguments.
func NewReader(program string, args ...string) *Reader {
	return &Reader{program, args, intake.NewSemaphore(intake.Limits{Slots: 1, Queued: maxQueued}), processTimeout, nil}
}

// Part returns at most most characters of a document's text, starting at an offset in characters,
// and the length of the whole text in characters. It calls open more than once. It holds only 32
// KiB of the document and the part in memory, and nothing while it waits for its turn.
//
// It fails with [bridge.CodeUnsupportedMedia], [bridge.CodeTooManyConnections], and the errors of
// ctx, of open and of the opened document.
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

// process waits for its turn and makes a process write the text of a document to p.
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
	program.Stdout = p                               // its errors may quote the document, so they are not logged
	program.WaitDelay = killTimeout
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

// noting records the error that ended the reading of a document.
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

// These are the kinds of documents.
const (
	plain  = "plain"
	pdf    = "pdf"
	office = "office"
	sheet  = "sheet"
)

// kindOf returns the kind of a document by its first bytes, or "" if it has no readable text.
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

// Serve reads one document to its end and writes its text. It runs in the process that a [Reader]
// starts.
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
	return errors.New("not a document with readable text")
}
