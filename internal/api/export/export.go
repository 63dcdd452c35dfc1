// Package export writes a whole chat: as JSON Lines, as a page of HTML, or as the text that the apps'
// "Export chat" makes, alone or in a zip with its files.
//
// A chat is read in pages, the oldest messages first, so memory does not grow with its length, and no transaction of the
// store is open while a slow reader receives a page. The export has the messages that were stored when it began, each once,
// and as it is when its page is read, with edits and deletions until then.
package export

import (
	"archive/zip"
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"bridged/internal/api/download"
	"bridged/internal/bridge"
	"bridged/internal/chatexport"
	"bridged/internal/media/files"
)

// Format is the form of an export.
type Format string

// The formats.
const (
	JSONL Format = "jsonl"
	HTML  Format = "html"
	Text  Format = "txt"
)

// Formats lists them.
var Formats = []string{string(JSONL), string(HTML), string(Text)}

// mimeTypes has the types of exports without files.
var mimeTypes = map[Format]string{JSONL: "application/x-ndjson", HTML: "text/html; charset=utf-8", Text: "text/plain; charset=utf-8"}

// MimeType returns the type of an export of a format, with or without files.
func (f Format) MimeType(withFiles bool) string {
	if withFiles {
		return "application/zip"
	}
	return mimeTypes[f]
}

// SetHeader sets the headers of the answer, except its type.
func (e *Export) SetHeader(header http.Header) {
	extension := "." + string(e.Format)
	if e.Files {
		extension = ".zip"
	}
	header.Set("Content-Disposition", download.ContentDisposition(download.Attachment, "WhatsApp Chat with "+e.Chat.Name+extension))
	header.Set("Content-Security-Policy", contentSecurityPolicy)
}

const (
	// pageMessages limits a page, in addition to the bytes that limit all pages.
	pageMessages = 250
	// MaxFiles limits the files of an export, so that it can be imported again. The archive's list of them is the only part
	// that is held in memory.
	MaxFiles = chatexport.MaxEntries - 1
	// maxNames limits the names that are remembered.
	maxNames = 4096
	// maxWaits limits how long an export waits for files that cannot be downloaded, and laterWait the wait for each file after that.
	maxWaits  = 5 * time.Minute
	laterWait = 5 * time.Second
)

// Source is the store of a chat, with the permissions of the caller.
type Source interface {
	// Messages returns a page. It releases the memory of the page before.
	Messages(ctx context.Context, q bridge.MessageQuery) (bridge.Page[bridge.Message], error)
	// Open opens the file of a message.
	Open(ctx context.Context, m bridge.Message) (*files.File, error)
	// NameOf returns the name of the sender of messages; see [chatimport.Importer.NameOf].
	NameOf(ctx context.Context, chat, sender bridge.JID) (string, error)
}

// Export is a chat to write. Query names the chat, and optionally the first and the last time.
type Export struct {
	Source Source
	Chat   bridge.Chat
	Query  bridge.MessageQuery
	Format Format
	Zone   *time.Location // of times in HTML and text
	Files  bool

	names map[bridge.JID]string
	files map[string]string // names in the archive by message ids
	waits time.Duration
}

// Begin finds the last message of the export. Its errors are those of the source, and [bridge.CodePayloadTooLarge] if
// the chat has too many files for one archive.
func (e *Export) Begin(ctx context.Context) error {
	e.names, e.files = make(map[bridge.JID]string), make(map[string]string)
	newest := e.Query
	newest.Order, newest.Limit = bridge.OrderDesc, 1
	page, err := e.Source.Messages(ctx, newest)
	if err != nil {
		return err
	}
	e.Query.Order, e.Query.Limit = bridge.OrderAsc, pageMessages
	if len(page.Items) > 0 {
		e.Query.Until = &page.Items[0].Timestamp
	}
	if !e.Files {
		return nil
	}
	count := 0
	return e.each(ctx, func(m *bridge.Message) error {
		if hasFile(m) {
			count++
		}
		if count > MaxFiles {
			return bridge.Fail(bridge.CodePayloadTooLarge, "these messages have more than %d files, which one archive holds: export the chat in parts, with since and until", MaxFiles)
		}
		return nil
	})
}

func hasFile(m *bridge.Message) bool {
	return m.DeletedAt == nil && (m.Media != nil || len(m.Contacts) > 0)
}

// each calls do for all messages.
func (e *Export) each(ctx context.Context, do func(*bridge.Message) error) error {
	q := e.Query
	for {
		page, err := e.Source.Messages(ctx, q)
		if err != nil {
			return err
		}
		for i := range page.Items {
			if err := do(&page.Items[i]); err != nil {
				return err
			}
		}
		if page.NextCursor == nil {
			return nil
		}
		q.Cursor = *page.NextCursor
	}
}

