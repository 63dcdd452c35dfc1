package api

import (
	"net/http"
	"strings"

	"github.com/rs/zerolog/hlog"

	"bridged/internal/bridge"
	"bridged/internal/media"
)

// getContactPicture answers the picture of a person.
func (s *server) getContactPicture(w http.ResponseWriter, r *http.Request) error {
	contact, err := s.pathContact(r)
	if err != nil {
		return err
	}
	return s.answerPicture(w, r, contact.JID)
}

// getGroupPicture answers the picture of a group.
func (s *server) getGroupPicture(w http.ResponseWriter, r *http.Request) error {
	jid, err := pathGroup(r)
	if err != nil {
		return err
	}
	group, err := s.chat(r.Context(), jid)
	if err != nil {
		return err
	}
	return s.answerPicture(w, r, group.JID)
}

func (s *server) answerPicture(w http.ResponseWriter, r *http.Request, of bridge.JID) error {
	q := readQuery(r)
	size := bridge.PictureSize(q.oneOf("size", string(bridge.PicturePreview), string(bridge.PicturePreview), string(bridge.PictureFull)))
	if q.err != nil {
		return q.err
	}
	file, err := s.pictures.Open(r.Context(), of, size)
	if err != nil {
		return err
	}
	defer func() {
		if err := file.Close(); err != nil {
			hlog.FromRequest(r).Warn().Err(err).Msg("picture not closed")
		}
	}()
	describePicture(w.Header(), file, size)
	r.Header.Del("Range") // pictures are small: they come whole
	out := &fileWriter{ResponseWriter: w}
	http.ServeContent(out, r, "", file.At, file)
	return out.refusal(0)
}

// describePicture sets the headers of a picture. Callers keep a copy for themselves
// and ask before they use it, because pictures change.
func describePicture(header http.Header, file *media.PictureFile, size bridge.PictureSize) {
	header.Set("Cache-Control", "private, no-cache")
	header.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	header.Set("ETag", etag(file.SHA256))
	header.Set("Content-Type", file.MimeType)
	header.Set("Content-Disposition", contentDisposition(inline, string(size)+"."+strings.TrimPrefix(file.MimeType, "image/")))
}
