package simnet

import (
	"fmt"
	"strconv"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/util/keys"

	"bridged/internal/simnet/wire"
)

// CrowdOptions describes a crowd.
type CrowdOptions struct {
	// FirstNumber is the phone number of the first person, in international digits; the others have the numbers behind it.
	FirstNumber string
	// People is how many there are, Devices how many devices each of them has, the phone included; 0 is one.
	People, Devices int
}

// Crowd is people whose devices are known to the network and switched off, without the cost of a client each: the members of large
// groups. Messages for them wait at the server.
type Crowd struct {
	net      *Server
	accounts []*account
}

// crowdPreKeys is how many one-time keys each device of a crowd has at the server.
const crowdPreKeys = 3

// NewCrowd registers a crowd.
func (n *Server) NewCrowd(opts CrowdOptions) (*Crowd, error) {
	first, err := strconv.ParseUint(wire.Digits(opts.FirstNumber), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("the first number of a crowd: %w", err)
	}
	c := &Crowd{net: n, accounts: make([]*account, opts.People)}
	for i := range c.accounts {
		if c.accounts[i], err = n.newAccount(strconv.FormatUint(first+uint64(i), 10)); err != nil {
			return nil, err
		}
		for number := range max(1, opts.Devices) {
			c.accounts[i].addSilent(uint16(number))
		}
	}
	return c, nil
}

// addSilent enters a device that is never switched on at the server, with its keys.
func (a *account) addSilent(number uint16) {
	identity := keys.NewKeyPair()
	stock := make([]*keys.PreKey, crowdPreKeys)
	for i := range stock {
		stock[i] = keys.NewPreKey(uint32(i + 1))
	}
	d := a.newDevice(number, *keys.NewKeyPair().Pub, *identity.Pub, 4713, identity.CreateSignedPreKey(1), stock)
	a.net.mu.Lock()
	defer a.net.mu.Unlock()
	a.devices[number] = d
	a.nextDevice = max(a.nextDevice, number+1)
}

// Devices returns the devices of all the people in the crowd.
func (c *Crowd) Devices() []*Device {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	var out []*Device
	for _, a := range c.accounts {
		out = append(out, a.sorted()...)
	}
	return out
}

// PNs returns the numbers of the people in the crowd.
func (c *Crowd) PNs() []types.JID {
	out := make([]types.JID, len(c.accounts))
	for i, a := range c.accounts {
		out[i] = a.PN()
	}
	return out
}
