// Package preview reads what a page says of itself, for the preview of a link in a text: its
// title, a description and a picture, from its Open Graph tags or what else it has.
//
// Pages are fetched through the guard, of public addresses only. Everything about a page is a
// stranger's: its sizes, its time and its texts are bounded, and a page that says nothing, or is
// slow, is no fault.
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
	maxTime        = 3 * time.Second // of page and picture together
	maxBytes       = 1 << 20         // of each
	maxSide        = 300             // pixels of the picture that is sent
	maxTitle       = 200             // characters
	maxDescription = 500
)

// Options configures [New].
type Options struct {
	Guard *urlguard.Guard
	// Scale returns a picture as JPEG whose longer side is at most so many pixels.
	Scale func(ctx context.Context, picture []byte, side int) ([]byte, error)
	Log   zerolog.Logger
}

// Finder finds previews. It is safe for concurrent use.
type Finder struct {
	Options
	time time.Duration
}

// New returns a finder.
func New(o Options) *Finder { return &Finder{o, maxTime} }

// Find returns the preview of the page of the first address in a text. It is nil without one.
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
		f.Log.Info().Str("why", reason(ctx, err)).Dur("took", time.Since(began)).Msg("link preview left out")
		return nil
	}
	f.Log.Info().Bool("picture", preview.Thumbnail != nil).Dur("took", time.Since(began)).Msg("link preview made")
	preview.URL = address
	return preview
}

var (
	errNoPage  = errors.New("the address leads to no page")
	errNoTitle = errors.New("the page has no title")
	errCharset = errors.New("the page is in a character set that is not read")
)

// reason says why there is no preview, without a part of the address or the page.
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

// contentType returns the type of a body, without parameters.
func contentType(served string, body []byte) string {
	if served == "" {
		served = http.DetectContentType(body)
	}
	kind, _, _ := strings.Cut(served, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// picture returns the picture that a page names; nil without one that can be shown.
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
		f.Log.Debug().Str("why", reason(ctx, err)).Msg("picture of a link preview left out")
		return nil
	}
	small, err := f.Scale(ctx, body.Bytes(), maxSide)
	if err != nil {
		f.Log.Debug().Str("why", reason(ctx, err)).Msg("picture of a link preview left out")
		return nil
	}
	return small
}

// plain returns a text on one line, without invisible characters and of at most so many others.
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
