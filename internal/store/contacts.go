package store

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/store/db"
)

// Contacts lists people by name; those without a name come last.
func (s *Store) Contacts(ctx context.Context, q bridge.ContactQuery) (bridge.Page[bridge.KnownContact], error) {
	return readAs(ctx, s, "list contacts", func(r *readTx) bridge.Page[bridge.KnownContact] {
		query, args, err := contactsQuery(q)
		r.Fail(err)
		return pageOf(r, limitOf(q.Limit), query, args, func(row *db.Row) (bridge.KnownContact, func() string) {
			contact, at := scanContact(row)
			return contact, at.cursor
		})
	})
}

// Contact returns one person, by any of their JIDs: [bridge.CodeNotFound] for
// a person who is not stored.
func (s *Store) Contact(ctx context.Context, jid bridge.JID) (bridge.KnownContact, error) {
	return readAs(ctx, s, "read a contact", func(r *readTx) (contact bridge.KnownContact) {
		for row := range r.Rows(contactQuery, jid) {
			contact, _ = scanContact(row)
			return contact
		}
		r.Fail(bridge.NoContact(jid))
		return contact
	})
}

// selectContacts reads what lists show of a person.
const selectContacts = `SELECT p.id, ifnull(p.pn, ''), ifnull(p.lid, ''), p.name, p.push_name, p.business_name, nullif(p.username, ''), p.nameless, p.sort_key,
	ifnull((SELECT c.jid FROM chats c WHERE c.person = p.id), '') FROM people p WHERE `

// contactQuery finds a person by number, or by a present or former LID.
const contactQuery = selectContacts + `p.id = ifnull((SELECT person FROM identities WHERE lid = ?1), (SELECT id FROM people WHERE pn = ?1))`

// onlyPeople are the people whom a list of JIDs names, in either form.
const onlyPeople = `p.id IN (
	SELECT q.id FROM json_each(?) wanted CROSS JOIN people q ON q.pn = wanted.value
	UNION ALL SELECT i.person FROM json_each(?) wanted CROSS JOIN identities i ON i.lid = wanted.value)`

// contactsQuery asks for one more than the page, which shows whether there is
// another one.
func contactsQuery(q bridge.ContactQuery) (string, []any, error) {
	var f db.Filter
	if q.Only != nil {
		only, err := json.Marshal(q.Only)
		if err != nil {
			return "", nil, err
		}
		f.Add(onlyPeople, string(only), string(only))
	}
	if q.Cursor != "" {
		after, err := parseContactPosition(q.Cursor)
		if err != nil {
			return "", nil, err
		}
		f.Add("(p.nameless, p.sort_key, p.id) > (?, ?, ?)", after.nameless, after.sortKey, after.id)
	}
	if needle := fold(strings.TrimSpace(q.Q)); needle != "" {
		if number := bridge.PhoneDigits(q.Q); number != "" {
			f.Add("(instr(p.folded_names, ?) > 0 OR instr(p.pn, ?) > 0)", needle, number)
		} else {
			f.Add("instr(p.folded_names, ?) > 0", needle)
		}
	}
	return selectContacts + f.Where() + " ORDER BY p.nameless, p.sort_key, p.id" + db.Limited, append(f.Args, limitOf(q.Limit)+1), nil
}

// scanContact reads a row of selectContacts.
func scanContact(row *db.Row) (c bridge.KnownContact, at contactPosition) {
	var pn bridge.JID
	row.Scan(&at.id, &pn, &c.LID, &c.Name, &c.PushName, &c.BusinessName, &c.Username, &at.nameless, &at.sortKey, &c.ChatJID)
	c.JID, c.IsSaved = person{pn: pn, lid: c.LID}.jid(), c.Name != ""
	if pn.Server() == bridge.ServerUser {
		number := pn.User()
		c.Phone = &number
	}
	return c, at
}

// contactPosition is where a person stands in the list of contacts: those
// without a name last, then by name or JID.
type contactPosition struct {
	nameless bool
	sortKey  string
	id       int64
}

func (p contactPosition) cursor() string {
	list := "p"
	if p.nameless {
		list = "q"
	}
	return packCursor(list, strconv.FormatInt(p.id, 36), p.sortKey)
}

func parseContactPosition(cursor string) (contactPosition, error) {
	parts, err := unpackCursor(cursor, "p")
	nameless := err != nil
	if nameless {
		parts, err = unpackCursor(cursor, "q")
	}
	if err != nil {
		return contactPosition{}, err
	}
	id, err := strconv.ParseInt(parts[0], 36, 64)
	if err != nil {
		return contactPosition{}, badCursor()
	}
	return contactPosition{nameless, parts[1], id}, nil
}
