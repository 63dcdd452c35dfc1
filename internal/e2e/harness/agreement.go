package harness

import (
	"net/http"

	"bridged/internal/bridge"
)

// How other answers of the bridge describe a chat.
const (
	newest     = "the newest message of the history"
	unanswered = "messages behind the account's own in the history"
	asListed   = "the name in the list of chats"
)

// agreed replaces an object's fields about a chat where they agree with the
// bridge's other answers.
func (p *Process) agreed(o Object) {
	if jid, ok := o["chatJid"].(string); ok && o["chatName"] != nil {
		var chat Object
		p.Get("/api/chats/" + bridge.JID(jid).Escaped()).Want(http.StatusOK).Decode(&chat)
		if chat["name"] == o["chatName"] {
			o["chatName"] = asListed
		}
	}
	last, ok := o["lastMessage"].(Object)
	if !ok {
		return
	}
	jid := bridge.JID(o["jid"].(string))
	list := "/api/messages/individual/" + jid.Escaped()
	if jid.IsGroup() {
		list = "/api/groups/" + jid.Escaped() + "/messages"
	}
	var history struct{ Messages []Object }
	p.Get(list + "?limit=1000").Want(http.StatusOK).Decode(&history)
	if isPreviewOf(last, history.Messages[0]) && last["timestamp"] == o["lastMessageAt"] {
		o["lastMessage"] = newest
	}
	behind := 0
	for behind < len(history.Messages) && history.Messages[behind]["fromMe"] == false {
		behind++
	}
	if o["unreadCount"] == float64(behind) {
		o["unreadCount"] = unanswered
	}
}

// isPreviewOf reports whether a chat's last message is one of a history's. All are
// short here.
func isPreviewOf(last, m Object) bool {
	for name, value := range last {
		if m[name] != value {
			return false
		}
	}
	return len(last) > 0
}
