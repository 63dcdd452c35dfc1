package people

import (
	"go.mau.fi/whatsmeow/types"

	"bridged/internal/simnet/wire"
)

// Move describes how a person gets a new account.
type Move struct {
	// Number is the new number; empty for the old one, registered once more.
	Number string
	// KeepLID leaves the hidden identity to the new account. Without it, messages to the old identity are acknowledged and go nowhere.
	KeepLID bool
	// Quiet sends no notification of the move: others learn of it by the acknowledgement of a message, or when they ask.
	Quiet bool
	// WithLIDs adds the LIDs to the announcement of a new number.
	WithLIDs bool
}

// Replace registers the account that follows another one. The old account's devices stay, but nothing reaches them any more.
func (n *Directory) Replace(old *Account, m Move) (*Account, error) {
	number := wire.Digits(m.Number)
	n.Mu.Lock()
	if number == "" || number == old.PhoneNumber {
		number = old.PhoneNumber
	}
	if n.ByNumber[old.PhoneNumber] == old {
		delete(n.ByNumber, old.PhoneNumber)
	}
	old.Gone = true
	n.Mu.Unlock()
	a, err := n.NewAccount(number)
	if err != nil {
		return nil, err
	}
	n.Mu.Lock()
	defer n.Mu.Unlock()
	if m.KeepLID {
		delete(n.byLID, a.lidUser)
		a.lidUser = old.lidUser
		n.byLID[a.lidUser] = a
	}
	return a, nil
}

// Unregister deletes an account: its number has none any more, and messages to its LID go nowhere.
func (n *Directory) Unregister(a *Account) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	delete(n.ByNumber, a.PhoneNumber)
	a.Gone = true
}

// AnnounceMove notifies all other accounts of a new number, or else of a new LID. The caller holds Mu.
func (n *Directory) AnnounceMove(old, now *Account, m Move) {
	for _, other := range n.ByNumber {
		if other == now {
			continue
		}
		for _, d := range other.Sorted() {
			switch {
			case old.PhoneNumber != now.PhoneNumber:
				n.Push(d, n.newNumberNode(old, now, m))
			case old.lidUser != now.lidUser:
				n.Push(d, n.mexNode("LidChangeNotification", "xwa2_notify_lid_change", map[string]any{"old": old.LID().String(), "new": now.LID().String()}))
			}
		}
	}
}

func (n *Directory) newNumberNode(old, now *Account, m Move) Node {
	modify := Node{Tag: "modify", Attrs: attrs{"old": old.PN(), "new": now.PN()}}
	if m.WithLIDs {
		modify.Attrs["old_lid"], modify.Attrs["new_lid"] = old.LID(), now.LID()
	}
	return Node{Tag: "notification", Attrs: attrs{
		"from": types.ServerJID, "type": "contacts", "id": n.NextID(), "t": wire.UnixNow(),
	}, Content: []Node{modify}}
}
