package store

import (
	"context"
	"strings"
	"unicode/utf8"
)

// maxSortName bounds what contacts are sorted by, in characters: it stands in
// cursors.
const maxSortName = 64

// sortName returns what a person is sorted by; empty where they have no name.
func (p person) sortName() string {
	name := strings.TrimSpace(fold(p.displayName()))
	for i := range name {
		if utf8.RuneCountInString(name[:i]) == maxSortName {
			return name[:i]
		}
	}
	return name
}

// foldedNames returns all names of a person as they are searched: a username with
// the @ that people write before it.
func (p person) foldedNames() string {
	names := []string{fold(p.name), fold(p.push), fold(p.business)}
	if p.username != "" {
		names = append(names, "@"+fold(p.username))
	}
	return strings.TrimSpace(strings.Join(names, "\n"))
}

// foldedChat returns what the chat with a person is found by beside its JID: its
// name, the LID where that is not its JID, and the username.
func (p person) foldedChat() string {
	folded := fold(chatName(p))
	if p.pn != "" && p.lid != "" {
		folded += "\n" + string(p.lid)
	}
	if p.username != "" {
		folded += "\n@" + fold(p.username)
	}
	return folded
}

func (t *writeTx) saveNames(ctx context.Context, p person) error {
	t.people.set(p)
	err := t.run(ctx, "UPDATE people SET name = ?, push_name = ?, business_name = ?, username = ?, sort_name = ?, folded_names = ? WHERE id = ?",
		p.name, p.push, p.business, p.username, p.sortName(), p.foldedNames(), p.id)
	if err != nil {
		return err
	}
	return t.updatePrivateChat(ctx, p)
}

// foldNames folds the names that an earlier version stored.
func (s *Store) foldNames(ctx context.Context) error {
	const batch = 1000
	for {
		ids, err := s.unfolded(ctx, batch)
		if err != nil || len(ids) == 0 {
			return err
		}
		err = s.write(ctx, func(ctx context.Context, t *writeTx) error {
			for _, id := range ids {
				p := s.people.get(id)
				if err := t.run(ctx, "UPDATE people SET sort_name = ?, folded_names = ? WHERE id = ?", p.sortName(), p.foldedNames(), id); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
}

// unfolded returns some people whose names were not folded.
func (s *Store) unfolded(ctx context.Context, most int) (ids []int64, err error) {
	err = s.read(ctx, func(r *readTx) error {
		return r.each(ctx, "SELECT id FROM people WHERE folded_names IS NULL"+limited, []any{most}, func(rows *resultSet) error {
			var id int64
			err := rows.Scan(&id)
			ids = append(ids, id)
			return err
		})
	})
	return ids, err
}
