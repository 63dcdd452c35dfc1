// Package preview makes the preview of a link in a text from the page's metadata: its title, a
// description and a picture, from its Open Graph tags or the best other source.
//
// Pages are fetched through package urlguard, from public addresses only. A page is untrusted:
// its size, its time and its texts are limited. A page without metadata, or a slow one, is not an
// error.
package preview

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/urlguard"
)

const (
	findTimeout    = 3 * time.Second // for page and picture together
	maxBytes       = 1 << 20         // of page and picture each
	maxSide        = 300             // pixels of the picture that is sent
	maxTitle       = 200             // characters
	maxDescription = 500
)

// Options configures [New].
type Options struct {
	Guard *urlguard.Guard
	// Scale returns a picture as JPEG. Its longer side has at most side pixels.
	Scale func(ctx context.Context, picture []byte, side int) ([]byte, error)
	Log   zerolog.Logger
}

// Finder finds previews. It is safe for concurrent use.
type Finder struct {
	Options
	time time.Duration
}

// New returns a finder.
func New(o Options) *Finder { return &Finder{o, findTimeout} }

// Find returns the preview for the first URL in a text, or nil.
func (f *Finder) Find(ctx context.Context, text string) *bridge.Preview {
	links := bridge.Links(text, 1)
	if len(links) == 0 {
		return nil
	}
	address := text[links[0][0]:links[0][1]]
	ctx, cancel := context.WithTimeout(ctx, f.time)
	defer cancel()
	began := time.Now()
	preview, err := f.fetch(ctx, address)
	if err != nil {
		f.Log.Info().Str("why", reason(ctx, err)).Dur("took", time.Since(began)).Msg("sending without a link preview")
		return nil
	}
	f.Log.Info().Bool("picture", preview.Thumbnail != nil).Dur("took", time.Since(began)).Msg("link preview made")
	preview.URL = address
	return preview
}

var (
	errNoPage  = errors.New("the address does not lead to a page")
	errNoTitle = errors.New("the page has no title")
	errCharset = errors.New("the page is in an unsupported character set")
)

// reason says why there is no preview, without any part of the address or the page.
func reason(ctx context.Context, err error) string {
	refused, isFetch := errors.AsType[*urlguard.Error](err)
	switch {
	case ctx.Err() != nil:
		return "it took too long"
	case isFetch:
		return refused.Reason
	}
	return err.Error()
}

func (f *Finder) fetch(ctx context.Context, address string) (*bridge.Preview, error) {
	var body bytes.Buffer
	result, err := f.Guard.FetchBeginning(ctx, address, maxBytes, &body)
	if err != nil {
		return nil, err
	}
	at, err := url.Parse(result.URL)
	if err != nil {
		return nil, err
	}
	preview := new(bridge.Preview)
	kind := contentType(result.ContentType, body.Bytes())
	switch {
	case strings.HasPrefix(kind, "image/"):
		if preview.Thumbnail, err = f.Scale(ctx, body.Bytes(), maxSide); err != nil {
			return nil, errNoPage
		}
		preview.Title = plain(at.Hostname(), maxTitle)
		return preview, nil
	case kind != "text/html" && kind != "application/xhtml+xml":
		return nil, errNoPage
	}
	text, err := decode(body.Bytes(), result.ContentType)
	if err != nil {
		return nil, err
	}
	about := read(ctx, text)
	preview.Title = plain(about.first("og:title", "twitter:title", "title"), maxTitle)
	preview.Description = plain(about.first("og:description", "twitter:description", "description"), maxDescription)
	if preview.Title == "" {
		return nil, errNoTitle
	}
	preview.Thumbnail = f.picture(ctx, at, about.first("og:image:secure_url", "og:image", "og:image:url", "twitter:image", "twitter:image:src"))
	return preview, nil
}

// contentType returns the media type of a body without parameters.
func contentType(served string, body []byte) string {
	if served == "" {
		served = http.DetectContentType(body)
	}
	kind, _, _ := strings.Cut(served, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// picture returns the picture that a page refers to, or nil if it cannot be shown.
func (f *Finder) picture(ctx context.Context, page *url.URL, reference string) []byte {
	at, err := url.Parse(strings.TrimSpace(reference))
	if err != nil || reference == "" {
		return nil
	}
	if at = page.ResolveReference(at); at.Scheme != "http" && at.Scheme != "https" {
		return nil
	}
	var body bytes.Buffer
	if _, err := f.Guard.Fetch(ctx, at.String(), maxBytes, &body); err != nil {
		f.Log.Debug().Str("why", reason(ctx, err)).Msg("sending a link preview without its picture")
		return nil
	}
	small, err := f.Scale(ctx, body.Bytes(), maxSide)
	if err != nil {
		f.Log.Debug().Str("why", reason(ctx, err)).Msg("sending a link preview without its picture")
		return nil
	}
	return small
}

// plain returns a text on one line, without invisible characters and with at most most
// characters.
func plain(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), unicode.IsControl(r):
			return ' '
		case r != '\u200c' && r != '\u200d' && unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	return bridge.Beginning(strings.Join(strings.Fields(text), " "), most-1)
}
