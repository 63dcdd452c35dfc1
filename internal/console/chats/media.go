package chats

import (
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/console/frame"
	"bridged/internal/media/files"
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

// ShowThumbnail answers with a small picture of a message: of its picture, its video or the page that it links to. Without one
// the answer is empty, because browsers would log an error.
func ShowThumbnail(req *frame.Request) error {
	m, err := req.API.Message(req.Context(), req.Chat, req.ID) // fails if the visitor may not read it
	if err != nil {
		return err
	}
	header := req.W.Header()
	header.Set("Cache-Control", "private, no-cache") // messages are deleted
	if req.Options.Thumbnail == nil || m.Media == nil && m.LinkPreview == nil {
		req.W.WriteHeader(http.StatusNoContent)
		return nil
	}
	side := files.ThumbnailOfBubble
	if req.URL.Query().Has("tile") {
		side = files.ThumbnailOfTile
	}
	ctx, cancel := req.UntilLoggedOut()
	defer cancel()
	picture, err := req.Options.Thumbnail(bridge.WithTree(ctx, req.Tree()), req.Chat, req.ID, side)
	switch code := bridge.CodeOf(err); {
	case code == bridge.CodeNoPicture || code == bridge.CodeNotFound:
		req.W.WriteHeader(http.StatusNoContent)
		return nil
	case err != nil:
		return err
	}
	header.Set("ETag", `"`+hex.EncodeToString(picture.SHA256)+`"`)
	header.Set("Content-Type", picture.MimeType)
	header.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	http.ServeContent(req.W, req.Request, "", picture.At, picture)
	return nil
}