// Write writes the export, after [Export.Begin].
func (e *Export) Write(ctx context.Context, to io.Writer) error {
	if e.Files {
		return e.writeZip(ctx, to)
	}
	return e.writeMessages(ctx, to)
}

// writeMessages writes the messages in their format.
func (e *Export) writeMessages(ctx context.Context, to io.Writer) error {
	buffered := bufio.NewWriterSize(to, 32<<10)
	f := e.formatter(buffered)
	if err := f.begin(); err != nil {
		return err
	}
	err := e.each(ctx, func(m *bridge.Message) error {
		name, err := e.nameOf(ctx, m)
		if err != nil {
			return err
		}
		return f.message(m, name, e.files[m.ID])
	})
	if err == nil {
		err = f.end()
	}
	if err != nil {
		return err
	}
	return buffered.Flush()
}

// formatter writes messages in a format.
type formatter interface {
	begin() error
	// message writes a message. file names its file in the archive.
	message(m *bridge.Message, sender, file string) error
	end() error
}

func (e *Export) formatter(to io.Writer) formatter {
	switch e.Format {
	case JSONL:
		return &jsonLines{to: to, withFiles: e.Files}
	case HTML:
		return &page{to: to, e: e}
	case Text:
	}
	return textLines{chatexport.NewWriter(to, e.Zone)}
}

// nameOf returns the name of a message's sender.
func (e *Export) nameOf(ctx context.Context, m *bridge.Message) (string, error) {
	if e.Format == JSONL {
		return "", nil
	}
	if name, known := e.names[m.SenderJID]; known {
		return name, nil
	}
	name, err := e.Source.NameOf(ctx, m.Chat, m.SenderJID)
	if err == nil && len(e.names) < maxNames {
		e.names[m.SenderJID] = name
	}
	return name, err
}

// writeZip writes the files, which may have to be downloaded, and then the messages, which name the files that could be.
func (e *Export) writeZip(ctx context.Context, to io.Writer) error {
	buffered := bufio.NewWriterSize(to, 32<<10)
	archive := zip.NewWriter(buffered)
	number := 0
	err := e.each(ctx, func(m *bridge.Message) error {
		if !hasFile(m) || number == MaxFiles {
			return nil
		}
		number++
		name := chatexport.FileName(number, m, e.Zone)
		isThere, err := e.addFile(ctx, archive, name, m)
		if isThere {
			e.files[m.ID] = name
		}
		return err
	})
	if err != nil {
		return err
	}
	name := map[Format]string{JSONL: "messages.jsonl", HTML: "chat.html", Text: chatexport.TextName}[e.Format]
	text, err := archive.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Now()})
	if err == nil {
		err = e.writeMessages(ctx, text)
	}
	if err == nil {
		err = archive.Close()
	}
	if err != nil {
		return err
	}
	return buffered.Flush()
}

// addFile adds the file of a message to an archive, and reports whether there is one.
func (e *Export) addFile(ctx context.Context, archive *zip.Writer, name string, m *bridge.Message) (isThere bool, err error) {
	header := &zip.FileHeader{Name: name, Method: zip.Store, Modified: m.Timestamp.UTC()}
	if m.Media == nil {
		header.Method = zip.Deflate
		entry, err := archive.CreateHeader(header)
		for _, contact := range m.Contacts {
			if err == nil {
				_, err = io.WriteString(entry, contact.VCard+"\n")
			}
		}
		return err == nil, err
	}
	file, err := e.open(ctx, m)
	if file == nil || err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	entry, err := archive.CreateHeader(header)
	if err == nil {
		_, err = io.Copy(entry, file.File)
	}
	return err == nil, err
}

// open opens the file of a message; nil if it cannot be downloaded. The phone is asked for files that the network has lost,
// which takes half a minute each, so the waits are limited.
func (e *Export) open(ctx context.Context, m *bridge.Message) (*files.File, error) {
	opening, cancel := ctx, context.CancelFunc(func() {})
	if e.waits >= maxWaits {
		opening, cancel = context.WithTimeout(ctx, laterWait)
	}
	defer cancel()
	began := time.Now()
	file, err := e.Source.Open(opening, *m)
	if err == nil {
		return file, nil
	}
	e.waits += time.Since(began)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case opening.Err() != nil, isMissing(bridge.CodeOf(err)):
		return nil, nil
	}
	return nil, err
}

// isMissing reports whether a code means that a file cannot be downloaded now, or never.
func isMissing(code bridge.Code) bool {
	switch code {
	case bridge.CodeMediaGone, bridge.CodeMediaInvalid, bridge.CodeMediaTooLarge, bridge.CodeMediaUnavailable, bridge.CodeNotConnected, bridge.CodeNotFound:
		return true
	}
	return false
}
