package session

import (
	"context"
	"encoding/json"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// Moved reports that a person has a new number or LID.
type Moved bridge.IdentityChange

// readLIDChange parses the update as WAWebMexLidChangeNotification.parseLidChangeNotification
// does.
func readLIDChange(data json.RawMessage) any {
	var body struct {
		Change struct{ Old, New string } `json:"xwa2_notify_lid_change"`
	}
	if json.Unmarshal(data, &body) != nil {
		return nil
	}
	e := Moved{OldLID: convert.ParseJID(body.Change.Old), NewLID: convert.ParseJID(body.Change.New)}
	if !e.OldLID.IsLID() || !e.NewLID.IsLID() {
		return nil
	}
	return e
}

// readContacts parses a person's new number (WAWebHandleContactNotification). Other contents of
// such a notification change no identity.
func readContacts(node *waBinary.Node) any {
	modify, found := node.GetOptionalChildByTag("modify")
	if !found {
		return nil
	}
	jid := func(name string) bridge.JID {
		jid, _ := modify.Attrs[name].(types.JID)
		return convert.JID(jid)
	}
	e := Moved{OldPN: jid("old"), NewPN: jid("new"), OldLID: jid("old_lid"), NewLID: jid("new_lid")}
	if e.OldPN.Server() != bridge.ServerUser || e.NewPN.Server() != bridge.ServerUser {
		return nil
	}
	return e
}

// Follow makes whatsmeow send to a person's new number and LID. A LID that belongs to another
// number stays with that number, unless the network says that the number has changed.
func (c *Client) Follow(ctx context.Context, e Moved) error {
	number := e.NewPN
	if number == "" && e.OldLID.IsLID() && e.NewLID.IsLID() {
		pn, err := c.NumberOf(ctx, convert.WireJID(e.OldLID))
		if err != nil {
			return err
		}
		holder, err := c.NumberOf(ctx, convert.WireJID(e.NewLID))
		if err != nil || pn.IsEmpty() || !holder.IsEmpty() && holder.User != pn.User {
			return err
		}
		number = convert.JID(pn)
	}
	if number.Server() != bridge.ServerUser || !e.NewLID.IsLID() {
		return nil // asked for when it is needed
	}
	return c.PutIdentities(ctx, []bridge.Identity{{PN: number, LID: e.NewLID}})
}
