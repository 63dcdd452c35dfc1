package people

import "bridged/internal/simnet/wire"

// AlsoDialled enters other spellings of an account's number.
func (n *Directory) AlsoDialled(a *Account, spellings []string) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	for _, spelling := range spellings {
		n.dialled[wire.Digits(spelling)] = a
	}
}

// LookUp returns the account that is reached by dialling a number, nil if there is none, and counts the query of a companion. The
// caller holds mu.
func (n *Directory) LookUp(asking *Device, number string) *Account {
	if asking.Number != 0 {
		n.lookUps[number]++
	}
	if a := n.ByNumber[number]; a != nil && !a.Numberless {
		return a
	}
	return n.dialled[number]
}

// LookUps returns how often companions have asked whether a number is on the network. Asking about many is what accounts are
// banned for.
func (n *Directory) LookUps(number string) int {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	return n.lookUps[wire.Digits(number)]
}
