package chats

import (
	"bridged/internal/bridge"
	"bridged/internal/console/frame"
)

// ShowMenu answers the script with the actions on a message.
func ShowMenu(req *frame.Request) error {
	m, err := req.API.Message(req.Context(), req.Chat, req.ID)
	if err != nil {
		return err
	}
	shown, err := bubbles(req, bridge.Chat{JID: req.Chat}, nil, []bridge.Message{m}, unread{})
	if err != nil {
		return err
	}
	labels, err := req.Labels()
	if err != nil {
		return err
	}
	b := shown[0]
	if b.Starrable {
		if b.Pinnable, err = pinsIn(req, req.Chat); err != nil {
			return err
		}
	}
	b.Labelable = len(labels.All) > 0 && b.Actions && b.Markable("labelled") == nil
	b.Curl = req.Curl("GET", "/api/chats/"+req.Chat.Escaped()+"/messages/"+bridge.PathID(b.ID), nil)
	return req.PartOf("chat", "message-menu", b)
}
