package sending

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
	"bridged/internal/wa/groups"
	"bridged/internal/wa/session"
)

// destination checks the recipient before anything is stored and returns whatsmeow's JID of the
// chat.
func (c *Client) destination(ctx context.Context, jid bridge.JID) (types.JID, error) {
	if err := answerable(jid); err != nil {
		return types.EmptyJID, err
	}
	jid = c.s.o.Store.Canonical(jid)
	to := convert.WireJID(jid)
	switch {
	case jid.IsGroup():
		return to, c.InGroup(ctx, jid)
	case jid.IsLID():
		return to, c.lidExists(ctx, to)
	case jid.Server() == bridge.ServerUser:
		return c.NumberExists(ctx, to)
	}
	return to, nil
}

// answerable refuses people on other messengers: WhatsApp delivers their messages to linked
// devices, but it is not known how linked devices can answer.
func answerable(to bridge.JID) error {
	if !to.IsInterop() {
		return nil
	}
	return bridge.Fail(bridge.CodeNotAChat, "%s is a person on another messenger: their messages are stored, but they cannot be answered from here; answer on the phone", to)
}

// knownGroup holds what sending needs to know about a group of the account.
type knownGroup struct {
	isCommunity    bool // contains groups; no messages can be sent to it
	isAnnouncement bool // of a community; accepts only encrypted reactions
	byLID          bool // its members are addressed by LID
}

func groupOf(info *types.GroupInfo) knownGroup {
	return knownGroup{info.IsParent, info.IsDefaultSubGroup, info.AddressingMode == types.AddressingModeLID}
}

// NoteGroup records a group of the account.
func (c *Client) NoteGroup(info *types.GroupInfo) {
	c.groups.Store(convert.JID(info.JID), groupOf(info))
}

// ForgetGroup removes the record of a group after a change.
func (c *Client) ForgetGroup(jid bridge.JID) { c.groups.Delete(jid) }

// group returns the record of a group, and asks the network for it if there is none.
func (c *Client) group(ctx context.Context, jid bridge.JID) (knownGroup, error) {
	if known, ok := c.groups.Load(jid); ok {
		return known.(knownGroup), nil
	}
	return c.askGroup(ctx, jid)
}

// askGroup asks the network for a group and stores it. whatsmeow stores the members.
func (c *Client) askGroup(ctx context.Context, jid bridge.JID) (knownGroup, error) {
	info, err := c.GetGroupInfo(ctx, convert.WireJID(jid))
	if err != nil {
		return knownGroup{}, err
	}
	c.NoteGroup(info) // before a change of the group can be received
	if err := c.s.o.Store.Save(ctx, convert.GroupFacts(info)...); err != nil {
		c.s.o.Log.Warn().Err(err).Msg("cannot store a group")
	}
	return groupOf(info), nil
}

// InGroup returns nil if the account is a member of a group and may send messages to it.
func (c *Client) InGroup(ctx context.Context, jid bridge.JID) error {
	known, err := c.group(ctx, jid)
	switch {
	case err != nil:
		return groups.QueryError(err)
	case known.isCommunity:
		return bridge.Fail(bridge.CodeNotAChat, "a community is not a chat: write to its announcement group or to another of its groups")
	}
	return nil
}

// AddressedByLID reports whether a group's members are addressed by LID.
func (c *Client) AddressedByLID(ctx context.Context, jid bridge.JID) bool {
	known, err := c.group(ctx, jid)
	return err == nil && known.byLID
}

// NumberExists returns the number under which the network knows a person.
func (c *Client) NumberExists(ctx context.Context, to types.JID) (types.JID, error) {
	if lid, err := c.LIDOf(ctx, to); err != nil {
		return to, err
	} else if !lid.IsEmpty() {
		return to, nil
	}
	known, err := c.lookUp(ctx, to.User)
	switch {
	case err != nil:
		return to, c.s.RefusalOf(err, convert.JID(to))
	case known.JID == "":
		return to, notOnNetwork()
	}
	return convert.WireJID(known.JID), nil
}

