package api

import (
	"io"
	"net/http"

	"github.com/rs/zerolog/hlog"

	"bridged/internal/bridge"
)

// getMedia answers the description of a message's file.
func (s *server) getMedia(in *input) (any, error) {
	m, err := s.messageWithFile(in)
	return struct {
		ChatJID bridge.JID    `json:"chatJid"`
		MsgID   string        `json:"msgId"`
		Media   *bridge.Media `json:"media"`
	}{m.Chat, m.ID, m.Media}, err
}

// downloadMedia answers the file of a message, decrypted. It comes from the
// cache or the network's CDN, and is verified before its first byte is sent.
func (s *server) downloadMedia(in *input) (any, error) {
	disposition := in.oneOf("disposition", inline, inline, attachment)
	m, err := s.messageWithFile(in)
	if err != nil {
		return nil, err
	}
	if alreadyHas(in.r, m.Media) {
		describeCopy(in.w.Header(), m, m.Media.Ref.FileSHA256)
		in.w.WriteHeader(http.StatusNotModified)
		return nil, nil
	}
	file, err := s.Files.Open(in.ctx(), m)
	switch {
	case err != nil && s.Lifetime.Err() != nil:
		return nil, bridge.NotConnected("the service is stopping; ask again when it is back")
	case err != nil:
		return nil, err
	}
	defer in.closed(file)
	return nil, serveFile(in.w, in.r, file, m, disposition)
}

// closed closes a file that was answered.
func (q *input) closed(file io.Closer) {
	if err := file.Close(); err != nil {
		hlog.FromRequest(q.r).Warn().Err(err).Msg("file not closed")
	}
}

// messageWithFile returns the message that the path names.
func (s *server) messageWithFile(in *input) (bridge.Message, error) {
	at := in.pathMessage("chatJid")
	if in.err != nil {
		return bridge.Message{}, in.err
	}
	m, err := s.message(in.ctx(), at.chat, at.id)
	if err == nil && m.Media == nil {
		err = bridge.NotFound("the message has no media")
	}
	return m, err
}
