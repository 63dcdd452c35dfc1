// Package document reads the text of documents that strangers made: PDF, Word, Excel,
// PowerPoint, OpenDocument and plain text.
//
// All but plain text is read in a process of its own, with limits of time, memory and
// output: a document may make a reader spin or swell, and a process can be ended.
package document

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"

	"bridged/internal/bridge"
)

const (
	// maxTime ends a process.
	maxTime = 10 * time.Second
	// maxText limits a text, in bytes; the rest is left out.
	maxText = 4 << 20
	// maxMemory limits the data of a process, in bytes, where the system knows such a limit.
	maxMemory = 512 << 20
)

// Reader reads documents by starting a program that calls [Serve].
type Reader struct {
	program string
	args    []string
	turns   chan struct{}
	time    time.Duration // of one process
}

// NewReader returns a reader that has one process at a time.
func NewReader(program string, args ...string) *Reader {
	return &Reader{program, args, make(chan struct{}, 1), maxTime}
}

// Text returns the text of a document. It fails with [bridge.CodeUnsupportedMedia].
func (r *Reader) Text(ctx context.Context, document []byte) (string, error) {
	kind := kindOf(document)
	switch {
	case kind == "":
		return "", bridge.Fail(bridge.CodeUnsupportedMedia, "this kind of document has no text that can be read here (%s): get_media says where to download it", mimetype.Detect(document).String())
	case kind == plain:
		return plainText(document), nil
	}
	select {
	case r.turns <- struct{}{}:
		defer func() { <-r.turns }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, r.time)
	defer cancel()
	program := exec.CommandContext(ctx, r.program, r.args...)
	program.Env = []string{"GOMEMLIMIT=200MiB", "GOMAXPROCS=1"} // and none of ours
	program.Stdin = bytes.NewReader(document)
	text := &bounded{rest: maxText}
	program.Stdout = text // its errors may quote the document, and are not for the log
	if err := program.Run(); err != nil {
		return "", bridge.Fail(bridge.CodeUnsupportedMedia, "the document cannot be read: it is damaged, encrypted or too large").Because(err)
	}
	return strings.ToValidUTF8(strings.TrimSpace(text.text.String()), "\uFFFD"), nil
}

// bounded keeps the beginning of what is written to it.
type bounded struct {
	text bytes.Buffer
	rest int
}

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	taken := min(len(p), b.rest)
	b.rest -= taken
	_, err := b.text.Write(p[:taken])
	return len(p), err
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

// plainText decodes UTF-8, UTF-16 with its mark, and else ISO 8859-1.
func plainText(document []byte) string {
	switch {
	case bytes.HasPrefix(document, []byte{0xFF, 0xFE}), bytes.HasPrefix(document, []byte{0xFE, 0xFF}):
		units := make([]uint16, 0, len(document)/2)
		for i := 2; i+1 < len(document); i += 2 {
			low, high := document[i], document[i+1]
			if document[0] == 0xFE {
				low, high = high, low
			}
			units = append(units, uint16(low)|uint16(high)<<8)
		}
		return string(utf16.Decode(units))
	case utf8.Valid(document):
		return strings.TrimPrefix(string(document), "\uFEFF")
	}
	runes := make([]rune, len(document))
	for i, b := range document {
		runes[i] = rune(b)
	}
	return string(runes)
}

// Serve writes the text of one document, which it reads to its end. It is what a
// [Reader] starts.
func Serve(in io.Reader, out io.Writer) (err error) {
	if err := limitMemory(maxMemory); err != nil {
		return fmt.Errorf("limit memory: %w", err)
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
