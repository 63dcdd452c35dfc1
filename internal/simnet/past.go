package simnet

import (
	"slices"
	"time"

	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"bridged/internal/simnet/content"
)

// Past is a chat of the phone from before a companion was linked.
type Past struct {
	With types.JID
	// Name is the chat's name on the phone, if it has one.
	Name string
	// Timer is the disappearing timer in seconds, set at TimerSetAt.
	Timer      uint32
	TimerSetAt time.Time
	// ByLID names the chat by the person's LID, as phones do after their migration to LIDs.
	ByLID bool
	// Labels holds the descriptions that members of a group have given themselves, by the JIDs that the group uses.
	Labels map[types.JID]string
	// Recent holds the messages of the last months, Older those before them, oldest first. Older ones go only to companions that require the
	// full history or ask for them; years of them only to a companion that calls itself a desktop and states how many days and megabytes it
	// takes.
	Recent, Older []*content.PastInfo
	// PhoneOnly says that the phone has still older messages, which it gives to no companion. It does not answer a request for them, and
	// shows its owner that syncing is paused.
	PhoneOnly bool
}

// end returns whether the phone has more messages from before some of its past. The first message is the oldest.
func (past Past) end(sent []*content.PastInfo, onDemand bool) *waHistorySync.Conversation_EndOfHistoryTransferType {
	all := slices.Concat(past.Older, past.Recent)
	switch reached := len(all) == 0 || len(sent) > 0 && sent[0] == all[0]; {
	case reached && past.PhoneOnly:
		return waHistorySync.Conversation_COMPLETE_ON_DEMAND_SYNC_WITH_MORE_MSG_ON_PRIMARY_BUT_NO_ACCESS.Enum()
	case reached:
		return waHistorySync.Conversation_COMPLETE_AND_NO_MORE_MESSAGE_REMAIN_ON_PRIMARY.Enum()
	case onDemand:
		return waHistorySync.Conversation_COMPLETE_ON_DEMAND_SYNC_BUT_MORE_MSG_REMAIN_ON_PRIMARY.Enum()
	}
	return waHistorySync.Conversation_COMPLETE_BUT_MORE_MESSAGES_REMAIN_ON_PRIMARY.Enum()
}

// SetPast replaces the phone's past. Companions get it when they are linked.
func (p *Phone) SetPast(chats ...Past) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.past = chats
}

// conversation returns a chat without its messages, as the phone describes it. The caller holds Directory.Mu.
func (p *Phone) conversation(past Past) *waHistorySync.Conversation {
	c := &waHistorySync.Conversation{ID: proto.String(past.With.String())}
	if past.Name != "" {
		c.Name = proto.String(past.Name)
	}
	if past.Timer > 0 || !past.TimerSetAt.IsZero() {
		c.EphemeralExpiration, c.EphemeralSettingTimestamp = proto.Uint32(past.Timer), proto.Int64(past.TimerSetAt.Unix())
	}
	if g := p.net.Groups[past.With.User]; past.With.Server == types.GroupServer && g != nil {
		c.Participant = content.Labelled(past.Labels, g.JIDs())
	}
	other := p.net.AccountOf(past.With)
	if other == nil {
		return c
	}
	if other.Username != "" {
		c.Username = proto.String(other.Username)
	}
	if past.ByLID || other.Numberless {
		c.ID = proto.String(other.LID().String())
		if !other.Numberless {
			c.PnJID = proto.String(other.PN().String())
		}
	} else if !other.Withheld {
		c.LidJID = proto.String(other.LID().String())
	}
	if given := other.Issued[p.Account]; given.Token != nil {
		c.TcToken, c.TcTokenTimestamp = given.Token, proto.Uint64(uint64(given.At.Unix()))
	}
	return c
}
