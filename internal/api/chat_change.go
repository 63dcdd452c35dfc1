package api

import (
	"context"

	"bridged/internal/api/content"
	"bridged/internal/bridge"
)

// updateChat archives, pins or mutes a chat, or marks it as unread, on all devices, or sets its timer.
func updateChat(in *input) (any, error) {
	jid := in.pathChat("jid")
	var req content.ChatChange
	body := in.body(&req, strict)
	patch, err := req.Patch(jid, in.Now())
	keep(in, patch, err)
	var chat bridge.Chat
	return actOnce(in, body, act{
		chat: jid, change: true,
		lookUp: func(ctx context.Context) (err error) {
			chat, err = in.chat(ctx, jid)
			return err
		},
		do: func(ctx context.Context) (bridge.Sent, error) {
			return bridge.Sent{Chat: chat.JID, Timestamp: bridge.At(in.Now())}, in.Account.UpdateChat(ctx, chat, patch)
		},
		answer: func(done bridge.Sent) any {
			return struct {
				OK      bool       `json:"ok"`
				ChatJID bridge.JID `json:"chatJid"`
				Changed []string   `json:"changed"`
			}{true, in.canonical(done.Chat), patch.Fields()}
		},
	})
}
