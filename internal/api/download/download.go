// Package download answers requests for files and pictures: the headers, ranges, conditions,
// and the names and types under which browsers may save or show them.
package download

import (
	"encoding/hex"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/media/files"
	"bridged/internal/media/probe"
)

// The values of disposition.
const (
	Inline     = "inline"
	Attachment = "attachment"
)

// Serve answers with an open file of a message: all of it, ranges of it, or only its headers.
func Serve(w http.ResponseWriter, r *http.Request, file *files.File, m bridge.Message, disposition string) error {
	header := w.Header()
	setValidators(header, m, file.SHA256)
	describe(header, m, disposition)
	if r.Method != http.MethodGet || !strings.HasPrefix(r.Header.Get("Range"), "bytes=") {
		// Other methods and unknown units ignore ranges (RFC 9110, section 14.2).
		r.Header.Del("Range")
	}
	out := &writer{ResponseWriter: w}
	http.ServeContent(out, r, "", file.ModTime, file.File)
	return out.refusal(file.Size)
}

// ServePicture answers with a profile picture or a group's picture.
func ServePicture(w http.ResponseWriter, r *http.Request, file *files.Picture, size bridge.PictureSize) error {
	header := w.Header()
	header.Set("Cache-Control", "private, no-cache") // clients may cache it, but pictures change
	header.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	header.Set("ETag", etag(file.SHA256))
	header.Set("Content-Type", file.MimeType)
	header.Set("Content-Disposition", ContentDisposition(Inline, string(size)+"."+strings.TrimPrefix(file.MimeType, "image/")))
	r.Header.Del("Range") // pictures are small
	out := &writer{ResponseWriter: w}
	http.ServeContent(out, r, "", file.At, file)
	return out.refusal(0)
}

// writer is what [http.ServeContent] writes to. It holds back refusals, which are answered like
// other errors, and sets the deadline anew for every piece.
type writer struct {
	http.ResponseWriter
	refused int // the status of a refusal
}

// refusal removes the file's headers and returns the error of a refused request, or nil.
func (w *writer) refusal(size int64) error {
	if w.refused == 0 {
		return nil
	}
	header := w.Header()
	for _, name := range []string{"Content-Disposition", "Content-Security-Policy", "X-Messenger-Media-Type", "ETag", "Last-Modified", "Accept-Ranges"} {
		header.Del(name)
	}
	header.Set("Cache-Control", "no-store")
	switch w.refused {
	case http.StatusRequestedRangeNotSatisfiable:
		header.Set("Content-Range", fmt.Sprintf("bytes */%d", size))
		return bridge.Fail(bridge.CodeInvalidRange, "the Range lies outside the file, which has %d bytes", size)
	case http.StatusPreconditionFailed:
		return bridge.Fail(bridge.CodePreconditionFailed, "the file is not the one that If-Match or If-Unmodified-Since names")
	}
	return bridge.Fail(bridge.CodeStorageUnavailable, "the stored file could not be read")
}

// pieceSize is how many bytes a caller must read within [front.AnswerTimeout].
const pieceSize = 256 << 10

func (w *writer) WriteHeader(status int) {
	if status == http.StatusPartialContent && w.Header().Get("Content-Length") == "0" {
		status = http.StatusRequestedRangeNotSatisfiable // net/http accepts "the last 0 bytes"
	}
	if status >= http.StatusBadRequest {
		w.refused = status
		return
	}
	front.AnswerNow(w.ResponseWriter)
	w.ResponseWriter.WriteHeader(status)
}

func (w *writer) Write(p []byte) (int, error) {
	if w.refused != 0 {
		return len(p), nil
	}
	front.AnswerNow(w.ResponseWriter)
	return w.ResponseWriter.Write(p)
}

// ReadFrom writes the file in pieces. Each is an [io.LimitedReader] around an [os.File], which
// net/http lets the kernel send without copying.
func (w *writer) ReadFrom(r io.Reader) (sent int64, err error) {
	whole, limited := r.(*io.LimitedReader)
	to, direct := w.ResponseWriter.(io.ReaderFrom)
	if !limited || !direct || w.refused != 0 {
		return io.Copy(struct{ io.Writer }{w}, r)
	}
	for whole.N > 0 {
		front.AnswerNow(w.ResponseWriter)
		piece := &io.LimitedReader{R: whole.R, N: min(whole.N, pieceSize)}
		n, err := to.ReadFrom(piece)
		sent += n
		whole.N -= n
		if err != nil || n == 0 {
			return sent, err
		}
	}
	return sent, nil
}

// Unwrap lets a response controller reach the connection.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// setValidators lets callers cache a file and revalidate it, since messages are deleted.
func setValidators(header http.Header, m bridge.Message, sum []byte) {
	header.Set("Cache-Control", "private, no-cache")
	header.Set("ETag", etag(sum))
	header.Set("Last-Modified", m.Timestamp.UTC().Format(http.TimeFormat))
}

