package api

import (
	"net/http"

	"github.com/rs/zerolog/hlog"

	"bridged/internal/bridge"
)

// getMedia answers the description of a message's file.
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

// downloadMedia answers the file of a message, decrypted. It comes from the
// cache or the network's CDN, and is verified before its first byte is sent.
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
		describeCopy(w.Header(), m, m.Media.Ref.FileSHA256)
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

// messageWithFile returns the message that the path names.
func (s *server) messageWithFile(r *http.Request) (bridge.Message, error) {
	chat, err := pathChat(r, "chatJid")
	if err != nil {
		return bridge.Message{}, err
	}
	id, err := pathMessageID(r)
	if err != nil {
		return bridge.Message{}, err
	}
	m, err := s.message(r.Context(), chat, id)
	if err == nil && m.Media == nil {
		err = bridge.NotFound("the message has no media")
	}
	return m, err
}
