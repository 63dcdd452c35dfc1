package console

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/rs/zerolog/hlog"
)

// streamEvents passes on the API's stream of events to a page's script, from
// where the page was made. It ends with the session.
func (c *Console) streamEvents(v *visit) error {
	asked := v.r.URL.Query()
	query := url.Values{}
	for _, name := range []string{"after", "types", "chat"} {
		if value := asked.Get(name); value != "" {
			query.Set(name, value)
		}
	}
	header := http.Header{"Accept": {"text/event-stream"}}
	if id := v.r.Header.Get("Last-Event-ID"); id != "" {
		header.Set("Last-Event-ID", id)
	}
	ctx, cancel := v.untilLoggedOut()
	defer cancel()
	stream, err := v.api.Do(ctx, http.MethodGet, "/api/events?"+query.Encode(), nil, header)
	if err != nil {
		return err
	}
	defer stream.Body.Close()
	v.w.Header().Set("Content-Type", "text/event-stream")
	err = copyTimed(v.w, stream.Body)
	if err != nil && ctx.Err() == nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		hlog.FromRequest(v.r).Debug().Err(err).Msg("stream not read")
	}
	return nil
}

// copyTimed passes on what comes, at once. Each piece has its own time: the sender may
// be silent for long, but the reader must take what is there.
func copyTimed(w http.ResponseWriter, from io.Reader) error {
	control := http.NewResponseController(w)
	piece := make([]byte, 32<<10)
	for {
		n, err := from.Read(piece)
		if n > 0 {
			answerNow(w)
			if _, err := w.Write(piece[:n]); err != nil {
				return err
			}
			if err := control.Flush(); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// untilLoggedOut returns the context of something that lasts: it ends with the
// request, the session, or the service.
func (v *visit) untilLoggedOut() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(v.r.Context(), v.session.ends.Sub(v.c.now()))
	loggedOut := context.AfterFunc(v.session.ctx, cancel)
	stopping := context.AfterFunc(v.c.options.Streams, cancel)
	return ctx, func() {
		loggedOut()
		stopping()
		cancel()
	}
}
