package chats

import (
	"context"
	"net/http"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/console/frame"
	"bridged/internal/console/names"
	"bridged/internal/console/view"
)

// change is the form of a change of a message. The script loads it from the address with the message's id
// and shows it as a dialog.
type change struct {
	Kind string // edit, delete, pin or labels
	Path string // of the form
	Back string // the chat
	Key  string // idempotency key
	Text string // the message in one line
	Old  string // its whole text
	All  bool   // whether it can be deleted for everyone
	Me   bool   // whether it can be deleted on the account's own devices

	Labels view.Labels
	Has    []string // the ids of its labels
}

// changeOf returns the requested form; nil if none.
func changeOf(req *frame.Request, chat bridge.JID) (*change, error) {
	for _, kind := range []string{"edit", "delete", "pin", "labels"} {
		id := req.URL.Query().Get(kind)
		if id == "" || !req.Sends() {
			continue
		}
		m, err := req.API.Message(req.Context(), chat, id)
		if err != nil {
			return nil, err
		}
		labels, err := req.Labels()
		if err != nil {
			return nil, err
		}
		return &change{Labels: labels, Has: m.Labels, Kind: kind, Path: messagePath(chat, m.ID) + "/" + kind, Back: view.ChatPath(chat), Key: frame.NewKey(), Text: view.Summary(m), Old: m.Content, All: m.FromMe && m.Deletable(req.Now(), false) == nil, Me: m.DeletableForMe() == nil}, nil
	}
	return nil, nil
}

func messagePath(chat bridge.JID, id string) string {
	return view.ChatPath(chat) + "/messages/" + bridge.PathID(id)
}

// pinBar has the pinned messages of a chat.
type pinBar struct {
	Chat  bridge.JID
	Lines []pinnedLine // the newest first
	Pins  bool         // whether the visitor may unpin them
}

// pinnedLine is a pinned message in one line.
type pinnedLine struct {
	ID, Sender, Text, Path string
}

// mostPinned is the number of messages that the apps pin in a chat.
const mostPinned = 3

// pinBarOf returns the pinned messages of a chat.
func pinBarOf(req *frame.Request, chat bridge.Chat) (bar pinBar, err error) {
	bar.Chat = chat.JID
	page, err := req.API.Messages(req.Context(), bridge.MessageQuery{Chat: chat.JID, MessageFilter: bridge.MessageFilter{Pinned: new(true)}, Order: bridge.OrderDesc, Limit: mostPinned})
	if err != nil || len(page.Items) == 0 {
		return bar, err
	}
	if bar.Pins, err = pinsIn(req, chat.JID); err != nil {
		return bar, err
	}
	n, err := names.OfMessages(req, []bridge.Chat{chat}, page.Items)
	for _, m := range page.Items {
		bar.Lines = append(bar.Lines, pinnedLine{ID: m.ID, Sender: n.Of(m.SenderJID), Text: view.Summary(m), Path: jump(chat.JID, m.ID)})
	}
	return bar, err
}

// ShowPinned answers the script with the pinned messages of a chat.
func ShowPinned(req *frame.Request) error {
	chat, err := req.API.Chat(req.Context(), req.Chat)
	if err != nil {
		return err
	}
	bar, err := pinBarOf(req, chat)
	if err != nil {
		return err
	}
	return req.PartOf("chat", "pinned", map[string]any{"Bar": bar})
}

// Pin pins a message for everyone in its chat.
func Pin(req *frame.Request) error {
	_, err := req.API.Pin(req.Context(), req.Chat, req.ID, req.PostForm.Get("duration"), req.Key())
	return req.Done(err, "Pinned", view.ChatPath(req.Chat))
}

// Vote replaces the account's vote in a poll by the chosen options.
func Vote(req *frame.Request) error {
	_, err := req.API.Vote(req.Context(), req.Chat, req.ID, req.PostForm["option"], req.Key())
	return req.Done(err, "", view.ChatPath(req.Chat))
}

// Join joins the group of an invitation, and leads to its chat.
func Join(req *frame.Request) error {
	m, err := req.API.Message(req.Context(), req.Chat, req.PostForm.Get("message"))
	if err != nil {
		return err
	}
	_, err = req.API.JoinInvited(req.Context(), req.Chat, m.ID, frame.NewKey())
	done := "You joined the group."
	if bridge.CodeOf(err) == bridge.CodeAlreadyInGroup {
		done, err = "", nil
	}
	if err != nil || m.GroupInvite == nil {
		return err
	}
	return req.Done(nil, done, view.ChatPath(m.GroupInvite.JID))
}

// marks has the changes that a button in the menu of a message can make.
var marks = map[string]struct {
	change func(api *client.Client, ctx context.Context, chat bridge.JID, id, key string) (client.Sent, error)
	done   string
}{
	"unpin":  {(*client.Client).Unpin, "Unpinned"},
	"star":   {(*client.Client).Star, "Starred"},
	"unstar": {(*client.Client).Unstar, "Unstarred"},
}

// Mark changes a mark of a message by a button in its menu. The button's name says how, and its value is the id
// of the message.
func Mark(req *frame.Request) error {
	for name, mark := range marks {
		if id := req.PostForm.Get(name); id != "" {
			_, err := mark.change(req.API, req.Context(), req.Chat, id, req.Key())
			return req.Done(err, mark.done, view.ChatPath(req.Chat))
		}
	}
	return frame.Refused(http.StatusBadRequest, "Something is missing in the form. Reload the page, then try again.")
}
