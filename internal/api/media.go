package api

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

	"github.com/rs/zerolog/hlog"

	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/media"
)

// The values of disposition.
const (
	inline     = "inline"
	attachment = "attachment"
)

// getMedia answers the description of a message's file.
func getMedia(in *input) (any, error) {
	m, err := messageWithFile(in)
	return struct {
		ChatJID bridge.JID    `json:"chatJid"`
		MsgID   string        `json:"msgId"`
		Media   *bridge.Media `json:"media"`
	}{m.Chat, m.ID, m.Media}, err
}

// downloadMedia answers a decrypted file, verified before its first byte is sent.
func downloadMedia(in *input) (any, error) {
	disposition := in.oneOf("disposition", inline, inline, attachment)
	m, err := messageWithFile(in)
	if err != nil {
		return nil, err
	}
	if alreadyHas(in.r, m.Media) {
		describeCopy(in.w.Header(), m, m.Media.Ref.FileSHA256)
		in.w.WriteHeader(http.StatusNotModified)
		return nil, nil
	}
	file, err := in.Files.Open(in.ctx(), m)
	switch {
	case err != nil && in.Lifetime.Err() != nil:
		return nil, bridge.NotConnected("the service is stopping; ask again when it is back")
	case err != nil:
		return nil, err
	}
	defer in.closed(file)
	return nil, serveFile(in.w, in.r, file, m, disposition)
}

// closed closes a file that was answered.
func (q *input) closed(file io.Closer) {
	if err := file.Close(); err != nil {
		hlog.FromRequest(q.r).Warn().Err(err).Msg("file not closed")
	}
}

func messageWithFile(in *input) (bridge.Message, error) {
	at := in.pathStoredMessage("chatJid")
	if in.err != nil {
		return bridge.Message{}, in.err
	}
	m, err := in.message(in.ctx(), at.chat, at.id)
	if err == nil && m.Media == nil {
		err = bridge.NotFound("the message has no media")
	}
	return m, err
}

// serveFile answers an open file: the whole, ranges of it, or only its headers.
func serveFile(w http.ResponseWriter, r *http.Request, file *media.File, m bridge.Message, disposition string) error {
	header := w.Header()
	describeCopy(header, m, file.SHA256)
	describeFile(header, m, disposition)
	if r.Method != http.MethodGet || !strings.HasPrefix(r.Header.Get("Range"), "bytes=") {
		// Ranges are for GET, and unknown units are as good as none (RFC 9110, section 14.2).
		r.Header.Del("Range")
	}
	out := &fileWriter{ResponseWriter: w}
	http.ServeContent(out, r, "", file.ModTime, file.File)
	return out.refusal(file.Size)
}

