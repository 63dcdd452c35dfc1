package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
	"bridged/internal/store/people"
	"bridged/internal/store/read"
)

// importTx saves and undoes imports of exported chats.
type importTx struct{ *writeTx }

// ImportRecord is a stored import, with the token tree of its caller.
type ImportRecord struct {
	bridge.Import
	Seq, Tree int64
}

// maxImports limits the listed imports without stored messages.
const maxImports = 1000

// AddImport stores a new import, and returns its number.
func (s *Store) AddImport(ctx context.Context, i ImportRecord) (seq int64, err error) {
	err = s.writeAs(ctx, "store an import", func(t *writeTx) {
		_, found := t.findChat(i.ChatJID)
		seq = t.Insert(`
			INSERT INTO imports (id, chat, made_chat, caller, family, state, started_at, about)
			VALUES (?1, ?2, NOT ?3 OR EXISTS (SELECT 1 FROM imports WHERE chat = ?2 AND made_chat AND state != ?4), ?5, ?6, ?7, ?8, ?9)`,
			i.ID, string(i.ChatJID), found, string(bridge.ImportUndone), t.callerID(i.By), i.Tree, string(i.State), i.StartedAt.UnixMilli(), t.Encode(i.ImportAbout))
		t.Run(`
			DELETE FROM imports WHERE seq IN (
				SELECT seq FROM imports i WHERE state NOT IN (?, ?) AND NOT EXISTS (SELECT 1 FROM import_rows r WHERE r.import = i.seq)
				ORDER BY seq LIMIT (SELECT max(0, count(*) - ?) FROM imports))`, string(bridge.ImportRunning), string(bridge.ImportUndoing), maxImports)
	})
	return seq, err
}

// EndImport stores the final state of an import.
func (s *Store) EndImport(ctx context.Context, seq int64, i bridge.Import) error {
	return s.writeAs(ctx, "store the end of an import", func(t *writeTx) {
		t.Run("UPDATE imports SET state = ?, error = ?, ended_at = ? WHERE seq = ?", string(i.State), i.Error, i.EndedAt.UnixMilli(), seq)
	})
}

// FailImports marks the imports that ran when the process ended as failed, and returns the imports that are being undone.
func (s *Store) FailImports(ctx context.Context, reason string) (undoing []ImportRecord, err error) {
	err = s.writeAs(ctx, "look for unfinished imports", func(t *writeTx) {
		t.Run("UPDATE imports SET state = ?, error = ?, ended_at = ? WHERE state = ?", string(bridge.ImportFailed), reason, t.at, string(bridge.ImportRunning))
		r := t.s.Over(t.Conn)
		undoing = sqlite.Collect(t.Conn, func(row *sqlite.Row) ImportRecord { return scanImport(r, row) }, selectImports+"state = ?", string(bridge.ImportUndoing))
	})
	return undoing, err
}

const selectImports = `
	SELECT seq, id, chat, token, entrance, name, above, family, state, error, started_at, ended_at, imported, duplicates, media, removed, about
	FROM imports JOIN (SELECT id AS caller_id, token, entrance, name, above FROM callers) ON caller_id = caller WHERE `

func scanImport(r *read.Snapshot, row *sqlite.Row) (i ImportRecord) {
	var about, above []byte
	i.By = new(bridge.CalledBy)
	row.Scan(&i.Seq, &i.ID, &i.ChatJID, &i.By.Token, &i.By.Entrance, &i.By.Name, &above, &i.Tree, &i.State, &i.Error, &i.StartedAt, &i.EndedAt, &i.Imported, &i.Duplicates, &i.Media, &i.Removed, &about)
	r.Decode(above, &i.By.Ancestors)
	r.Decode(about, &i.ImportAbout)
	i.ChatJID, i.Doubtful, i.UnknownNames = r.People().Canonical(i.ChatJID), []bridge.AmbiguousLine{}, []string{}
	return i
}

// Import returns an import. The error is [bridge.CodeNotFound] if its id is not stored.
func (s *Store) Import(ctx context.Context, id string) (ImportRecord, error) {
	return read.As(ctx, s.Reader, "read an import", func(r *read.Snapshot) (i ImportRecord) {
		for row := range r.Rows(selectImports+"id = ?", id) {
			return scanImport(r, row)
		}
		r.Fail(bridge.NoImport(id))
		return i
	})
}

// Removable counts the messages that [Store.UndoImport] would remove.
func (s *Store) Removable(ctx context.Context, seq int64) (int, error) {
	return read.As(ctx, s.Reader, "count the messages of an import", func(r *read.Snapshot) (count int) {
		r.Find(`
			SELECT count(*) FROM import_rows r JOIN messages m ON m.seq = r.message AND m.imported AND m.id LIKE ?
			WHERE r.import = ? AND NOT EXISTS (SELECT 1 FROM import_rows o WHERE o.message = r.message AND o.import != r.import)`,
			[]any{bridge.ExportedID("%"), seq}, &count)
		return count
	})
}

