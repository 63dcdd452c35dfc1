package session

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/wa/convert"
)

// ForgetStaleDevices has whatsmeow ask for the devices of LIDs again where the network has
// said that those of their numbers have changed. whatsmeow keeps the devices of a number
// and of a LID apart, and heeds a change of the LID's, to which all messages go, only in
// some cases: the first message after a device was linked would not reach it.
func (c *Client) ForgetStaleDevices(ctx context.Context) {
	c.stale.Range(func(number, _ any) bool {
		c.stale.Delete(number)
		lid, err := c.LIDOf(ctx, number.(types.JID))
		switch {
		case err != nil:
			c.stale.Store(number, true)
		case !lid.IsEmpty():
			c.ForgetDevices(ctx, lid.ToNonAD())
		}
		return true
	})
}

// ForgetDevices empties whatsmeow's list of a person's devices, as a change of an unknown
// kind does, so that it asks for them again.
func (c *Client) ForgetDevices(ctx context.Context, person types.JID) {
	c.dangerous().HandleDeviceNotification(ctx, &waBinary.Node{
		Tag: "notification", Attrs: waBinary.Attrs{"from": person, "type": "devices"}, Content: []waBinary.Node{{Tag: "update", Attrs: waBinary.Attrs{"device_hash": ""}}},
	})
}

// DevicesHash returns the hash by which whatsmeow and the network compare lists of
// devices (send.go, participantListHashV2).
func DevicesHash(devices []types.JID) string {
	names := make([]string, len(devices))
	for i, device := range devices {
		names[i] = device.ADString()
	}
	slices.Sort(names)
	sum := sha256.Sum256([]byte(strings.Join(names, "")))
	return "2:" + base64.RawStdEncoding.EncodeToString(sum[:6])
}

// DevicesOf returns the devices that a message to a chat goes to, and this one.
// It returns none where whatsmeow has to find out who the recipient is.
func (c *Client) DevicesOf(ctx context.Context, to types.JID) ([]types.JID, error) {
	people, err := c.PeopleOf(ctx, to)
	if err != nil || len(people) == 0 {
		return nil, err
	}
	devices, err := c.GetUserDevices(ctx, people)
	if err != nil {
		return nil, fmt.Errorf("ask for the recipients' devices: %w", err)
	}
	if to.Server == types.GroupServer {
		devices = slices.DeleteFunc(devices, func(d types.JID) bool {
			return d.Server == types.HostedServer || d.Server == types.HostedLIDServer
		})
	}
	return devices, nil
}

// PeopleOf returns who gets a message to a chat, the account itself among them.
func (c *Client) PeopleOf(ctx context.Context, to types.JID) ([]types.JID, error) {
	if to.Server == types.GroupServer {
		return c.groupMembers(ctx, to)
	}
	lid := to
	if to.Server == types.DefaultUserServer {
		var err error
		if lid, err = c.stores.LIDs.GetLIDForPN(ctx, to); err != nil {
			return nil, err
		}
	}
	_, own := c.observer.Own()
	if lid.Server != types.HiddenUserServer || own == "" {
		return nil, nil
	}
	if self := convert.WireJID(own); self != lid {
		return []types.JID{lid, self}, nil
	}
	return []types.JID{lid}, nil
}
