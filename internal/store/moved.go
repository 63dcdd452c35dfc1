package store

import (
	"cmp"

	"bridged/internal/bridge"
)

// saveIdentityChange gives a person the number or the LID that the network has announced.
// Their chat follows, and the former number and LID lead to it until the network gives them
// to somebody else.
func (t *writeTx) saveIdentityChange(f bridge.IdentityChange) {
	if f.OldPN == "" {
		if p, known := t.people.find(f.OldLID); known && p.lid == f.OldLID {
			f.OldPN = p.pn
		}
	}
	switch {
	case isNumber(f.OldPN) && isNumber(f.NewPN) && f.OldPN != f.NewPN:
		t.changeNumber(f)
	case f.NewPN == "" && t.hasAnotherNumber(f.NewLID, f.OldPN): // the histories stay separate
	case isNumber(cmp.Or(f.NewPN, f.OldPN)):
		t.saveIdentity(bridge.Identity{PN: cmp.Or(f.NewPN, f.OldPN), LID: f.NewLID})
	case f.OldLID.IsLID() && f.NewLID.IsLID():
		t.changeLID(f.OldLID, f.NewLID)
	}
}

func isNumber(jid bridge.JID) bool { return jid.Server() == bridge.ServerUser }

// hasAnotherNumber reports whether a LID belongs to a number that is not pn.
func (t *writeTx) hasAnotherNumber(lid, pn bridge.JID) bool {
	holder, known := t.people.find(lid)
	return known && pn != "" && holder.pn != "" && holder.pn != pn
}

// changeLID gives a person whose number is not known another LID.
func (t *writeTx) changeLID(old, now bridge.JID) {
	p, known := t.people.find(old)
	holder, taken := t.people.find(now)
	switch {
	case !known || taken && holder.id == p.id || p.pn != "":
	case p.lid != old: // a later one is known
		if !taken {
			t.assignLID(now, p.id)
		}
	case taken && holder.pn != "":
		t.mergePeople(p, &holder)
	default:
		t.movePending("sender", string(old), string(now))
		t.giveLID(p, holder, now)
	}
}

// changeNumber gives a person another number, which may have been somebody else's before.
func (t *writeTx) changeNumber(f bridge.IdentityChange) {
	defer t.saveIdentity(bridge.Identity{PN: f.NewPN, LID: f.NewLID})
	t.Run("DELETE FROM number_checks WHERE phone IN (?, ?)", f.OldPN.User(), f.NewPN.User()) // the answers may have changed
	p, known := t.people.find(f.OldPN)
	if !known || p.pn != f.OldPN || p.id == t.people.ownerID() { // p has had another number since
		return
	}
	q, taken := t.people.find(f.NewPN)
	if taken && q.pn != f.NewPN { // it was theirs before
		t.forgetNumber(f.NewPN)
		taken = false
	}
	switch {
	case !taken:
	case q.id == t.people.ownerID():
		return
	case q.lid != "" && (q.lid == f.NewLID || q.lid == f.OldLID), q.lid == "" && !t.hasWritten(q):
		t.mergePeople(p, &q)
		t.assignLID(f.OldPN, q.id)
		return
	case q.lid == "":
		return // whose messages these are is not known: the histories stay separate
	default: // who had the number before goes on under the LID alone
		t.movePending("sender", string(q.pn), string(q.lid))
		q.pn = ""
		t.saveNumbersOf(q)
	}
	t.movePending("sender", string(p.pn), string(f.NewPN))
	t.assignLID(p.pn, p.id)
	p.pn = f.NewPN
	t.people.name(p.pn, p.id)
	t.saveNumbersOf(p)
}

// hasWritten reports whether a message by a person, or in their chat, is stored.
func (t *writeTx) hasWritten(p person) (has bool) {
	t.Find(`
		SELECT EXISTS (SELECT 1 FROM chats WHERE person = ?1 AND message_count > 0)
		OR EXISTS (SELECT 1 FROM chats c CROSS JOIN messages m INDEXED BY messages_by_sender ON m.chat = c.id AND m.sender = ?1)`, []any{p.id}, &has)
	return has
}

// forgetNumber ends that a former number leads to a person.
func (t *writeTx) forgetNumber(pn bridge.JID) {
	t.people.change(func() { delete(t.people.byJID, pn) })
	t.Run("DELETE FROM identities WHERE lid = ?", string(pn))
}

// moveMember gives a member's place in a group to the person that they are now, and reports
// whether that makes a difference.
func (t *writeTx) moveMember(chat int64, m bridge.MovedMember) bool {
	old, known := t.people.find(m.From)
	now, named := t.ensureParticipant(m.To)
	if !known || !named || old.id == now.id {
		return false
	}
	moved := t.Change(`
		INSERT INTO members (chat, person, display_name, is_admin, is_super_admin, label, label_at)
		SELECT chat, ?3, display_name, is_admin, is_super_admin, label, label_at FROM members WHERE chat = ?1 AND person = ?2
		ON CONFLICT (chat, person) DO UPDATE SET
			is_admin = max(is_admin, excluded.is_admin), is_super_admin = max(is_super_admin, excluded.is_super_admin)`, chat, old.id, now.id)
	return t.Change("DELETE FROM members WHERE chat = ? AND person = ?", chat, old.id) > 0 && moved > 0
}
