package chats

import (
	"net/http"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/console/frame"
	"bridged/internal/console/view"
)

// ShowChatState shows the changes of a chat in a list. The script shows them as a menu.
func ShowChatState(req *frame.Request) error {
	if !req.Sends() {
		return frame.ErrNotFound
	}
	chat, err := req.API.Chat(req.Context(), req.Chat)
	if err != nil {
		return err
	}
	labels, err := req.Labels()
	if err != nil {
		return err
	}
	return req.Show("state", view.ChatName(chat), struct {
		Chat   bridge.Chat
		Labels view.Labels
	}{chat, labels})
}

// stateChanges has the changes that a form can make to a chat.
var stateChanges = map[string]struct {
	change client.ChatChange
	mute   time.Duration // from now on
	done   string
}{
	"pin":       {change: client.ChatChange{Pinned: new(true)}, done: "Pinned"},
	"unpin":     {change: client.ChatChange{Pinned: new(false)}, done: "Unpinned"},
	"archive":   {change: client.ChatChange{Archived: new(true)}, done: "Archived"},
	"unarchive": {change: client.ChatChange{Archived: new(false)}, done: "Unarchived"},
	"unread":    {change: client.ChatChange{Unread: new(true)}, done: "Marked as unread"},
	"mute-8h":   {mute: 8 * time.Hour, done: "Muted for 8 hours"},
	"mute-week": {mute: 7 * 24 * time.Hour, done: "Muted for a week"},
	"mute":      {change: client.ChatChange{MutedUntil: new(bridge.MutedForever())}, done: "Muted"},
	"unmute":    {change: client.ChatChange{MutedUntil: new(bridge.Time{})}, done: "Unmuted"},
}

// ChangeChatState pins, archives, mutes, labels or marks a chat on all devices of the account.
func ChangeChatState(req *frame.Request) error {
	ctx, name, back := req.Context(), req.PostForm.Get("change"), view.Root+"/chats"
	if name == "read" {
		return req.Done(req.API.MarkRead(ctx, req.Chat, "", req.Key()), "Marked as read", back)
	}
	if id := req.PostForm.Get("label"); id != "" {
		return req.Done(req.API.SetLabel(ctx, req.Chat, "", id, true, req.Key()), "Label added", back)
	}
	if id := req.PostForm.Get("unlabel"); id != "" {
		return req.Done(req.API.SetLabel(ctx, req.Chat, "", id, false, req.Key()), "Label removed", back)
	}
	known, ok := stateChanges[name]
	if !ok {
		return frame.Refused(http.StatusBadRequest, "Something is missing in the form. Reload the page, then try again.")
	}
	if known.mute != 0 {
		known.change.MutedUntil = new(bridge.At(req.Now().Add(known.mute)))
	}
	return req.Done(req.API.UpdateChat(ctx, req.Chat, known.change, req.Key()), known.done, back)
}

// EraseChat erases the messages of a chat on the account's devices, except for starred ones, or the whole chat.
func EraseChat(req *frame.Request) error {
	switch req.PostForm.Get("erase") {
	case "clear":
		return req.Done(req.API.ClearChat(req.Context(), req.Chat, true, req.Key()), "Chat cleared", view.ChatPath(req.Chat))
	case "delete":
		return req.Done(req.API.DeleteChat(req.Context(), req.Chat, req.Key()), "Chat deleted", view.Root+"/chats")
	}
	return frame.Refused(http.StatusBadRequest, "Something is missing in the form. Reload the page, then try again.")
}