// refusal returns the error of a refused request without the file's headers, or nil.
func (w *fileWriter) refusal(size int64) error {
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

// fileWriter receives what [http.ServeContent] writes. It holds back refusals, which are
// answered like other errors, and gives every piece its own time.
type fileWriter struct {
	http.ResponseWriter
	refused int // the status of a refusal
}

// filePiece says how much a caller must read within front.AnswerTime.
const filePiece = 256 << 10

func (w *fileWriter) WriteHeader(status int) {
	if status == http.StatusPartialContent && w.Header().Get("Content-Length") == "0" {
		status = http.StatusRequestedRangeNotSatisfiable // the last 0 bytes, of which net/http makes a range
	}
	if status >= http.StatusBadRequest {
		w.refused = status
		return
	}
	front.AnswerNow(w.ResponseWriter)
	w.ResponseWriter.WriteHeader(status)
}

func (w *fileWriter) Write(p []byte) (int, error) {
	if w.refused != 0 {
		return len(p), nil
	}
	front.AnswerNow(w.ResponseWriter)
	return w.ResponseWriter.Write(p)
}

// ReadFrom writes the file in pieces, in the form in which net/http lets the kernel send it
// without copying: an [io.LimitedReader] around an [os.File].
func (w *fileWriter) ReadFrom(r io.Reader) (sent int64, err error) {
	whole, limited := r.(*io.LimitedReader)
	to, direct := w.ResponseWriter.(io.ReaderFrom)
	if !limited || !direct || w.refused != 0 {
		return io.Copy(struct{ io.Writer }{w}, r)
	}
	for whole.N > 0 {
		front.AnswerNow(w.ResponseWriter)
		piece := &io.LimitedReader{R: whole.R, N: min(whole.N, filePiece)}
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
func (w *fileWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// describeCopy lets callers keep a copy, and ask before they use it: messages are deleted.
func describeCopy(header http.Header, m bridge.Message, sum []byte) {
	header.Set("Cache-Control", "private, no-cache")
	header.Set("ETag", etag(sum))
	header.Set("Last-Modified", m.Timestamp.UTC().Format(http.TimeFormat))
}

func etag(sum []byte) string { return `"` + hex.EncodeToString(sum) + `"` }

// alreadyHas reports whether the caller has the file with the hash that its sender gave,
// which was its tag only if the hash was right. In every other case, and with If-Match,
// [http.ServeContent] compares with the file's own hash.
func alreadyHas(r *http.Request, m *bridge.Media) bool {
	if r.Header.Get("If-Match") != "" || len(m.Ref.FileSHA256) == 0 {
		return false
	}
	for _, line := range r.Header.Values("If-None-Match") {
		for tag := range strings.SplitSeq(line, ",") {
			if tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/"); tag == etag(m.Ref.FileSHA256) {
				return true
			}
		}
	}
	return false
}

// describeFile sets the headers with the type and the name of a file.
func describeFile(header http.Header, m bridge.Message, disposition string) {
	mimeType := contentType(m.Media.MimeType)
	if isActive(mimeType) { // whatever was asked
		disposition = attachment
		header.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	}
	header.Set("Content-Type", mimeType)
	header.Set("Content-Disposition", contentDisposition(disposition, fileName(m, mimeType)))
	header.Set("X-Messenger-Media-Type", string(m.Media.Type))
}

// maxMIMEType bounds a MIME type in a header.
const maxMIMEType = 255

// contentType returns the sender's MIME type where it is one.
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

// activeTypes lists types that a browser runs, beside those of activeNames.
var activeTypes = []string{
	"text/xml", "application/xml", "text/xsl", "text/xml-external-parsed-entity", "application/xml-external-parsed-entity", "application/xml-dtd",
	"text/vbscript", "text/x-component", "text/cache-manifest", "application/wasm", "application/hta",
	"application/x-shockwave-flash", "application/x-java-applet",
}

// activeNames lists parts of the names of all types that the WHATWG's MIME Sniffing standard
// calls JavaScript, HTML or XML, such as text/javascript1.5 and application/xhtml+xml.
var activeNames = []string{"javascript", "ecmascript", "jscript", "livescript", "html", "svg", "+xml"}

// isActive reports whether a browser might run what a file of this type holds.
func isActive(mimeType string) bool {
	base, _, err := mime.ParseMediaType(mimeType)
	return err != nil || slices.Contains(activeTypes, base) ||
		slices.ContainsFunc(activeNames, func(name string) bool { return strings.Contains(base, name) }) ||
		strings.HasPrefix(base, "multipart/") || strings.HasPrefix(base, "message/")
}

// fileName returns the document's own name, or one made of kind and id.
func fileName(m bridge.Message, mimeType string) string {
	if name := plainName(m.Media.FileName); name != "" {
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
	return kind + "-" + id[:min(len(id), 64)] + media.Extension(mimeType)
}

// plainName returns a sender's name without directories, and without what could mislead a
// person.
func plainName(name string) string {
	name = strings.NewReplacer("/", "_", `\`, "_", "\ufeff", "").Replace(strings.ToValidUTF8(name, "_"))
	return strings.TrimLeft(strings.TrimSpace(bridge.PlainFileName(name)), ".")
}

// contentDisposition returns the header of RFC 6266: the name if it is plain, else an
// approximation for old readers and the exact one.
func contentDisposition(disposition, name string) string {
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

// extValue encodes a name as RFC 8187 requires, and more than it does.
func extValue(name string) string { return strings.ReplaceAll(url.QueryEscape(name), "+", "%20") }
