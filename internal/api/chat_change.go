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

// clearChat removes the messages of a chat on all devices.
func clearChat(in *input) (any, error) {
	jid := in.pathStored("jid")
	var req struct {
		KeepStarred bool `json:"keepStarred"`
	}
	body := in.body(&req, optional)
	return eraseChat(in, jid, body, bridge.ChatClearing{KeepStarred: req.KeepStarred})
}

// deleteChat removes a chat on all devices. A group must have been left.
func deleteChat(in *input) (any, error) {
	jid := in.pathStored("jid")
	return eraseChat(in, jid, in.body(&struct{}{}, optional), bridge.ChatClearing{Delete: true})
}

func eraseChat(in *input, jid bridge.JID, body []byte, c bridge.ChatClearing) (any, error) {
	keep(in, jid, in.confirmed("this erases messages"))
	var chat bridge.Chat
	return actOnce(in, body, act{
		chat: jid, change: true,
		lookUp: func(ctx context.Context) (err error) {
			if chat, err = in.chat(ctx, jid); err == nil && c.Delete {
				err = in.mayDeleteChat(ctx, chat.JID)
			}
			return err
		},
		do: func(ctx context.Context) (bridge.Sent, error) {
			return bridge.Sent{Chat: chat.JID, Timestamp: bridge.At(in.Now())}, in.Account.ClearChat(ctx, chat, c)
		},
		answer: func(done bridge.Sent) any {
			return struct {
				OK      bool       `json:"ok"`
				ChatJID bridge.JID `json:"chatJid"`
			}{true, in.canonical(done.Chat)}
		},
	})
}

// mayDeleteChat returns an error if the account is a member of the group.
func (s *server) mayDeleteChat(ctx context.Context, jid bridge.JID) error {
	if !jid.IsGroup() {
		return nil
	}
	group, err := s.Store.Group(ctx, jid)
	if _, isMember := s.membership(group); err == nil && isMember {
		err = bridge.Invalid("the account is a member of this group: leave it first (POST /api/groups/{jid}/leave), or clear it (POST /api/chats/{jid}/clear)")
	}
	return err
}
