package api

import (
	"io"

	"github.com/rs/zerolog/hlog"

	"bridged/internal/api/download"
	"bridged/internal/bridge"
)

// getMedia answers with the description of a message's file.
func getMedia(in *input) (any, error) {
	m, err := messageWithFile(in)
	return struct {
		ChatJID bridge.JID    `json:"chatJid"`
		MsgID   string        `json:"msgId"`
		Media   *bridge.Media `json:"media"`
	}{m.Chat, m.ID, m.Media}, err
}

// downloadMedia answers with a decrypted file, which is verified before its first byte is sent.
func downloadMedia(in *input) (any, error) {
	disposition := in.oneOf("disposition", download.Inline, download.Inline, download.Attachment)
	m, err := messageWithFile(in)
	if err != nil {
		return nil, err
	}
	if download.NotModified(in.w, in.r, m) {
		return nil, nil
	}
	file, err := in.Files.Open(in.ctx(), m)
	switch {
	case err != nil && in.Lifetime.Err() != nil:
		return nil, bridge.NotConnected("the service is stopping; ask again when it is back")
	case err != nil:
		return nil, err
	}
	defer in.closed(file)
	return nil, download.Serve(in.w, in.r, file, m, disposition)
}

// closed closes a file that was sent.
func (q *input) closed(file io.Closer) {
	if err := file.Close(); err != nil {
		hlog.FromRequest(q.r).Warn().Err(err).Msg("cannot close a file")
	}
}

func messageWithFile(in *input) (bridge.Message, error) {
	at := in.pathStoredMessage("chatJid")
	if in.err != nil {
		return bridge.Message{}, in.err
	}
	m, err := in.message(in.ctx(), at.chat, at.id)
	if err == nil && m.Media == nil {
		err = bridge.NotFound("the message has no media")
	}
	return m, err
}
