package store

import (
	"context"

	"bridged/internal/bridge"
)

// ensurePerson finds whoever jid names, or makes them known.
func (t *writeTx) ensurePerson(ctx context.Context, jid bridge.JID) (person, error) {
	if p, ok := t.people.find(jid); ok {
		return p, nil
	}
	if jid.IsLID() {
		return t.addPerson(ctx, "", jid)
	}
	return t.addPerson(ctx, jid, "")
}

func (t *writeTx) addPerson(ctx context.Context, pn, lid bridge.JID) (person, error) {
	id, err := t.insert(ctx, "INSERT INTO people (pn, lid) VALUES (nullif(?, ''), nullif(?, ''))", string(pn), string(lid))
	if err != nil {
		return person{}, err
	}
	p := person{id: id, pn: pn, lid: lid}
	t.people.set(p)
	if pn != "" {
		t.people.point(pn, id)
	}
	if lid != "" {
		err = t.assignLID(ctx, lid, id)
	}
	return p, err
}

// assignLID says that a LID means a person from now on.
func (t *writeTx) assignLID(ctx context.Context, lid bridge.JID, id int64) error {
	t.people.point(lid, id)
	return t.run(ctx, `
		INSERT INTO identities (lid, person) VALUES (?, ?)
		ON CONFLICT (lid) DO UPDATE SET person = excluded.person`, string(lid), id)
}

// saveNumbersOf writes the identities of p.
func (t *writeTx) saveNumbersOf(ctx context.Context, p person) error {
	t.people.set(p)
	return t.run(ctx, "UPDATE people SET pn = nullif(?, ''), lid = nullif(?, '') WHERE id = ?",
		string(p.pn), string(p.lid), p.id)
}

// saveIdentity learns that a phone number and a LID are one person.
//
// A person who was known by the LID alone becomes the one with the number:
// their chats become one. Where the LID belonged to another number, it moves:
// a phone number names a person for good, so nothing that was said under the
// old number is ever attributed to the new one. A number that gets a new LID
// stays the person it was, and its old LID goes on meaning that person.
func (t *writeTx) saveIdentity(ctx context.Context, f bridge.Identity) error {
	if f.PN.Kind() != bridge.KindIndividual || !f.LID.IsLID() {
		return nil
	}
	owner, hasPN := t.people.find(f.PN)
	holder, hasLID := t.people.find(f.LID)
	switch {
	case hasPN && hasLID && owner.id == holder.id && owner.lid == f.LID:
		return nil
	case !hasPN && !hasLID:
		_, err := t.addPerson(ctx, f.PN, f.LID)
		return err
	case !hasPN && holder.pn == "":
		return t.nameByPhone(ctx, holder, f.PN)
	case !hasPN:
		var err error
		if owner, err = t.addPerson(ctx, f.PN, ""); err != nil {
			return err
		}
	}
	return t.giveLID(ctx, owner, holder, f.LID)
}

// nameByPhone gives a person known by a LID alone their phone number.
func (t *writeTx) nameByPhone(ctx context.Context, p person, pn bridge.JID) error {
	if err := t.renamePending(ctx, p.lid, pn); err != nil {
		return err
	}
	p.pn = pn
	t.people.point(pn, p.id)
	if err := t.saveNumbersOf(ctx, p); err != nil {
		return err
	}
	return t.updatePrivateChat(ctx, p)
}

// giveLID makes lid the LID of p. The present holder, if there is one, loses
// it, or becomes p where the LID is all that was known of them.
func (t *writeTx) giveLID(ctx context.Context, p, holder person, lid bridge.JID) error {
	if holder.id != 0 && holder.id != p.id {
		if err := t.takeLID(ctx, &p, holder, lid); err != nil {
			return err
		}
	}
	p.lid = lid
	if err := t.saveNumbersOf(ctx, p); err != nil {
		return err
	}
	if err := t.assignLID(ctx, lid, p.id); err != nil {
		return err
	}
	return t.updatePrivateChat(ctx, p)
}

func (t *writeTx) takeLID(ctx context.Context, p *person, holder person, lid bridge.JID) error {
	if holder.pn == "" {
		return t.mergePeople(ctx, holder, p)
	}
	if holder.lid != lid {
		return nil // one of its former LIDs
	}
	holder.lid = ""
	if err := t.saveNumbersOf(ctx, holder); err != nil {
		return err
	}
	return t.updatePrivateChat(ctx, holder)
}

// saveContact learns a person's names.
func (t *writeTx) saveContact(ctx context.Context, f bridge.Contact) error {
	if !f.JID.IsPerson() {
		return nil
	}
	p, err := t.ensurePerson(ctx, f.JID)
	if err != nil {
		return err
	}
	before := p
	set(&p.name, f.Name)
	set(&p.push, f.PushName)
	set(&p.business, f.BusinessName)
	set(&p.username, f.Username)
	if p == before {
		return nil
	}
	if p.username != before.username {
		if err := t.takeUsername(ctx, p); err != nil {
			return err
		}
	}
	return t.saveNames(ctx, p)
}

// takeUsername takes the username of p from those who had it before: it is one
// person's at a time.
func (t *writeTx) takeUsername(ctx context.Context, p person) error {
	if p.username == "" {
		return nil
	}
	former, err := t.ids(ctx, "SELECT id FROM people WHERE username = ? AND username != '' AND id != ?", p.username, p.id)
	if err != nil {
		return err
	}
	for _, id := range former {
		holder, known := t.people.get(id)
		if !known {
			continue
		}
		holder.username = ""
		if err := t.saveNames(ctx, holder); err != nil {
			return err
		}
	}
	return nil
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// savePushName learns a name that came with a message.
func (t *writeTx) savePushName(ctx context.Context, p person, name string) error {
	if name == "" || name == p.push {
		return nil
	}
	p.push = name
	return t.saveNames(ctx, p)
}
