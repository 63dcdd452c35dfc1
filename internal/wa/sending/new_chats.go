package sending

import (
	"context"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// mayBegin refuses a first message beyond the limit before the recipient is looked up.
func (c *Client) mayBegin(ctx context.Context, to bridge.JID) error {
	if !c.s.o.NewChats.IsLimited() || !to.IsPerson() || c.isTrusted(ctx, to) {
		return nil
	}
	return c.s.o.Store.MayBegin(ctx, c.s.o.NewChats, c.namesOf(to)...)
}

// namesOf returns a person's possible chats: numbers have two spellings in some countries.
func (c *Client) namesOf(to bridge.JID) []bridge.JID {
	names := []bridge.JID{to}
	if canonical := c.s.o.Store.Canonical(to); canonical.Server() == bridge.ServerUser {
		for _, alias := range bridge.PhoneAliases(canonical.User()) {
			names = append(names, bridge.PhoneJID(alias))
		}
	}
	return names
}

// withNewChat puts the fact that counts or refuses a first message before the others.
func (c *Client) withNewChat(ctx context.Context, chat bridge.JID, facts ...bridge.Fact) []bridge.Fact {
	if !c.s.o.NewChats.IsLimited() || !chat.IsPerson() || c.isTrusted(ctx, chat) {
		return facts
	}
	return append([]bridge.Fact{bridge.NewChat{Chat: chat, Limit: c.s.o.NewChats}}, facts...)
}

// isTrusted reports whether a person has been in touch, perhaps before the pairing: their
// device has given this account its token.
func (c *Client) isTrusted(ctx context.Context, person bridge.JID) bool {
	trusted, err := c.HasToken(ctx, convert.WireJID(c.s.o.Store.Canonical(person)))
	if err != nil {
		c.s.o.Log.Warn().Err(err).Msg("a contact's token was not read")
	}
	return trusted
}

// refuseNewChat refuses a first message to a person while the network would.
func (c *Client) refuseNewChat(ctx context.Context, to bridge.JID) error {
	left := c.s.o.Timelock()
	if left == 0 || !to.IsPerson() || c.isTrusted(ctx, to) {
		return nil
	}
	isNew, err := c.s.o.Store.IsNewChat(ctx, c.namesOf(to)...)
	if err != nil || !isNew {
		return err
	}
	return reachoutRestricted(left)
}

func reachoutRestricted(left time.Duration) *bridge.Error {
	return &bridge.Error{
		Code: bridge.CodeReachoutRestricted, RetryAfter: left,
		Msg: "the network does not let this account start new chats for now (code 463): wait, or let the recipient write first",
	}
}
