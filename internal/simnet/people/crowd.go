package people

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
	net      *Directory
	Accounts []*Account
}

// crowdPreKeys is how many one-time keys each device of a crowd has at the server.
const crowdPreKeys = 3

// NewCrowd registers a crowd.
func (n *Directory) NewCrowd(opts CrowdOptions) (*Crowd, error) {
	first, err := strconv.ParseUint(wire.Digits(opts.FirstNumber), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("the first number of a crowd: %w", err)
	}
	c := &Crowd{net: n, Accounts: make([]*Account, opts.People)}
	for i := range c.Accounts {
		if c.Accounts[i], err = n.NewAccount(strconv.FormatUint(first+uint64(i), 10)); err != nil {
			return nil, err
		}
		for number := range max(1, opts.Devices) {
			c.Accounts[i].addSilent(uint16(number))
		}
	}
	return c, nil
}

// addSilent enters a device that is never switched on at the server, with its keys.
func (a *Account) addSilent(number uint16) {
	identity := keys.NewKeyPair()
	stock := make([]*keys.PreKey, crowdPreKeys)
	for i := range stock {
		stock[i] = keys.NewPreKey(uint32(i + 1))
	}
	d := a.NewDevice(number, *keys.NewKeyPair().Pub, *identity.Pub, 4713, identity.CreateSignedPreKey(1), stock)
	a.net.Mu.Lock()
	defer a.net.Mu.Unlock()
	a.Devices[number] = d
	a.nextDevice = max(a.nextDevice, number+1)
}

// Devices returns the devices of all the people in the crowd.
func (c *Crowd) Devices() []*Device {
	c.net.Mu.Lock()
	defer c.net.Mu.Unlock()
	var out []*Device
	for _, a := range c.Accounts {
		out = append(out, a.Sorted()...)
	}
	return out
}

// PNs returns the numbers of the people in the crowd.
func (c *Crowd) PNs() []types.JID {
	out := make([]types.JID, len(c.Accounts))
	for i, a := range c.Accounts {
		out[i] = a.PN()
	}
	return out
}
