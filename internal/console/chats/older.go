package chats

import (
	"net/url"

	"bridged/internal/bridge"
	"bridged/internal/console/frame"
)

// canAskPhone reports whether the phone can be asked for messages from before those of a page, which begins with the
// oldest stored one. It cannot while the account is not connected.
func (p *chatPage) canAskPhone(req *frame.Request, query url.Values, messages []bridge.Message) (bool, error) {
	isFirst := p.Older == "" && !p.From && query.Get("newer") == ""
	if !isFirst || len(messages) == 0 || messages[0].IsExported() || p.Chat.JID.IsImport() || p.Chat.JID.IsInterop() || !req.AsksPhone() {
		return false, nil
	}
	status, err := req.Status()
	return status.Status == bridge.StateOpen, err
}

// AskPhone asks the phone for older messages of a chat. It leads to the oldest stored message, above which they appear.
func AskPhone(req *frame.Request) error {
	asked, err := req.API.RequestHistory(req.Context(), req.Chat, 0)
	text := "Asking your phone. Keep it online."
	if !req.WantsJSON() {
		text += " Reload this page in a moment."
	}
	return req.Done(err, text, jump(req.Chat, asked.Before.MsgID))
}
