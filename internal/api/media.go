package api

import (
	"context"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/rs/zerolog/hlog"

	"bridged/internal/bridge"
	"bridged/internal/media"
)

// maxFileName is how long a document's name may be.
const maxFileName = 255

// sendMedia fetches a file and sends it. What can be said of the request
// without fetching is said first, and nothing is fetched that cannot be sent.
func (s *server) sendMedia(w http.ResponseWriter, r *http.Request) error {
	var req struct {
		JID      string           `json:"jid"`
		URL      string           `json:"url"`
		Type     bridge.MediaType `json:"type"`
		Caption  string           `json:"caption"`
		FileName string           `json:"fileName"`
		MimeType string           `json:"mimetype"`
		PTT      bool             `json:"ptt"`
		quoting
	}
	body, err := s.bodies.decode(w, r, &req)
	if err != nil {
		return err
	}
	to, err := destination("jid", req.JID)
	if err != nil {
		return err
	}
	wanted := media.Request{URL: req.URL, Type: req.Type, MimeType: req.MimeType, FileName: req.FileName, Caption: req.Caption, PTT: req.PTT}
	if err := checkFile(wanted); err != nil {
		return err
	}
	answered, err := req.parse(to)
	if err != nil {
		return err
	}
	if err := s.preparer.Check(wanted); err != nil {
		return err
	}
	compose := func(ctx context.Context) (bridge.Outgoing, error) {
		quote, err := s.quoted(ctx, answered)
		return bridge.Outgoing{To: to, Quote: quote}, err
	}
	return s.sendBy(w, r, body, compose, way{s.fileTimeout, func(ctx context.Context, out bridge.Outgoing) (bridge.Sent, error) {
		return s.sendFile(ctx, out, wanted)
	}})
}

// sendFile is the send of a file that has to be fetched first.
func (s *server) sendFile(ctx context.Context, out bridge.Outgoing, wanted media.Request) (bridge.Sent, error) {
	file, cleanup, err := s.preparer.Prepare(ctx, wanted)
	defer cleanup()
	if err != nil {
		return bridge.Sent{}, err
	}
	out.Content = file
	return s.account.Send(ctx, out)
}

// checkFile says which fields belong to which type.
func checkFile(f media.Request) error {
	switch f.Type {
	case bridge.MediaImage, bridge.MediaVideo, bridge.MediaAudio, bridge.MediaDocument:
	case "":
		return bridge.Invalid("type is required: image, video, audio or document")
	default:
		return bridge.Invalid("type must be one of image, video, audio, document")
	}
	switch {
	case f.URL == "":
		return bridge.Invalid("url is required: a public http or https URL")
	case f.Caption != "" && f.Type == bridge.MediaAudio:
		return bridge.Invalid("caption belongs to image, video and document; audio has none")
	case f.FileName != "" && f.Type != bridge.MediaDocument:
		return bridge.Invalid("fileName belongs to document alone")
	case f.PTT && f.Type != bridge.MediaAudio:
		return bridge.Invalid("ptt belongs to audio alone")
	case utf8.RuneCountInString(f.Caption) > maxText:
		return bridge.Invalid("caption must have at most %d characters", maxText)
	case !isFileName(f.FileName):
		return bridge.Invalid("fileName must be a name without directories, of at most %d characters", maxFileName)
	}
	return nil
}

// isFileName turns down names that the recipient's device would have to bend.
func isFileName(name string) bool {
	return utf8.RuneCountInString(name) <= maxFileName && !strings.ContainsAny(name, `/\`) && !strings.ContainsFunc(name, isUnseen) &&
		(name == "" || strings.Trim(name, ". ") != "")
}

// getMedia describes the file of a message.
func (s *server) getMedia(w http.ResponseWriter, r *http.Request) error {
	m, err := s.messageWithFile(r)
	if err != nil {
		return err
	}
	return s.answer(w, r, struct {
		ChatJID bridge.JID    `json:"chatJid"`
		MsgID   string        `json:"msgId"`
		Media   *bridge.Media `json:"media"`
	}{m.Chat, m.ID, m.Media})
}

// downloadMedia answers the file of a message, decrypted. It comes from the cache, or
// from the network's CDN, and is verified whole before its first byte is sent.
func (s *server) downloadMedia(w http.ResponseWriter, r *http.Request) error {
	q := readQuery(r)
	disposition := q.oneOf("disposition", inline, inline, attachment)
	if q.err != nil {
		return q.err
	}
	m, err := s.messageWithFile(r)
	if err != nil {
		return err
	}
	if alreadyHas(r, m.Media) {
		describeCopy(w.Header(), m)
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	file, err := s.files.Open(r.Context(), m)
	switch {
	case err != nil && s.lifetime.Err() != nil:
		return bridge.NotConnected("the service is stopping; ask again when it is back")
	case err != nil:
		return err
	}
	defer func() {
		if err := file.Close(); err != nil {
			hlog.FromRequest(r).Warn().Err(err).Str("msg_id", m.ID).Msg("media file not closed")
		}
	}()
	return serveFile(w, r, file, m, disposition)
}

// messageWithFile is the message that the path names.
func (s *server) messageWithFile(r *http.Request) (bridge.Message, error) {
	value, err := pathParam(r, "chatJid")
	if err != nil {
		return bridge.Message{}, err
	}
	chat, err := parseChat("the path", value)
	if err != nil {
		return bridge.Message{}, err
	}
	id, err := pathMessageID(r)
	if err != nil {
		return bridge.Message{}, err
	}
	m, err := s.store.Message(r.Context(), chat, id)
	if err == nil && m.Media == nil {
		err = bridge.NotFound("the message has no media")
	}
	return m, err
}
