package people

import (
	"errors"
	"net/http"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/console/frame"
)

// Browsers cache pictures and the absence of one.
const (
	keepPicture  = "private, max-age=3600"
	keepNoAnswer = "private, max-age=60"
)

// ShowPicture answers with the picture of a person or a group. Without a picture it is empty: browsers would log an error for each row of a list.
func ShowPicture(req *frame.Request) error {
	size := bridge.PicturePreview
	if req.URL.Query().Get("size") == string(bridge.PictureFull) {
		size = bridge.PictureFull
	}
	asked := http.Header{"If-None-Match": req.Header["If-None-Match"]}
	answer, err := req.API.Do(req.Context(), http.MethodGet, client.PicturePath(req.Chat, size), nil, asked)
	if err != nil {
		return withoutPicture(req, err)
	}
	defer answer.Body.Close()
	req.SendFile(answer, false, keepPicture)
	return nil
}

// withoutPicture answers if the API sent no picture.
func withoutPicture(req *frame.Request, err error) error {
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
	req.W.Header().Set("Cache-Control", keep)
	req.W.WriteHeader(status)
	return nil
}
