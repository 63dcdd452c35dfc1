package people

import (
	"cmp"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
)

// SaveIdentityChange gives a person the number or the LID that the network has announced. Their chat
// gets it, too. The former number and LID still lead to the chat until another person gets them.
func (t *Tx) SaveIdentityChange(f bridge.IdentityChange) {
	if f.OldPN == "" {
		if p, known := t.People.Find(f.OldLID); known && p.LID == f.OldLID {
			f.OldPN = p.PN
		}
	}
	switch {
	case isNumber(f.OldPN) && isNumber(f.NewPN) && f.OldPN != f.NewPN:
		t.changeNumber(f)
	case f.NewPN == "" && t.hasAnotherNumber(f.NewLID, f.OldPN): // the histories stay separate
	case isNumber(cmp.Or(f.NewPN, f.OldPN)):
		t.SaveIdentity(bridge.Identity{PN: cmp.Or(f.NewPN, f.OldPN), LID: f.NewLID})
	case f.OldLID.IsLID() && f.NewLID.IsLID():
		t.changeLID(f.OldLID, f.NewLID)
	}
}

func isNumber(jid bridge.JID) bool { return jid.Server() == bridge.ServerUser }

// hasAnotherNumber reports whether a LID belongs to a number that is not pn.
func (t *Tx) hasAnotherNumber(lid, pn bridge.JID) bool {
	holder, known := t.People.Find(lid)
	return known && pn != "" && holder.PN != "" && holder.PN != pn
}

// changeLID gives a person whose number is not known another LID.
func (t *Tx) changeLID(old, now bridge.JID) {
	p, known := t.People.Find(old)
	holder, taken := t.People.Find(now)
	switch {
	case !known || taken && holder.ID == p.ID || p.PN != "":
	case p.LID != old: // a later one is known
		if !taken {
			t.assignLID(now, p.ID)
		}
	case taken && holder.PN != "":
		t.mergePeople(p, &holder)
	default:
		t.SenderRenamed(old, now)
		t.giveLID(p, holder, now)
	}
}

// changeNumber gives a person another number. Another person may have had it before.
func (t *Tx) changeNumber(f bridge.IdentityChange) {
	defer t.SaveIdentity(bridge.Identity{PN: f.NewPN, LID: f.NewLID})
	t.Run("DELETE FROM number_checks WHERE phone IN (?, ?)", f.OldPN.User(), f.NewPN.User()) // the answers may have changed
	p, known := t.People.Find(f.OldPN)
	if !known || p.PN != f.OldPN || p.ID == t.People.OwnerID() { // p has had another number since
		return
	}
	q, taken := t.People.Find(f.NewPN)
	if taken && q.PN != f.NewPN { // it was theirs before
		t.forgetNumber(f.NewPN)
		taken = false
	}
	switch {
	case !taken:
	case q.ID == t.People.OwnerID():
		return
	case q.LID != "" && (q.LID == f.NewLID || q.LID == f.OldLID), q.LID == "" && !t.hasWritten(q):
		t.mergePeople(p, &q)
		t.assignLID(f.OldPN, q.ID)
		return
	case q.LID == "":
		return // whose messages these are is not known: the histories stay separate
	default: // who had the number before goes on under the LID alone
		t.SenderRenamed(q.PN, q.LID)
		q.PN = ""
		t.saveNumbersOf(q)
	}
	t.SenderRenamed(p.PN, f.NewPN)
	t.assignLID(p.PN, p.ID)
	p.PN = f.NewPN
	t.People.name(p.PN, p.ID)
	t.saveNumbersOf(p)
}

// hasWritten reports whether a message by a person, or in their chat, is stored.
func (t *Tx) hasWritten(p Person) (has bool) {
	t.Find(`
		SELECT EXISTS (SELECT 1 FROM chats WHERE person = ?1 AND message_count > 0)
		OR EXISTS (SELECT 1 FROM chats c CROSS JOIN messages m INDEXED BY messages_by_sender ON m.chat = c.id AND m.sender = ?1)`, []any{p.ID}, &has)
	return has
}

// forgetNumber ends that a former number leads to a person.
func (t *Tx) forgetNumber(pn bridge.JID) {
	t.People.change(func() { delete(t.People.byJID, pn) })
	t.Run("DELETE FROM identities WHERE lid = ?", string(pn))
}

// mergePeople makes from, who was known by a LID alone, one with into.
func (t *Tx) mergePeople(from Person, into *Person) {
	t.Merging(from.ID, into.ID)
	t.People.merge(from.ID, into.ID)
	for _, lid := range sqlite.List[bridge.JID](t.Conn, "SELECT lid FROM identities WHERE person = ?", from.ID) {
		t.assignLID(lid, into.ID)
	}
	t.Run("DELETE FROM people WHERE id = ?", from.ID)
	into.Name = cmp.Or(into.Name, from.Name)
	into.PushName = cmp.Or(into.PushName, from.PushName)
	into.BusinessName = cmp.Or(into.BusinessName, from.BusinessName)
	into.Username = cmp.Or(from.Username, into.Username) // a new LID comes with its username
	t.SaveNames(*into)
	t.Merged(*into)
}