func etag(sum []byte) string { return `"` + hex.EncodeToString(sum) + `"` }

// NotModified answers 304 and returns true if the caller has the file already.
func NotModified(w http.ResponseWriter, r *http.Request, m bridge.Message) bool {
	if !alreadyHas(r, m.Media) {
		return false
	}
	setValidators(w.Header(), m, m.Media.Ref.FileSHA256)
	w.WriteHeader(http.StatusNotModified)
	return true
}

// alreadyHas reports whether the caller has the file with the hash that its sender declared. Such
// a tag was only sent if the hash was right. In all other cases, and with If-Match,
// [http.ServeContent] compares with the hash of the stored file.
func alreadyHas(r *http.Request, m *bridge.Media) bool {
	return r.Header.Get("If-Match") == "" && len(m.Ref.FileSHA256) > 0 && front.HasTag(r, etag(m.Ref.FileSHA256))
}

// describe sets the headers with the type and the name of a file.
func describe(header http.Header, m bridge.Message, disposition string) {
	mimeType := contentType(m.Media.MimeType)
	if isActive(mimeType) { // even if inline was requested
		disposition = Attachment
		header.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	}
	header.Set("Content-Type", mimeType)
	header.Set("Content-Disposition", ContentDisposition(disposition, fileName(m, mimeType)))
	header.Set("X-Messenger-Media-Type", string(m.Media.Type))
}

// maxMIMEType bounds a MIME type in a header.
const maxMIMEType = 255

// contentType returns the sender's MIME type if it is valid, else [bridge.UnknownMIMEType].
func contentType(given string) string {
	if len(given) > maxMIMEType || !strings.Contains(given, "/") || strings.ContainsFunc(given, isNotPlain) {
		return bridge.UnknownMIMEType
	}
	if _, _, err := mime.ParseMediaType(given); err != nil {
		return bridge.UnknownMIMEType
	}
	return given
}

func isNotPlain(r rune) bool { return r < ' ' || r > '~' }

// activeTypes lists types that a browser runs, in addition to activeNames.
var activeTypes = []string{
	"text/xml", "application/xml", "text/xsl", "text/xml-external-parsed-entity", "application/xml-external-parsed-entity", "application/xml-dtd",
	"text/vbscript", "text/x-component", "text/cache-manifest", "application/wasm", "application/hta",
	"application/x-shockwave-flash", "application/x-java-applet",
}

// activeNames lists parts of the names of all types that the WHATWG's MIME Sniffing standard
// calls JavaScript, HTML or XML, such as text/javascript1.5 and application/xhtml+xml.
var activeNames = []string{"javascript", "ecmascript", "jscript", "livescript", "html", "svg", "+xml"}

// isActive reports whether a browser might run scripts in a file of this type.
func isActive(mimeType string) bool {
	base, _, err := mime.ParseMediaType(mimeType)
	return err != nil || slices.Contains(activeTypes, base) ||
		slices.ContainsFunc(activeNames, func(name string) bool { return strings.Contains(base, name) }) ||
		strings.HasPrefix(base, "multipart/") || strings.HasPrefix(base, "message/")
}

// fileName returns the name of the document, or one made of its kind and the message's id.
func fileName(m bridge.Message, mimeType string) string {
	if name := PlainName(m.Media.FileName); name != "" {
		return name
	}
	kind := string(m.Media.Type)
	if m.Media.PTT {
		kind = "voice"
	}
	id := strings.Map(func(r rune) rune {
		if r < 128 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '_'
	}, m.ID)
	return kind + "-" + id[:min(len(id), 64)] + probe.Extension(mimeType)
}

// PlainName returns a file name from a sender without directories and without characters that
// could mislead a reader.
func PlainName(name string) string {
	name = strings.NewReplacer("/", "_", `\`, "_", "\ufeff", "").Replace(strings.ToValidUTF8(name, "_"))
	return strings.TrimLeft(strings.TrimSpace(bridge.PlainFileName(name)), ".")
}

// ContentDisposition returns the header of RFC 6266. A name that is not plain ASCII is given
// twice: approximated for old clients, and exactly.
func ContentDisposition(disposition, name string) string {
	plain := strings.Map(func(r rune) rune {
		if isNotPlain(r) || strings.ContainsRune(`"\%`, r) {
			return '_'
		}
		return r
	}, name)
	value := disposition + `; filename="` + plain + `"`
	if plain != name {
		value += "; filename*=UTF-8''" + extValue(name)
	}
	return value
}

// extValue encodes a name for RFC 8187. It escapes more characters than it must.
func extValue(name string) string { return strings.ReplaceAll(url.QueryEscape(name), "+", "%20") }
