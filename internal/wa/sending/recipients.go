package sending

import (
	"context"
	"errors"
	"fmt"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
	"bridged/internal/wa/groups"
	"bridged/internal/wa/session"
)

// destination checks the recipient before anything is stored, and returns the library's
// form of the chat.
func (c *Client) destination(ctx context.Context, jid bridge.JID) (types.JID, error) {
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

func (c *Client) InGroup(ctx context.Context, jid bridge.JID) error {
	if known, ok := c.members.Load(jid); ok {
		return known.(groupKind).mayWrite()
	}
	info, err := c.GetGroupInfo(ctx, convert.WireJID(jid))
	if err != nil {
		return groups.QueryError(err)
	}
	c.NoteGroup(info)
	if err := c.s.o.Store.Save(ctx, convert.GroupFacts(info)...); err != nil {
		c.s.o.Log.Warn().Err(err).Msg("group not stored")
	}
	return kindOf(info).mayWrite()
}

// NumberExists returns the number that the network knows the person by.
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

// AddressedByLID reports whether a group's members know each other by LID, asking once.
func (c *Client) AddressedByLID(ctx context.Context, jid bridge.JID) bool {
	if mode, known := c.modes.Load(jid); known {
		return mode == types.AddressingModeLID
	}
	info, err := c.GetGroupInfo(ctx, convert.WireJID(jid))
	if err != nil {
		return false
	}
	c.modes.Store(jid, info.AddressingMode)
	return info.AddressingMode == types.AddressingModeLID
}

// isStale reports whether the network refused a message for stale recipients: a group has
// changed its addressing, or a device is gone or new. Nobody has the message.
func isStale(err error) bool {
	if !errors.Is(err, whatsmeow.ErrServerReturnedError) {
		return false
	}
	code := session.ServerCode(err)
	return code == codeWrongMode || code == codeStale
}

// refreshRecipients has the next send ask for the chat's members and their devices.
func (c *Client) refreshRecipients(ctx context.Context, to types.JID) error {
	if to.Server == types.GroupServer {
		info, err := c.GetGroupInfo(ctx, to) // whatsmeow keeps it
		if err != nil {
			return fmt.Errorf("ask for the group: %w", err)
		}
		c.NoteGroup(info)
		if err := c.s.o.Store.Save(ctx, convert.GroupFacts(info)...); err != nil {
			return fmt.Errorf("store the group: %w", err)
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