// Imports lists imports, the newest first.
func (s *Store) Imports(ctx context.Context, q bridge.ImportQuery) (bridge.Page[bridge.Import], error) {
	return read.As(ctx, s.Reader, "list imports", func(r *read.Snapshot) bridge.Page[bridge.Import] {
		var f sqlite.Filter
		var seq int64
		if r.After(read.ListImports, q.Cursor, &seq) {
			f.Add("seq < ?", seq)
		}
		if q.Chat != "" {
			f.Add("chat IN (SELECT value FROM json_each(?))", r.Encode(formsOf(r, q.Chat)))
		}
		if q.Only != nil {
			f.Add("chat IN (SELECT value FROM json_each(?))", r.Encode(formsOf(r, q.Only...)))
		}
		return sqlite.Page(r.Conn, read.ListImports, sqlite.LimitOf(q.Limit), selectImports+f.Where()+" ORDER BY seq DESC"+sqlite.Limited, append(f.Args, sqlite.LimitOf(q.Limit)+1), func(row *sqlite.Row) (bridge.Import, []any) {
			i := scanImport(r, row)
			return i.Import, []any{i.Seq}
		})
	})
}

// formsOf returns the JIDs that chats may be stored under.
func formsOf(r *read.Snapshot, chats ...bridge.JID) []bridge.JID {
	forms := []bridge.JID{}
	for _, jid := range chats {
		forms = append(forms, jid, r.People().Canonical(jid), r.People().LIDOf(jid))
	}
	return forms
}

// countImported adds a saved batch to the numbers of an import.
func (t importTx) countImported(run *ExportRun, messages []*ExportedMessage) {
	added, files := 0, 0
	for _, m := range messages {
		if m.Seq == 0 {
			added++
		}
		if m.TakesFile {
			files++
		}
	}
	t.Run("UPDATE imports SET imported = imported + ?, duplicates = duplicates + ?, media = media + ? WHERE seq = ?",
		added, len(messages)-added, files, run.Import)
}

// account records that an import has stored a message or its file. before describes the stored message without the file;
// it is nil for a new message.
func (t importTx) account(run *ExportRun, m *ExportedMessage, seq int64, before *fileBefore) {
	name, _ := t.People.Find(m.Placeholder)
	var packed any
	if before != nil {
		packed = t.Encode(before)
	}
	t.Run("INSERT INTO import_rows (message, import, name, has_file, before) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", seq, run.Import, name.ID, m.SHA256 != nil, packed)
}

// accountAlso records that an import contains a message that other imports have stored. If the export has no file for it, it
// also records how the message would be stored without one.
func (t importTx) accountAlso(run *ExportRun, m *ExportedMessage) {
	name, _ := t.People.Find(m.Placeholder)
	var without any
	if m.SHA256 == nil && m.MessageType != bridge.TypeText {
		without = t.Encode(fileBefore{Type: m.MessageType, Text: &m.Content, Whole: true})
	}
	t.Run(`
		INSERT INTO import_rows (message, import, name, has_file, before)
		SELECT ?1, ?2, ?3, EXISTS (SELECT 1 FROM kept_files WHERE message = ?1 AND sha256 = ?4), ?5
		WHERE EXISTS (SELECT 1 FROM import_rows WHERE message = ?1) ON CONFLICT DO NOTHING`, m.Seq, run.Import, name.ID, m.SHA256, without)
}

// SaveImportPeople stores the known senders of an export, and the names of placeholders by their JIDs.
func (s *Store) SaveImportPeople(ctx context.Context, run *ExportRun, senders []bridge.JID, placeholders map[bridge.JID]string) error {
	return s.writeAs(ctx, "store the people of an exported chat", func(t *writeTx) {
		for _, jid := range append(slices.Clone(senders), run.Chat) {
			if jid.IsPerson() && !jid.IsImport() {
				importTx{t}.addImported(run, jid)
			}
		}
		for jid, name := range placeholders {
			t.SavePushName(importTx{t}.addImported(run, jid), name)
		}
	})
}

// addImported returns the person with a JID, and records the import if only imports have added them.
func (t importTx) addImported(run *ExportRun, jid bridge.JID) people.Person {
	_, known := t.People.Find(jid)
	p := t.EnsurePerson(jid)
	t.Run(`
		INSERT INTO import_people (person, import) SELECT ?1, ?2
		WHERE ?3 OR EXISTS (SELECT 1 FROM import_people WHERE person = ?1) ON CONFLICT DO NOTHING`, p.ID, run.Import, !known)
	return p
}

// maxTexts limits the texts that [Store.TextsBetween] reads.
const maxTexts = 50_000

// TextsBetween reads the newest 50,000 texts of a chat between two times, the newest first.
func (s *Store) TextsBetween(ctx context.Context, chat bridge.JID, from, to time.Time, each func(text string, at time.Time)) error {
	return s.Read(ctx, func(r *read.Snapshot) {
		for row := range r.Rows("SELECT content, timestamp FROM messages WHERE chat = ? AND timestamp >= ? AND timestamp < ? ORDER BY timestamp DESC LIMIT ?",
			chatID(r, chat), from.UnixMilli(), to.UnixMilli(), maxTexts) {
			var text string
			var at bridge.Time
			row.Scan(&text, &at)
			each(text, at.Time)
		}
	})
}

// NamesWithColons returns the people whose names or push names have colons, by these names.
func (s *Store) NamesWithColons() map[string][]bridge.JID {
	names := make(map[string][]bridge.JID)
	for p := range s.people.All() {
		for _, name := range []string{p.Name, p.PushName} {
			if strings.Contains(name, ":") {
				names[name] = append(names[name], p.JID())
			}
		}
	}
	return names
}
