package console

import (
	"cmp"
	"net/http"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// showChatState answers what can be done with a chat in a list. The script shows it as a menu.
func (c *Console) showChatState(v *visit) error {
	if !v.sends() {
		return errUnknown
	}
	chat, err := v.api.Chat(v.r.Context(), v.chat)
	if err != nil {
		return err
	}
	return v.show("state", nameOf(chat), chat)
}

// stateChanges lists what a form may do with a chat, and the sentence about it.
var stateChanges = map[string]struct {
	change client.ChatChange
	mute   time.Duration // from now on
	done   string
}{
	"pin":       {change: client.ChatChange{Pinned: new(true)}, done: "Pinned"},
	"unpin":     {change: client.ChatChange{Pinned: new(false)}, done: "No longer pinned"},
	"archive":   {change: client.ChatChange{Archived: new(true)}, done: "Archived"},
	"unarchive": {change: client.ChatChange{Archived: new(false)}, done: "Moved out of the archive"},
	"unread":    {change: client.ChatChange{Unread: new(true)}, done: "Marked as unread"},
	"mute-8h":   {mute: 8 * time.Hour, done: "Muted for 8 hours"},
	"mute-week": {mute: 7 * 24 * time.Hour, done: "Muted for a week"},
	"mute":      {change: client.ChatChange{MutedUntil: new(bridge.MutedForever())}, done: "Muted"},
	"unmute":    {change: client.ChatChange{MutedUntil: new(bridge.Time{})}, done: "No longer muted"},
}

// changeChatState changes how the account's devices keep a chat.
func (c *Console) changeChatState(v *visit) error {
	ctx, name, back := v.r.Context(), v.r.PostForm.Get("change"), root+"/chats"
	if name == "read" {
		return v.done(v.api.MarkRead(ctx, v.chat, "", v.key()), "Marked as read", back)
	}
	known, ok := stateChanges[name]
	if !ok {
		return problem{http.StatusBadRequest, titleOf(http.StatusBadRequest), "Something is missing in the form. Reload the page, then try again.", ""}
	}
	if known.mute != 0 {
		known.change.MutedUntil = new(bridge.At(v.c.now().Add(known.mute)))
	}
	return v.done(v.api.UpdateChat(ctx, v.chat, known.change, v.key()), known.done, back)
}

// news is a message as a notification shows it, or does not where it is quiet.
type news struct {
	Chat  bridge.JID `json:"chat"`
	Title string     `json:"title"`
	Text  string     `json:"text"`
	Path  string     `json:"path"`
	Quiet bool       `json:"quiet"`
}

// showNotice answers what a notification says about a message: of another person, in a chat
// that is neither muted nor archived.
func (c *Console) showNotice(v *visit) error {
	ctx, query := v.r.Context(), v.r.URL.Query()
	jid, err := bridge.ParseJID(query.Get("chat"))
	if err != nil {
		return err
	}
	chat, err := v.api.Chat(ctx, jid)
	if err != nil {
		return err
	}
	m, err := v.api.Message(ctx, jid, query.Get("id"))
	if err != nil {
		return err
	}
	shown := news{Chat: chat.JID, Title: nameOf(chat), Text: summary(m), Path: v.c.options.BasePath + jump(chat.JID, m.ID)}
	shown.Quiet = m.FromMe || m.Imported || m.DeletedAt != nil || chat.Archived || chat.MutedUntil != nil
	if chat.IsGroup {
		n, err := v.namesOf([]bridge.JID{m.SenderJID})
		if err != nil {
			return err
		}
		shown.Text = senderOf(cmp.Or(n.known[m.SenderJID], m.PushName), m.SenderJID, m.FromMe) + ": " + shown.Text
	}
	writeJSON(v.w, http.StatusOK, shown)
	return nil
}

// showName answers the name of a person.
func (c *Console) showName(v *visit) error {
	jid, err := bridge.ParseJID(v.r.URL.Query().Get("of"))
	if err != nil {
		return err
	}
	n, err := v.namesOf([]bridge.JID{jid})
	if err != nil {
		return err
	}
	writeJSON(v.w, http.StatusOK, map[string]string{"name": n.of(jid)})
	return nil
}
