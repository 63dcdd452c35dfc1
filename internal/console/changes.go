package console

import (
	"strings"

	"bridged/internal/bridge"
)

// messagePath returns the address of a message's forms.
func messagePath(chat bridge.JID, id string) string {
	return chatPath(chat) + "/messages/" + bridge.PathID(id)
}

// message returns the message that the path names.
func (v *visit) message() (chat bridge.JID, id string, err error) {
	if chat, err = v.chat(); err != nil {
		return "", "", err
	}
	if id, err = bridge.ParsePathID(v.r.PathValue("id")); err != nil {
		return "", "", errUnknown
	}
	return chat, id, nil
}

// key returns the Idempotency-Key of the form that was sent.
func (v *visit) key() string {
	if key := v.r.PostForm.Get("key"); key != "" {
		return key
	}
	return newKey()
}

// edit replaces the text of an own message, for everybody.
func (c *Console) edit(v *visit) error {
	chat, id, err := v.message()
	if err != nil {
		return err
	}
	text := strings.ReplaceAll(v.r.PostForm.Get("text"), "\r\n", "\n")
	_, err = v.api.Edit(v.r.Context(), chat, id, text, nil, v.key())
	return v.after(err, "", chatPath(chat))
}

// deleteMessage deletes an own message for everybody.
func (c *Console) deleteMessage(v *visit) error {
	chat, id, err := v.message()
	if err != nil {
		return err
	}
	_, err = v.api.Delete(v.r.Context(), chat, id, v.key())
	return v.after(err, "The message was deleted for everybody.", chatPath(chat))
}

// markRead marks a chat as read up to the newest message that its page showed.
func (c *Console) markRead(v *visit) error {
	chat, err := v.chat()
	if err != nil {
		return err
	}
	return v.after(v.api.MarkRead(v.r.Context(), chat, v.r.PostForm.Get("upto"), ""), "", chatPath(chat))
}
