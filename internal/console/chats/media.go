package chats

import (
	"errors"
	"net/http"
	"net/url"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/console/frame"
)

// ShowMedia answers with the file of a message or a range of it.
func ShowMedia(req *frame.Request) error {
	save := req.URL.Query().Has("save")
	path := bridge.DownloadPath(req.Chat, req.ID)
	if save {
		path += "?" + url.Values{"disposition": {"attachment"}}.Encode()
	}
	asked := http.Header{}
	for _, name := range []string{"Range", "If-Range", "If-None-Match"} {
		asked[name] = req.Header[name]
	}
	ctx, cancel := req.UntilLoggedOut()
	defer cancel()
	answer, err := req.API.Do(ctx, http.MethodGet, path, nil, asked)
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Status == http.StatusNotModified {
		req.W.WriteHeader(http.StatusNotModified)
		return nil
	}
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	req.SendFile(answer, save, "private, no-cache")
	return nil
}
