package store

import (
	"context"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/chatimport/match"
	"bridged/internal/sqlite"
	"bridged/internal/store/settings"
)

// NobodyNames has the names of people in an exported chat of whom nothing else is known, by
// the JIDs that these names have.
type NobodyNames map[bridge.JID]string

// settingNamed, with the user of a name's JID behind it, has the person whose name it is, and
// settingFormerly those whose name it was said to be before.
const (
	settingNamed    = "store.import.name."
	settingFormerly = "store.import.formerly."
)

// Learned says whose a name in an exported chat is known to be.
type Learned struct {
	Person   bridge.JID
	Formerly []bridge.JID // whose it was said to be before, wrongly
}

// NamesLearned returns the people whose names in exported chats were known once, by the JIDs of
// these names.
func (s *Store) NamesLearned(ctx context.Context, nobodies []bridge.JID) (map[bridge.JID]Learned, error) {
	return readAs(ctx, s, "read who names are", func(r *readTx) map[bridge.JID]Learned {
		names := make(map[bridge.JID]Learned)
		for _, nobody := range nobodies {
			if is := learned(r.Conn, nobody); is.Person != "" {
				names[nobody] = is
			}
		}
		return names
	})
}

func learned(c *sqlite.Conn, nobody bridge.JID) Learned {
	is := Learned{Person: bridge.JID(settings.Get(c, settingNamed+nobody.User()))}
	for _, jid := range strings.Fields(settings.Get(c, settingFormerly+nobody.User())) {
		is.Formerly = append(is.Formerly, bridge.JID(jid))
	}
	return is
}

// learn notes whose a name is. Whose it was said to be stays known: messages that are corrected
// by and by stand under them.
func (t *writeTx) learn(nobody, person bridge.JID) {
	was := learned(t.Conn, nobody)
	if was.Person == person {
		return
	}
	settings.Set(t.Conn, settingNamed+nobody.User(), string(person))
	if was.Person == "" {
		return
	}
	var formerly []string
	for _, jid := range append(was.Formerly, was.Person) {
		if jid != person {
			formerly = append(formerly, string(jid))
		}
	}
	settings.Set(t.Conn, settingFormerly+nobody.User(), strings.Join(formerly, " "))
}

const (
	underNameQuery = "SELECT timestamp FROM messages WHERE chat = ? AND sender = ?" + sqlite.Limited
	attributeQuery = "UPDATE messages SET sender = ?, from_me = ?, status = ? WHERE chat = ? AND sender = ? AND timestamp >= ? AND timestamp < ?"
)

// attributeBatch limits the messages that one transaction gives to somebody. A minute is not
// divided.
const attributeBatch = 1000

// Attribute remembers whose name nobody's is, and gives the messages of a chat that stand under it
// to that person; isMe says that it is the account. Messages that the person's own ones turn out to
// be are removed.
func (s *Store) Attribute(ctx context.Context, run *ExportRun, nobody, person bridge.JID, isMe bool) error {
	err := s.writeAs(ctx, "remember a name", func(t *writeTx) {
		t.Run("INSERT INTO import_names (name, import, person) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", string(nobody), run.Import, string(person))
		t.learn(nobody, person)
	})
	if err != nil {
		return err
	}
	for more := true; more; {
		if err := s.writeAs(ctx, "attribute imported messages", func(t *writeTx) { more = t.attribute(run.Chat, nobody, person, isMe) }); err != nil {
			return err
		}
	}
	return nil
}

func (t *writeTx) attribute(chat, nobody, person bridge.JID, isMe bool) (more bool) {
	c, found := t.findChat(chat)
	from, known := t.people.find(nobody)
	if !found || !known {
		return false
	}
	to := t.ensurePerson(person)
	minutes := sqlite.List[int64](t.Conn, "SELECT DISTINCT timestamp / 60000 FROM ("+underNameQuery+")", c.id, from.id, attributeBatch)
	for _, minute := range minutes {
		t.removeStoredTwice(c.id, minute, from.id, bridge.Message{SenderJID: person, FromMe: isMe})
		status := statusColumn(bridge.Message{FromMe: isMe, Status: new(bridge.DeliverySent)})
		t.Run(attributeQuery, to.id, isMe, status, c.id, from.id, minute*60_000, (minute+1)*60_000)
	}
	return len(minutes) > 0
}

// removeStoredTwice removes the messages of a minute under a name that the person's own ones are.
func (t *writeTx) removeStoredTwice(chat, minute, nobody int64, by bridge.Message) {
	r, run := &readTx{Conn: t.Conn, s: t.s}, &ExportRun{floor: t.numbers.seq}
	own := match.Minute{Now: t.s.o.Clock.Now()}
	var theirs []*match.Message
	seqs := make(map[*match.Message]int64)
	for _, m := range r.storedIn(chat, minute, run) {
		if m.Sender == nobody {
			is := r.exported(m.AsExported(by), new(match.Result))
			theirs, seqs[is] = append(theirs, is), m.Seq
		} else {
			own.Stored = append(own.Stored, m)
		}
	}
	if err := own.Match(context.Background(), theirs); err != nil { // of a minute, in a transaction that ends by itself
		t.Fail(err)
	}
	t.silently(func() {
		for _, m := range theirs {
			if m.Result.Seq != 0 {
				t.removeMessage(seqs[m])
			}
		}
	})
}

// correct gives a stored message to the sender of the exported one that it is, and removes what
// stands twice.
func (t *writeTx) correct(result match.Result, m bridge.Message) {
	if result.Misnamed {
		t.Run("UPDATE messages SET sender = ?, from_me = ?, status = ? WHERE seq = ?", t.senderOf(m).id, m.FromMe, statusColumn(m), result.Seq)
	}
	if result.Twice != 0 {
		t.removeMessage(result.Twice)
	}
}

// Namesake is somebody whom the account's address book has under a name, perhaps in another case.
type Namesake struct {
	JID  bridge.JID
	Name string
}

// PeopleNamed returns the people whom the account's address book has under names, by name.
func (s *Store) PeopleNamed(names []string) map[string][]Namesake {
	wanted := make(map[string][]string, len(names))
	for _, name := range names {
		wanted[fold(name)] = append(wanted[fold(name)], name)
	}
	found := make(map[string][]Namesake)
	s.people.mu.RLock()
	defer s.people.mu.RUnlock()
	for _, p := range s.people.byID {
		if p.name == "" || p.jid().IsImport() {
			continue
		}
		for _, name := range wanted[fold(p.name)] {
			found[name] = append(found[name], Namesake{p.jid(), p.name})
		}
	}
	return found
}

// PushName returns the name that a person has chosen, empty where it is not known.
func (s *Store) PushName(jid bridge.JID) string {
	p, _ := s.people.find(jid)
	return p.push
}
