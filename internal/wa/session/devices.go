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

// ForgetStaleDevices makes whatsmeow ask again for the devices of LIDs whose numbers have changed
// devices. whatsmeow stores the devices of a number and of a LID separately, and all messages go
// to the LID, but it only follows some changes of the LID's devices: the first message after a
// device was linked would not reach that device.
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

// ForgetDevices clears whatsmeow's list of a person's devices, so that it asks for them again.
// whatsmeow does the same for an unknown kind of change.
func (c *Client) ForgetDevices(ctx context.Context, person types.JID) {
	c.dangerous().HandleDeviceNotification(ctx, &waBinary.Node{
		Tag: "notification", Attrs: waBinary.Attrs{"from": person, "type": "devices"}, Content: []waBinary.Node{{Tag: "update", Attrs: waBinary.Attrs{"device_hash": ""}}},
	})
}

// DevicesHash returns the hash with which whatsmeow and the network compare lists of devices
// (send.go, participantListHashV2).
func DevicesHash(devices []types.JID) string {
	names := make([]string, len(devices))
	for i, device := range devices {
		names[i] = device.ADString()
	}
	slices.Sort(names)
	sum := sha256.Sum256([]byte(strings.Join(names, "")))
	return "2:" + base64.RawStdEncoding.EncodeToString(sum[:6])
}

// DevicesOf returns the devices that receive a message to a chat, and this device. It returns
// none if whatsmeow must first find out who the recipient is.
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

// PeopleOf returns the recipients of a message to a chat, including the account itself.
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
