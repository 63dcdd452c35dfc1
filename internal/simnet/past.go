package simnet

import (
	"time"

	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"bridged/internal/simnet/content"
)

// Past is what a phone has of a chat from before a companion was linked.
type Past struct {
	// With is the person's number, or the group.
	With types.JID
	// Name is the chat's name on the phone, empty where it has none.
	Name string
	// Timer is after how many seconds messages disappear, TimerSetAt when that was set.
	Timer      uint32
	TimerSetAt time.Time
	// ByLID names the chat by the person's LID, as phones do that have moved to them.
	ByLID bool
	// Labels is how members of a group describe themselves in it, by their JIDs in the group's form.
	Labels map[types.JID]string
	// Recent are the messages of the last months, Older those before them, each from the oldest on. Older ones go only to companions that
	// require the full history, or ask for them; years of them only to a companion that calls itself a desktop and says how many days and
	// megabytes it takes.
	Recent, Older []*content.PastInfo
}

// SetPast gives the phone a past, which replaces an earlier one. Companions get it when they are linked.
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
