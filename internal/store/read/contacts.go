package read

import (
	"context"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/folding"
	"bridged/internal/sqlite"
	"bridged/internal/store/people"
)

// Contacts lists people by name. People without a name come last.
func (s *Reader) Contacts(ctx context.Context, q bridge.ContactQuery) (bridge.Page[bridge.KnownContact], error) {
	return As(ctx, s, "list contacts", func(r *Snapshot) bridge.Page[bridge.KnownContact] {
		query, args := r.ContactsQuery(q)
		return sqlite.Page(r.Conn, ListContacts, sqlite.LimitOf(q.Limit), query, args, scanContact)
	})
}

// Contact returns the person with any JID: [bridge.CodeNotFound] if there is no such person.
func (s *Reader) Contact(ctx context.Context, jid bridge.JID) (bridge.KnownContact, error) {
	return As(ctx, s, "read a contact", func(r *Snapshot) (contact bridge.KnownContact) {
		for row := range r.Rows(ContactQuery, jid) {
			contact, _ = scanContact(row)
			return contact
		}
		r.Fail(bridge.NoContact(jid))
		return contact
	})
}

// selectContacts reads people for lists.
const selectContacts = `SELECT p.id, ifnull(p.pn, ''), ifnull(p.lid, ''), p.name, p.push_name, p.business_name, nullif(p.username, ''), p.blocked, p.nameless, p.sort_key,
	ifnull((SELECT c.jid FROM chats c WHERE c.person = p.id AND NOT c.hidden), '') FROM people p WHERE `

// isReachable leaves out people who are only a name in an exported chat.
const isReachable = "ifnull(p.pn, '') NOT LIKE '%@" + bridge.ServerImport + "'"

// ContactQuery finds a person by number, or by a present or former LID.
const ContactQuery = selectContacts + `p.id = ifnull((SELECT person FROM identities WHERE lid = ?1), (SELECT id FROM people WHERE pn = ?1))`

// onlyPeople selects the people with the JIDs of a list.
const onlyPeople = `p.id IN (
	SELECT q.id FROM json_each(?) wanted CROSS JOIN people q ON q.pn = wanted.value
	UNION ALL SELECT i.person FROM json_each(?) wanted CROSS JOIN identities i ON i.lid = wanted.value)`

func (r *Snapshot) ContactsQuery(q bridge.ContactQuery) (string, []any) {
	var f sqlite.Filter
	f.Add(isReachable)
	for _, people := range [][]bridge.JID{q.Only, q.Among} {
		if people != nil {
			named := r.Encode(people)
			f.Add(onlyPeople, named, named)
		}
	}
	if q.Saved != nil {
		f.Add("(p.name != '') = ?", *q.Saved)
	}
	if q.Blocked != nil {
		f.Add("p.blocked = ?", *q.Blocked)
	}
	var nameless bool
	var sortKey string
	var id int64
	if r.After(ListContacts, q.Cursor, &nameless, &sortKey, &id) {
		f.Add("(p.nameless, p.sort_key, p.id) > (?, ?, ?)", nameless, sortKey, id)
	}
	if needle := folding.FoldStripped(strings.TrimSpace(q.Q)); needle != "" {
		if number := bridge.PhoneDigits(q.Q); number != "" {
			f.Add("(instr(p.folded_names, ?) > 0 OR instr(p.pn, ?) > 0)", needle, number)
		} else {
			f.Add("instr(p.folded_names, ?) > 0", needle)
		}
	}
	return selectContacts + f.Where() + " ORDER BY p.nameless, p.sort_key, p.id" + sqlite.Limited, append(f.Args, sqlite.LimitOf(q.Limit)+1)
}

// scanContact reads a row of selectContacts, and the contact's position in the list.
func scanContact(row *sqlite.Row) (c bridge.KnownContact, place []any) {
	var pn bridge.JID
	var nameless bool
	var sortKey string
	var id int64
	row.Scan(&id, &pn, &c.LID, &c.Name, &c.PushName, &c.BusinessName, &c.Username, &c.IsBlocked, &nameless, &sortKey, &c.ChatJID)
	c.JID, c.IsSaved = people.Person{PN: pn, LID: c.LID}.JID(), c.Name != ""
	if pn.Server() == bridge.ServerUser {
		c.Phone = new(pn.User())
	}
	return c, []any{nameless, sortKey, id}
}
