package album

import "bridged/internal/bridge"

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

// Answered returns the answer for an album that was sent before. The first of its messages announces it.
func Answered(stored []bridge.Message, canonical func(bridge.JID) bridge.JID, ignored []string) Sent {
	var sent bridge.SentAlbum
	for i, m := range stored {
		if one := (bridge.Sent{ID: m.ID, Chat: m.Chat, Timestamp: m.Timestamp}); i == 0 {
			sent.Sent = one
		} else {
			sent.Items = append(sent.Items, one)
		}
	}
	return Answer(sent, canonical, ignored)
}
