package chats

import (
	"cmp"
	"net/http"

	"bridged/internal/bridge"
	"bridged/internal/console/frame"
	"bridged/internal/console/names"
	"bridged/internal/console/view"
)

// news is a message in a notification. The script shows none if it is quiet.
type news struct {
	Chat  bridge.JID `json:"chat"`
	Title string     `json:"title"`
	Text  string     `json:"text"`
	Path  string     `json:"path"`
	Quiet bool       `json:"quiet"`
}

// ShowNotice answers with the notification of a message. Own messages and muted or archived chats
// are quiet.
func ShowNotice(req *frame.Request) error {
	ctx, query := req.Context(), req.URL.Query()
	jid, err := bridge.ParseJID(query.Get("chat"))
	if err != nil {
		return err
	}
	chat, err := req.API.Chat(ctx, jid)
	if err != nil {
		return err
	}
	m, err := req.API.Message(ctx, jid, query.Get("id"))
	if err != nil {
		return err
	}
	shown := news{Chat: chat.JID, Title: view.ChatName(chat), Text: view.Summary(m), Path: req.Options.BasePath + jump(chat.JID, m.ID)}
	shown.Quiet = m.FromMe || m.Imported || m.DeletedAt != nil || chat.Archived || chat.MutedUntil != nil
	if chat.IsGroup {
		n, err := names.Of(req, []bridge.JID{m.SenderJID})
		if err != nil {
			return err
		}
		shown.Text = names.SenderOf(cmp.Or(n.Known[m.SenderJID], m.PushName), m.SenderJID, m.FromMe) + ": " + shown.Text
	}
	frame.WriteJSON(req.W, http.StatusOK, shown)
	return nil
}

// ShowName answers with the name of a person.
func ShowName(req *frame.Request) error {
	jid, err := bridge.ParseJID(req.URL.Query().Get("of"))
	if err != nil {
		return err
	}
	n, err := names.Of(req, []bridge.JID{jid})
	if err != nil {
		return err
	}
	frame.WriteJSON(req.W, http.StatusOK, map[string]string{"name": n.Of(jid)})
	return nil
}