func (c *Client) lidExists(ctx context.Context, to types.JID) error {
	if pn, err := c.NumberOf(ctx, to); err != nil {
		return err
	} else if !pn.IsEmpty() {
		return nil
	}
	devices, err := c.GetUserDevices(ctx, []types.JID{to})
	if err != nil {
		return c.s.RefusalOf(err, convert.JID(to))
	}
	if len(devices) == 0 {
		return notOnNetwork()
	}
	return nil
}

func notOnNetwork() *bridge.Error {
	return bridge.Fail(bridge.CodeNotOnNetwork, "the recipient is not on WhatsApp: check the number (E.164 digits with country code)")
}

// isStale reports whether the network refused a message because of stale recipients: the group
// has changed its addressing, or a device was added or removed. The message was not delivered.
func isStale(err error) bool {
	if !errors.Is(err, whatsmeow.ErrServerReturnedError) {
		return false
	}
	code := session.ServerCode(err)
	return code == codeWrongMode || code == codeStale
}

// refreshRecipients makes the next send look up the chat's members and devices again.
func (c *Client) refreshRecipients(ctx context.Context, to types.JID) error {
	if to.Server == types.GroupServer {
		if _, err := c.askGroup(ctx, convert.JID(to)); err != nil {
			return fmt.Errorf("ask for the group: %w", err)
		}
	}
	people, err := c.PeopleOf(ctx, to)
	if err != nil {
		return err
	}
	for _, person := range people {
		c.ForgetDevices(ctx, person)
	}
	return nil
}

// mayBegin refuses a first message above the limit before the recipient is looked up.
func (c *Client) mayBegin(ctx context.Context, to bridge.JID) error {
	if !c.s.o.NewChats.IsLimited() || !to.IsPerson() || c.isTrusted(ctx, to) {
		return nil
	}
	return c.s.o.Store.MayBegin(ctx, c.s.o.NewChats, c.namesOf(to)...)
}

// namesOf returns the JIDs that a person's chat may have: numbers have two spellings in some
// countries.
func (c *Client) namesOf(to bridge.JID) []bridge.JID {
	names := []bridge.JID{to}
	if canonical := c.s.o.Store.Canonical(to); canonical.Server() == bridge.ServerUser {
		for _, alias := range bridge.PhoneAliases(canonical.User()) {
			names = append(names, bridge.PhoneJID(alias))
		}
	}
	return names
}

// withNewChat prepends the fact that counts or refuses a first message.
func (c *Client) withNewChat(ctx context.Context, chat bridge.JID, facts ...bridge.Fact) []bridge.Fact {
	if !c.s.o.NewChats.IsLimited() || !chat.IsPerson() || c.isTrusted(ctx, chat) {
		return facts
	}
	return append([]bridge.Fact{bridge.NewChat{Chat: chat, Limit: c.s.o.NewChats}}, facts...)
}

// isTrusted reports whether a person has been in touch with the account, possibly before the
// pairing: the account has their device's token.
func (c *Client) isTrusted(ctx context.Context, person bridge.JID) bool {
	trusted, err := c.HasToken(ctx, convert.WireJID(c.s.o.Store.Canonical(person)))
	if err != nil {
		c.s.o.Log.Warn().Err(err).Msg("cannot read a contact's token")
	}
	return trusted
}

// refuseNewChat refuses a first message to a person while the network would refuse it.
func (c *Client) refuseNewChat(ctx context.Context, to bridge.JID) error {
	locked, capped := c.s.o.Timelock(), c.s.o.Capped()
	if max(locked, capped) == 0 || !to.IsPerson() || c.isTrusted(ctx, to) {
		return nil
	}
	isNew, err := c.s.o.Store.IsNewChat(ctx, c.namesOf(to)...)
	switch {
	case err != nil || !isNew:
		return err
	case capped > locked:
		return newChatsCapped(capped)
	}
	return reachoutRestricted(locked)
}

func newChatsCapped(left time.Duration) *bridge.Error {
	return &bridge.Error{
		Code: bridge.CodeNewChatsCapped, RetryAfter: left,
		Msg: "the network lets this account start no more new chats in this cycle (code 475): wait for its end, or let the recipient write first",
	}
}

func reachoutRestricted(left time.Duration) *bridge.Error {
	return &bridge.Error{
		Code: bridge.CodeReachoutRestricted, RetryAfter: left,
		Msg: "the network does not let this account start new chats for now (code 463): wait, or let the recipient write first",
	}
}
