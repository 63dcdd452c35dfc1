package session

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"sync"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/wa/convert"
)

// staleDevices are the people whose devices have changed, as the network has said. whatsmeow keeps the devices of a number and of a LID apart, and
// heeds a change of the LID's, to which all messages go, only in some cases: the
// first message after somebody links a device would not reach that device.
type staleDevices struct {
	mu      sync.Mutex
	numbers map[types.JID]bool // guarded by mu
}

// add notes a change of a number's devices.
func (s *staleDevices) add(number types.JID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.numbers == nil {
		s.numbers = make(map[types.JID]bool)
	}
	s.numbers[number.ToNonAD()] = true
}

// take returns whose devices have changed since the last call.
func (s *staleDevices) take() map[types.JID]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.numbers
	s.numbers = nil
	return taken
}

// ForgetStaleDevices has whatsmeow ask for the devices of LIDs again where they
// have changed.
func (c *Client) ForgetStaleDevices(ctx context.Context) {
	for number := range c.stale.take() {
		lid, err := c.stores.lids.GetLIDForPN(ctx, number)
		if err != nil {
			c.stale.add(number)
			continue
		}
		if !lid.IsEmpty() {
			c.ForgetDevices(ctx, lid.ToNonAD())
		}
	}
}

// ForgetDevices empties whatsmeow's list of a person's devices, by number or by
// LID, as a change of an unknown kind does, so that it asks for them again.
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
		if lid, err = c.stores.lids.GetLIDForPN(ctx, to); err != nil {
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
