package console

import (
	"errors"
	"io"
	"net/http"

	"github.com/rs/zerolog/hlog"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// picturePath returns the address of the picture of a person or a group; empty for
// chats that have none.
func picturePath(jid bridge.JID) string {
	switch jid.Server() {
	case bridge.ServerUser, bridge.ServerLID, bridge.ServerGroup:
		return root + "/pictures/" + jid.Escaped()
	}
	return ""
}

// Browsers keep pictures, and that there is none, for a time, so that the next page asks
// for nothing.
const (
	keepPicture  = "private, max-age=3600"
	keepNoAnswer = "private, max-age=60"
)

// showPicture answers the picture of a person or a group. Where there is none to show
// the answer is empty and no error, which browsers would log for each of a list.
func (c *Console) showPicture(v *visit) error {
	size := bridge.PicturePreview
	if v.r.URL.Query().Get("size") == string(bridge.PictureFull) {
		size = bridge.PictureFull
	}
	asked := http.Header{"If-None-Match": v.r.Header["If-None-Match"]}
	answer, err := v.api.Do(v.r.Context(), http.MethodGet, client.PicturePath(v.chat, size), nil, asked)
	if err != nil {
		return v.withoutPicture(err)
	}
	defer answer.Body.Close()
	describeFile(v.w.Header(), answer.Header, false)
	v.w.Header().Set("Cache-Control", keepPicture)
	v.w.WriteHeader(answer.StatusCode)
	if _, err := io.Copy(prompt{v.w}, answer.Body); err != nil {
		hlog.FromRequest(v.r).Debug().Err(err).Msg("picture not read")
	}
	return nil
}

// withoutPicture answers where the API sent no picture: for long where there is none.
func (v *visit) withoutPicture(err error) error {
	refused, ok := errors.AsType[*client.Error](err)
	if !ok || refused.Status == http.StatusUnauthorized {
		return err
	}
	status, keep := http.StatusNoContent, keepNoAnswer
	switch refused.Status {
	case http.StatusNotModified:
		status, keep = http.StatusNotModified, keepPicture
	case http.StatusNotFound:
		keep = keepPicture
	}
	v.w.Header().Set("Cache-Control", keep)
	v.w.WriteHeader(status)
	return nil
}
