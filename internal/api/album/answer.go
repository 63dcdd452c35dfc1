package album

import (
	"slices"

	"bridged/internal/bridge"
)

// Sent is the answer for an album that the network has accepted. Its id is that of the message that announces it.
type Sent struct {
	OK        bool        `json:"ok"`
	MsgID     string      `json:"msgId"`
	Timestamp bridge.Time `json:"timestamp"`
	ChatJID   bridge.JID  `json:"chatJid"`
	Items     []SentItem  `json:"items"`
	Ignored   []string    `json:"ignored,omitempty"` // fields of the request that the route does not know
}

// SentItem is one picture or video.
type SentItem struct {
	MsgID     string      `json:"msgId"`
	Timestamp bridge.Time `json:"timestamp"`
}

// Answer returns the answer for an album.
func Answer(sent bridge.SentAlbum, canonical func(bridge.JID) bridge.JID, ignored []string) Sent {
	answer := Sent{OK: true, MsgID: sent.ID, Timestamp: sent.Timestamp, ChatJID: canonical(sent.Chat), Items: []SentItem{}, Ignored: ignored}
	for _, item := range sent.Items {
		answer.Items = append(answer.Items, SentItem{item.ID, item.Timestamp})
	}
	return answer
}

// Replay returns the answer for an album that an earlier call has sent, or its messages if the network has not accepted
// all of them. stored are its messages, the announcing one first; without them, err says why.
func Replay(key bridge.SendKey, stored []bridge.Message, err error, canonical func(bridge.JID) bridge.JID, ignored []string) (unsent []bridge.Message, answer any, _ error) {
	switch {
	case bridge.CodeOf(err) == bridge.CodeNotFound: // it was sent, and its chat was cleared since
		stored = []bridge.Message{{ID: key.MsgID, Chat: key.Chat, Timestamp: key.At}}
	case err != nil:
		return nil, nil, err
	case slices.ContainsFunc(stored, func(m bridge.Message) bool { return m.MayResend() }):
		return stored, nil, nil
	}
	var sent bridge.SentAlbum
	for i, m := range stored {
		if one := (bridge.Sent{ID: m.ID, Chat: m.Chat, Timestamp: m.Timestamp}); i == 0 {
			sent.Sent = one
		} else {
			sent.Items = append(sent.Items, one)
		}
	}
	return nil, Answer(sent, canonical, ignored), nil
}
