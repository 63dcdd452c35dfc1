package store

import (
	"encoding/json"
	"fmt"

	"bridged/internal/bridge"
)

// pendingFact is the JSON of a pending change: what is not in the row's columns.
type pendingFact struct {
	Timestamp int64           `json:"t"`
	Emoji     string          `json:"e,omitempty"`
	Type      string          `json:"y,omitempty"`
	Content   string          `json:"c,omitempty"`
	Details   json.RawMessage `json:"d,omitempty"`
	Ref       json.RawMessage `json:"r,omitempty"`
	ViewOnce  bool            `json:"o,omitempty"`
	FromMe    bool            `json:"f,omitempty"`
	PushName  string          `json:"p,omitempty"`
	Answer    int             `json:"a,omitempty"`
	Guests    int             `json:"g,omitempty"`
	Until     int64           `json:"u,omitempty"`
	Kept      bool            `json:"k,omitempty"`
}

// size returns what a row counts for the limits.
func (r pendingChange) size() int { return len(r.target) + len(r.stanza) + len(r.fact) + len(r.raw) }

func (t *writeTx) packPending(fact bridge.Fact) (row pendingChange) {
	var p pendingFact
	switch f := fact.(type) {
	case bridge.Deletion:
		row = pendingChange{kind: pendingDeletion, chat: f.Chat, target: f.Target, sender: f.By}
		p.Timestamp = f.Timestamp.UnixMilli()
	case bridge.Edit:
		row = pendingChange{kind: pendingEdit, chat: f.Chat, target: f.Target, sender: f.Editor, raw: f.New.Raw}
		p = pendingFact{Timestamp: f.Timestamp.UnixMilli(), Type: f.New.MessageType, Content: f.New.Content, ViewOnce: f.New.ViewOnce}
		p.Details, p.Ref = packedJSON(t.pack(detailsOf(f.New))), packedJSON(t.packRef(f.New))
	case bridge.ReactionChange:
		row = pendingChange{kind: pendingReaction, chat: f.Chat, target: f.Target, sender: f.Sender}
		p = pendingFact{Timestamp: f.Timestamp.UnixMilli(), Emoji: f.Emoji}
	case bridge.PollVote:
		row = pendingChange{kind: pendingVote, chat: f.Chat, target: f.Target, sender: f.Voter}
		p.Timestamp = f.Timestamp.UnixMilli()
		for _, hash := range f.Hashes {
			row.raw = append(row.raw, hash...)
		}
	case bridge.Encrypted:
		row = pendingChange{kind: pendingEncrypted, chat: f.Chat, target: f.Target, sender: f.Sender, stanza: f.ID, raw: f.Payload}
		p = pendingFact{Timestamp: f.Timestamp.UnixMilli(), FromMe: f.FromMe, PushName: f.PushName}
	case bridge.EventResponse:
		row = pendingChange{kind: pendingResponse, chat: f.Chat, target: f.Target, sender: f.Sender}
		p = pendingFact{Timestamp: f.Timestamp.UnixMilli(), Answer: int(f.Answer), Guests: f.Guests}
	case bridge.PollOptionAdded:
		row = pendingChange{kind: pendingOption, chat: f.Chat, target: f.Target, sender: f.By, stanza: f.Name}
		p = pendingFact{Timestamp: f.Timestamp.UnixMilli()}
	case bridge.Pin:
		row = pendingChange{kind: pendingPin, chat: f.Chat, target: f.Target, sender: f.By}
		p = pendingFact{Timestamp: f.Timestamp.UnixMilli()}
		if !f.Until.IsZero() {
			p.Until = f.Until.UnixMilli()
		}
	case bridge.Keep:
		row = pendingChange{kind: pendingKeep, chat: f.Chat, target: f.Target, sender: f.By}
		p = pendingFact{Timestamp: f.Timestamp.UnixMilli(), Kept: f.Kept}
	}
	row.fact = t.Encode(p)
	return row
}

// packedJSON turns a column of JSON, which may be null, into a field.
func packedJSON(column any) json.RawMessage {
	text, _ := column.(string)
	return json.RawMessage(text)
}

func (t *writeTx) unpackPending(row pendingChange) bridge.Fact {
	var p pendingFact
	t.Decode([]byte(row.fact), &p)
	at := bridge.Millis(p.Timestamp)
	switch row.kind {
	case pendingDeletion:
		return bridge.Deletion{Chat: row.chat, Target: row.target, By: row.sender, Timestamp: at}
	case pendingReaction:
		return bridge.ReactionChange{Chat: row.chat, Target: row.target, Sender: row.sender, Emoji: p.Emoji, Timestamp: at}
	case pendingVote:
		return bridge.PollVote{Chat: row.chat, Target: row.target, Voter: row.sender, Hashes: [][]byte{row.raw}, Timestamp: at}
	case pendingEncrypted:
		return bridge.Encrypted{
			Chat: row.chat, Target: row.target, ID: row.stanza, Sender: row.sender, FromMe: p.FromMe,
			PushName: p.PushName, Timestamp: at, Payload: row.raw,
		}
	case pendingResponse:
		return bridge.EventResponse{Chat: row.chat, Target: row.target, Sender: row.sender, Answer: bridge.EventAnswer(p.Answer), Guests: p.Guests, Timestamp: at}
	case pendingOption:
		return bridge.PollOptionAdded{Chat: row.chat, Target: row.target, By: row.sender, Name: row.stanza, Timestamp: at}
	case pendingPin:
		pin := bridge.Pin{Chat: row.chat, Target: row.target, By: row.sender, Timestamp: at}
		if p.Until != 0 {
			pin.Until = bridge.Millis(p.Until)
		}
		return pin
	case pendingKeep:
		return bridge.Keep{Chat: row.chat, Target: row.target, By: row.sender, Kept: p.Kept, Timestamp: at}
	case pendingEdit:
		edited := bridge.Message{MessageType: p.Type, Content: p.Content, ViewOnce: p.ViewOnce, Raw: row.raw}
		t.Fail(t.s.unpack(p.Details, &edited))
		if edited.Media != nil {
			t.Decode(p.Ref, &edited.Media.Ref)
		}
		return bridge.Edit{Chat: row.chat, Target: row.target, Editor: row.sender, Timestamp: at, New: edited}
	}
	t.Fail(fmt.Errorf("a pending change of the unknown kind %d", row.kind))
	return nil
}
