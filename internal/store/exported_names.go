package store

import (
	"context"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/folding"
	"bridged/internal/sqlite"
	"bridged/internal/store/columns"
	"bridged/internal/store/read"
	"bridged/internal/store/settings"
)

// settingNamed, followed by the user of a placeholder's JID, has the person whose name it is; settingPrevious has the people that
// the name was attributed to before.
const (
	settingNamed    = "store.import.name."
	settingPrevious = "store.import.formerly."
)

// NameOwner is the person who has a name in exported chats, as imports have learned it.
type NameOwner struct {
	Person   bridge.JID
	Previous []bridge.JID // people that the name was attributed to before
}

// NameOwners returns the people whose names in exported chats are known, by the placeholders of the names.
func (s *Store) NameOwners(ctx context.Context, placeholders []bridge.JID) (map[bridge.JID]NameOwner, error) {
	return read.As(ctx, s.Reader, "read the owners of names", func(r *read.Snapshot) map[bridge.JID]NameOwner {
		owners := make(map[bridge.JID]NameOwner)
		for _, placeholder := range placeholders {
			if owner := nameOwner(r.Conn, placeholder); owner.Person != "" {
				owners[placeholder] = owner
			}
		}
		return owners
	})
}

func nameOwner(c *sqlite.Conn, placeholder bridge.JID) NameOwner {
	owner := NameOwner{Person: bridge.JID(settings.Get(c, settingNamed+placeholder.User()))}
	for jid := range strings.FieldsSeq(settings.Get(c, settingPrevious+placeholder.User())) {
		owner.Previous = append(owner.Previous, bridge.JID(jid))
	}
	return owner
}

// LearnName stores that a name in exported chats is a person's, as an import says.
func (s *Store) LearnName(ctx context.Context, run *ExportRun, placeholder, person bridge.JID) error {
	return s.writeAs(ctx, "remember a name", func(t *writeTx) {
		t.Run("INSERT INTO import_names (name, import, person) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", string(placeholder), run.Import, string(person))
		was := nameOwner(t.Conn, placeholder)
		if was.Person == person {
			return
		}
		settings.Set(t.Conn, settingNamed+placeholder.User(), string(person))
		if was.Person == "" {
			return
		}
		var previous []string // retained, as messages may be stored under them until other imports correct them
		for _, jid := range append(was.Previous, was.Person) {
			if jid != person {
				previous = append(previous, string(jid))
			}
		}
		settings.Set(t.Conn, settingPrevious+placeholder.User(), strings.Join(previous, " "))
	})
}

const (
	underNameQuery = "SELECT timestamp FROM messages WHERE chat = ? AND sender = ?" + sqlite.Limited
	attributeQuery = "UPDATE messages SET sender = ?, from_me = ?, status = ? WHERE chat = ? AND sender = ? AND timestamp >= ? AND timestamp < ?"
)

// attributeBatch limits the messages that one transaction attributes to another person. It divides no minute.
const attributeBatch = 1000

// MinutesUnder returns the minutes, counted from 1970, of up to 1,000 messages that are stored under a placeholder.
func (s *Store) MinutesUnder(ctx context.Context, chat, placeholder bridge.JID) ([]int64, error) {
	return read.As(ctx, s.Reader, "read imported messages", func(r *read.Snapshot) []int64 {
		p, known := r.People().Find(placeholder)
		if !known {
			return nil
		}
		return sqlite.List[int64](r.Conn, "SELECT DISTINCT timestamp / 60000 FROM ("+underNameQuery+")", chatID(r, chat), p.ID, attributeBatch)
	})
}

// Attribute attributes the messages that are stored under a placeholder, in some minutes of a chat, to a person. It removes
// the duplicates among them. isMe reports whether the person is the account.
func (s *Store) Attribute(ctx context.Context, chat, placeholder, person bridge.JID, isMe bool, minutes, duplicates []int64) error {
	return s.writeAs(ctx, "attribute imported messages", func(t *writeTx) {
		c, found := t.findChat(chat)
		from, known := t.People.Find(placeholder)
		if !found || !known {
			return
		}
		t.silently(func() {
			for _, seq := range duplicates {
				t.removeMessage(seq)
			}
		})
		to, status := t.EnsurePerson(person), columns.StatusColumn(bridge.Message{FromMe: isMe, Status: new(bridge.DeliverySent)})
		for _, minute := range minutes {
			t.Run(attributeQuery, to.ID, isMe, status, c.id, from.ID, minute*60_000, (minute+1)*60_000)
		}
	})
}

// Namesake is a person whose name in the account's address book differs from a name at most in case.
type Namesake struct {
	JID  bridge.JID
	Name string
}

// PeopleNamed returns the people who have names in the account's address book, by the names.
func (s *Store) PeopleNamed(names []string) map[string][]Namesake {
	wanted := make(map[string][]string, len(names))
	for _, name := range names {
		wanted[folding.Fold(name)] = append(wanted[folding.Fold(name)], name)
	}
	found := make(map[string][]Namesake)
	for p := range s.people.All() {
		if p.Name == "" || p.JID().IsImport() {
			continue
		}
		for _, name := range wanted[folding.Fold(p.Name)] {
			found[name] = append(found[name], Namesake{p.JID(), p.Name})
		}
	}
	return found
}

// PushName returns the name that a person has chosen; empty if it is not known.
func (s *Store) PushName(jid bridge.JID) string {
	p, _ := s.people.Find(jid)
	return p.PushName
}

// SavedName returns the name of a person in the account's address book; empty if it has none.
func (s *Store) SavedName(jid bridge.JID) string {
	p, _ := s.people.Find(jid)
	return p.Name
}
