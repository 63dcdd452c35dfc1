package api

import (
	"net/http"

	"bridged/internal/bridge"
)

// getChat answers one chat, as the list shows it.
func (s *server) getChat(w http.ResponseWriter, r *http.Request) error {
	jid, err := pathChat(r, "jid")
	if err != nil {
		return err
	}
	chat, err := s.chat(r.Context(), jid)
	if err != nil {
		return err
	}
	return s.answer(w, r, chat)
}

// getMessage answers one message, as the histories show it.
func (s *server) getMessage(w http.ResponseWriter, r *http.Request) error {
	jid, err := pathChat(r, "jid")
	if err != nil {
		return err
	}
	id, err := pathMessageID(r)
	if err != nil {
		return err
	}
	m, err := s.message(r.Context(), jid, id)
	if err != nil {
		return err
	}
	return s.answer(w, r, struct {
		ChatJID bridge.JID     `json:"chatJid"`
		Message bridge.Message `json:"message"`
	}{m.Chat, m})
}

// pathChat returns the chat that the path names.
func pathChat(r *http.Request, name string) (bridge.JID, error) {
	value, err := pathParam(r, name)
	if err != nil {
		return "", err
	}
	return parseChat("the path", value)
}
