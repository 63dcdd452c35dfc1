package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"bridged/internal/bridge"
)

// Contacts lists people by name; those without a name come last.
func (s *Store) Contacts(ctx context.Context, q bridge.ContactQuery) (bridge.Page[bridge.KnownContact], error) {
	page := bridge.Page[bridge.KnownContact]{Items: []bridge.KnownContact{}}
	query, args, limit, err := contactsQuery(q)
	if err != nil {
		return page, err
	}
	err = s.read(ctx, func(r *readTx) error {
		var last contactRowRead
		return r.each(ctx, query, args, func(rows *resultSet) (err error) {
			if len(page.Items) == limit {
				cursor := last.cursor()
				page.NextCursor = &cursor
				return nil
			}
			last, err = scanContact(rows)
			page.Items = append(page.Items, last.KnownContact)
			return err
		})
	})
	if err != nil {
		return bridge.Page[bridge.KnownContact]{}, fmt.Errorf("list contacts: %w", err)
	}
	return page, nil
}

// Contact returns one person, by any of their JIDs: [bridge.CodeNotFound] for
// somebody who is not stored.
func (s *Store) Contact(ctx context.Context, jid bridge.JID) (bridge.KnownContact, error) {
	var found []bridge.KnownContact
	err := s.read(ctx, func(r *readTx) error {
		return r.each(ctx, contactQuery, []any{string(jid)}, func(rows *resultSet) error {
			c, err := scanContact(rows)
			found = append(found, c.KnownContact)
			return err
		})
	})
	switch {
	case err != nil:
		return bridge.KnownContact{}, fmt.Errorf("read a contact: %w", err)
	case len(found) == 0:
		return bridge.KnownContact{}, bridge.NoContact(jid)
	}
	return found[0], nil
}

// contactQuery finds a person by number, or by a present or former LID.
const contactQuery = "SELECT " + contactColumns + ` FROM people p
	WHERE p.id = ifnull((SELECT person FROM identities WHERE lid = ?1), (SELECT id FROM people WHERE pn = ?1))`

// contactColumns are what lists show of a person.
const contactColumns = `p.id, ifnull(p.pn, ''), ifnull(p.lid, ''), p.name, p.push_name, p.business_name, p.username, p.nameless, p.sort_key,
	ifnull((SELECT c.jid FROM chats c WHERE c.person = p.id), '')`

// onlyPeople are the people whom a list of JIDs names, in either form.
const onlyPeople = `p.id IN (
	SELECT q.id FROM json_each(?) wanted CROSS JOIN people q ON q.pn = wanted.value
	UNION ALL SELECT i.person FROM json_each(?) wanted CROSS JOIN identities i ON i.lid = wanted.value)`

// contactsQuery asks for one more than the page, which shows whether there is
// another one.
func contactsQuery(q bridge.ContactQuery) (query string, args []any, limit int, err error) {
	where := []string{"1"}
	if q.Only != nil {
		only, err := json.Marshal(q.Only)
		if err != nil {
			return "", nil, 0, err
		}
		where, args = append(where, onlyPeople), append(args, string(only), string(only))
	}
	if q.Cursor != "" {
		after, err := parseContactPosition(q.Cursor)
		if err != nil {
			return "", nil, 0, err
		}
		where = append(where, "(p.nameless, p.sort_key, p.id) > (?, ?, ?)")
		args = append(args, after.nameless, after.sortKey, after.id)
	}
	if !blank(q.Q) {
		condition := "instr(p.folded_names, ?) > 0"
		args = append(args, fold(strings.TrimSpace(q.Q)))
		if number := bridge.PhoneDigits(q.Q); number != "" {
			condition += " OR instr(p.pn, ?) > 0"
			args = append(args, number)
		}
		where = append(where, "("+condition+")")
	}
	limit = limitOf(q.Limit)
	query = "SELECT " + contactColumns + " FROM people p WHERE " + strings.Join(where, " AND ") +
		" ORDER BY p.nameless, p.sort_key, p.id" + limited
	return query, append(args, limit+1), limit, nil
}

// contactRowRead is what contactColumns say of a person.
type contactRowRead struct {
	bridge.KnownContact
	contactPosition
}

func scanContact(rows *resultSet) (contactRowRead, error) {
	var c contactRowRead
	var pn bridge.JID
	var username string
	err := rows.Scan(&c.id, &pn, &c.LID, &c.Name, &c.PushName, &c.BusinessName, &username, &c.nameless, &c.sortKey, &c.ChatJID)
	c.JID, c.IsSaved = person{pn: pn, lid: c.LID}.jid(), c.Name != ""
	if username != "" {
		c.Username = &username
	}
	if pn.Server() == bridge.ServerUser {
		number := pn.User()
		c.Phone = &number
	}
	return c, err
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
