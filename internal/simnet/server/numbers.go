package server

import "bridged/internal/simnet/wire"

// AlsoDialled enters other spellings of an account's number.
func (n *Server) AlsoDialled(a *Account, spellings []string) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	for _, spelling := range spellings {
		n.dialled[wire.Digits(spelling)] = a
	}
}

// lookUp returns the account that is reached by dialling a number, nil if there is none, and counts the query of a companion. The
// caller holds mu.
func (n *Server) lookUp(asking *Device, number string) *Account {
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
func (n *Server) LookUps(number string) int {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	return n.lookUps[wire.Digits(number)]
}

// RefuseNumbers sets the error with which a pairing code is refused for a number that is no account's, by default 404. What the real
// server answers is not known here; 400 and 404 are reported.
func (n *Server) RefuseNumbers(code int, text string) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	n.noAccount = wire.Refuse(code, text)
}
