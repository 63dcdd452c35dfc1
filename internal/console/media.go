package console

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/rs/zerolog/hlog"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// shownTypes lists the types of files that pages show. Others, which may hold scripts, are only saved.
var shownTypes = []string{
	"image/jpeg", "image/png", "image/webp", "image/gif",
	"video/mp4", "video/webm", "video/3gpp", "video/quicktime",
	"audio/ogg", "application/ogg", "audio/mpeg", "audio/mp4", "audio/aac", "audio/amr", "audio/webm", "audio/wav", "audio/x-wav", "audio/x-m4a",
}

// passedOn lists the headers of the API's answer that describe a file.
var passedOn = []string{"Content-Length", "Content-Range", "Accept-Ranges", "Etag", "Last-Modified"}

// showMedia answers the file of a message, or a part of it.
func (c *Console) showMedia(v *visit) error {
	save := v.r.URL.Query().Has("save")
	path := bridge.DownloadPath(v.chat, v.id)
	if save {
		path += "?" + url.Values{"disposition": {"attachment"}}.Encode()
	}
	asked := http.Header{}
	for _, name := range []string{"Range", "If-Range", "If-None-Match"} {
		asked[name] = v.r.Header[name]
	}
	ctx, cancel := v.untilLoggedOut()
	defer cancel()
	answer, err := v.api.Do(ctx, http.MethodGet, path, nil, asked)
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Status == http.StatusNotModified {
		v.w.WriteHeader(http.StatusNotModified)
		return nil
	}
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	describeFile(v.w.Header(), answer.Header, save)
	v.w.WriteHeader(answer.StatusCode)
	if _, err := io.Copy(prompt{v.w}, answer.Body); err != nil {
		hlog.FromRequest(v.r).Debug().Err(err).Msg("file not read")
	}
	return nil
}

// describeFile sets the headers of a file, of which a browser guesses and runs nothing.
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
	to.Set("Cache-Control", "private, no-cache")
}
