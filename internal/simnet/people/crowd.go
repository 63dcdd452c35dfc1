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
	// FirstNumber is the first person's phone number in international digits; the others have the numbers after it.
	FirstNumber string
	// People is the number of people, Devices the number of devices of each, the phone included; 0 means one.
	People, Devices int
}

// Crowd is a set of people whose devices the network knows but which are switched off, so that they cost no client: the members of large
// groups. Messages for them wait at the server.
type Crowd struct {
	net      *Directory
	Accounts []*Account
}

// crowdPreKeys counts the one-time keys of each device of a crowd.
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

// addSilent adds a device that is never switched on, with its keys.
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

// Devices returns the devices of all people in the crowd.
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
