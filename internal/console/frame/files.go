package frame

import (
	"context"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/rs/zerolog/hlog"

	"bridged/internal/api/front"
)

// Copy answers with the content of a reader, each piece as soon as it arrives. The visitor has
// [front.AnswerTimeout] for each; the pauses between them may be longer.
func (req *Request) Copy(from io.Reader) error {
	_, err := io.Copy(flushing{req.W}, from)
	return err
}

// SendFile answers with a file that the API has sent. The browser neither guesses its type nor
// runs it. SendFile reports whether the browser got the whole file.
func (req *Request) SendFile(answer *http.Response, save bool, caching string) (isWhole bool) {
	describeFile(req.W.Header(), answer.Header, save)
	req.W.Header().Set("Cache-Control", caching)
	req.W.WriteHeader(answer.StatusCode)
	err := req.Copy(answer.Body)
	if err != nil {
		hlog.FromRequest(req.Request).Debug().Err(err).Msg("the browser stopped reading a file")
	}
	return err == nil
}

type flushing struct{ w http.ResponseWriter }

func (p flushing) Write(piece []byte) (int, error) {
	front.AnswerNow(p.w)
	n, err := p.w.Write(piece)
	if err == nil {
		err = http.NewResponseController(p.w).Flush()
	}
	return n, err
}

// UntilLoggedOut returns a context that ends with the request, the session or the service.
func (req *Request) UntilLoggedOut() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(req.Context())
	loggedOut := context.AfterFunc(req.session.ctx, cancel)
	stopping := context.AfterFunc(req.Options.Streams, cancel)
	return ctx, func() {
		loggedOut()
		stopping()
		cancel()
	}
}

// shownTypes lists the types of files that browsers show. Others may contain scripts; they are
// only offered for saving.
var shownTypes = []string{
	"image/jpeg", "image/png", "image/webp", "image/gif",
	"video/mp4", "video/webm", "video/3gpp", "video/quicktime",
	"audio/ogg", "application/ogg", "audio/mpeg", "audio/mp4", "audio/aac", "audio/amr", "audio/webm", "audio/wav", "audio/x-wav", "audio/x-m4a",
}

// passedOn lists the headers of the API's answer that describe a file.
var passedOn = []string{"Content-Length", "Content-Range", "Accept-Ranges", "Etag", "Last-Modified"}

func describeFile(to, from http.Header, save bool) {
	for _, name := range passedOn {
		if value := from.Get(name); value != "" {
			to.Set(name, value)
		}
	}
	kind, _, err := mime.ParseMediaType(from.Get("Content-Type"))
	if err != nil || !slices.Contains(shownTypes, kind) {
		kind, save = "application/octet-stream", true
	}
	to.Set("Content-Type", kind)
	disposition := from.Get("Content-Disposition")
	if save {
		disposition = "attachment" + strings.TrimPrefix(strings.TrimPrefix(disposition, "inline"), "attachment")
	}
	to.Set("Content-Disposition", disposition)
	to.Set("Content-Security-Policy", "default-src 'none'; sandbox")
}
