package chatimport

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/chatexport"
	"bridged/internal/chatimport/match"
	"bridged/internal/intake"
	"bridged/internal/store"
)

const (
	// batch and batchBytes limit the messages of one transaction, because received messages wait until it ends. A batch
	// divides no minute, unless it reaches mostBatch or mostBatchBytes.
	batch          = 200
	mostBatch      = 2000
	batchBytes     = 1 << 20
	mostBatchBytes = 4 << 20
	// maxNames bounds the senders of an export.
	maxNames = 4096
)

// prepare reads the whole export and stores nothing.
func (j *job) prepare(ctx context.Context) (err error) {
	export := j.r.Export
	if j.archive, err = chatexport.Open(source{j.ctx, export}, export.Size(), j.i.o.Limits); err != nil {
		return err
	}
	isName, err := j.colonNames(ctx)
	if err != nil {
		return err
	}
	zone, zoneFrom := j.zone()
	if err := j.archive.DetectFormat(chatexport.Options{Zone: zone, Now: j.i.o.Now(), Order: j.r.Order, IsName: isName}); err != nil {
		return datesError(err)
	}
	var notes chatexport.Notes
	var names []string
	seen, files := make(map[string]bool), make(map[string]bool)
	for m, err := range j.archive.Messages(&notes) {
		if err != nil {
			return err
		}
		if !seen[m.Sender] {
			if len(names) == maxNames {
				return bridge.Invalid("the export has messages by more than %d people", maxNames)
			}
			seen[m.Sender], names = true, append(names, m.Sender)
		}
		if m.File != "" && j.archive.Has(m.File) {
			files[m.File] = true
		}
		if j.state.Total++; j.first.IsZero() || m.At.Before(j.first) {
			j.first = m.At
		}
		if m.At.After(j.last) {
			j.last = m.At
		}
	}
	if err := j.archive.CheckInner(func(name string) bool { return files[name] }); err != nil {
		return err
	}
	j.state.System, j.state.Doubtful = notes.System, bridge.NotNil(notes.Warnings)
	if j.setZone(zone, zoneFrom); zoneFrom == "" {
		if err := j.findZone(ctx); err != nil {
			return err
		}
	}
	if err := j.resolve(ctx, names); err != nil {
		return err
	}
	return j.hash(ctx, files)
}

// hash hashes all files. It reads them to their end, which shows that they are complete.
func (j *job) hash(ctx context.Context, files map[string]bool) error {
	j.sums = make(map[string][]byte, len(files))
	for name := range files {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		sum := sha256.New()
		if err := j.read(name, func(r io.Reader) error { _, err := io.Copy(sum, r); return err }); err != nil {
			return err
		}
		j.sums[name] = sum.Sum(nil)
	}
	return nil
}

func (j *job) read(name string, do func(io.Reader) error) error {
	file, _, err := j.archive.File(name)
	if err != nil {
		return err
	}
	return errors.Join(do(file), file.Close())
}

// importAll stores the messages that are not stored.
func (j *job) importAll(ctx context.Context) error {
	run, err := j.i.o.Store.BeginExport(ctx, j.state.ChatJID, j.tree, j.first, j.last)
	if err != nil {
		return err
	}
	run.Import = j.seq
	m := &matcher{store: j.i.o.Store, run: run, known: j.known(), now: j.i.o.Now, matched: make(map[int64]bool)}
	if !j.r.DryRun {
		if err := j.storePeople(ctx, m); err != nil {
			return err
		}
	}
	done := j.i.o.Files.Adding()
	defer done()
	gathered, size := make([]chatexport.Message, 0, batch), 0
	for message, err := range j.archive.Messages(new(chatexport.Notes)) {
		if err != nil {
			return err
		}
		if n := len(gathered); n >= mostBatch || size >= mostBatchBytes || (n >= batch || size >= batchBytes) && !message.At.Truncate(time.Minute).Equal(gathered[n-1].At.Truncate(time.Minute)) {
			if err := j.store(ctx, m, gathered); err != nil {
				return err
			}
			clear(gathered) // or it would retain the texts
			gathered, size = gathered[:0], 0
		}
		gathered = append(gathered, message)
		size += len(message.Text) + len(message.Sender) + len(message.File) + len(message.Name)
	}
	return j.store(ctx, m, gathered)
}

// known returns the identified senders of the export.
func (j *job) known() (people []bridge.JID) {
	for _, from := range j.senders {
		if from.known {
			people = append(people, from.jid)
		}
	}
	return people
}

// storePeople stores the chat and the senders. It attributes messages that are stored under placeholders to the people who are
// identified now.
func (j *job) storePeople(ctx context.Context, m *matcher) error {
	s, chat := j.i.o.Store, j.state.ChatJID
	if chat.IsImport() {
		if err := s.AddImportedChat(ctx, chat, j.name, len(j.senders)); err != nil {
			return err
		}
	}
	placeholders := make(map[bridge.JID]string)
	for name, from := range j.senders {
		placeholders[from.placeholder] = name // also of identified people: it distinguishes names that differ in case
	}
	if err := s.SaveImportPeople(ctx, m.run, m.known, placeholders); err != nil {
		return err
	}
	for _, from := range j.senders {
		if !from.known {
			continue
		}
		if err := m.attribute(ctx, from); err != nil {
			return err
		}
	}
	return nil
}

// store stores the messages of a batch that are not stored, with their files.
func (j *job) store(ctx context.Context, m *matcher, gathered []chatexport.Message) error {
	compared, messages := make([]*match.Message, len(gathered)), make([]*store.ExportedMessage, len(gathered))
	for n := range gathered {
		compared[n] = j.exported(gathered[n])
		messages[n] = compared[n].ExportedMessage
	}
	err := m.match(ctx, compared)
	if err == nil && !j.r.DryRun {
		if err = j.admit(m.run, messages, gathered); err == nil {
			err = j.save(ctx, m.run, compared, messages, gathered)
		}
	}
	if err != nil {
		return err
	}
	j.change(func(state *bridge.Import) {
		for _, message := range messages {
			if message.Seq == 0 {
				state.Imported++
			} else {
				state.Duplicates++
			}
			if message.TakesFile {
				state.Media++
			}
		}
	})
	if state := j.now(); j.announced.grow(state.Imported+state.Duplicates, state.Total) {
		j.i.announce(state)
	}
	return nil
}

// save stores a batch: first the files, which must be on the disk when messages refer to them.
func (j *job) save(ctx context.Context, run *store.ExportRun, compared []*match.Message, messages []*store.ExportedMessage, gathered []chatexport.Message) error {
	var files [][]byte
	for n, message := range compared {
		if !message.TakesFile {
			continue
		}
		if err := j.unpack(ctx, message, gathered[n]); err != nil {
			return err
		}
		files = append(files, message.SHA256)
	}
	if files != nil {
		if err := j.i.o.Files.Sync(); err != nil {
			return err
		}
	}
	if err := j.i.o.Store.SaveExported(ctx, run, messages); err != nil {
		return err
	}
	for _, sum := range files {
		if err := j.i.o.Files.Settle(sum); err != nil {
			return err
		}
	}
	return nil
}

// admit returns an error if a batch exceeds the quota of the token tree or the reserve of the disk.
func (j *job) admit(run *store.ExportRun, messages []*store.ExportedMessage, gathered []chatexport.Message) error {
	var size int64
	for n, m := range messages {
		if m.Seq == 0 {
			size += m.Bytes()
		}
		if m.TakesFile {
			size += j.archive.Size(gathered[n].File)
		}
	}
	if quota := j.i.o.Quota; quota > 0 && run.Tree != intake.Operator && run.Used+size > quota {
		return bridge.Fail(bridge.CodePayloadTooLarge, "the imports of this token, and of the tokens that it created, may store %d MB, which IMPORT_QUOTA sets, and have stored %d MB: import the rest with BRIDGE_TOKEN, or raise IMPORT_QUOTA", quota>>20, run.Used>>20)
	}
	return j.i.o.Reserve.Check(size)
}

// unpack adds the file of a message to the imported files.
func (j *job) unpack(ctx context.Context, m *match.Message, of chatexport.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return j.read(of.File, func(r io.Reader) error {
		file, err := j.i.o.Files.Add(j.i.o.Reserve.Reader(r), of.Name, of.Type, of.PTT)
		if err != nil {
			return err
		}
		m.MessageType, m.Media = string(file.Type)+"Message", file
		if file.Type == bridge.MediaImage || file.Type == bridge.MediaVideo || file.Type == bridge.MediaDocument {
			m.Media.Caption = m.Content
		}
		if file.Type != bridge.MediaDocument {
			m.Media.FileName = ""
		}
		m.ReplacesText = m.Found != nil && match.NamesFile(m.Found.Text, m.Media.FileName, m.Content)
		return nil
	})
}

// exported returns the form of a message for comparing and storing, without its file.
func (j *job) exported(m chatexport.Message) *match.Message {
	by := j.senders[m.Sender]
	e := &match.Message{Previous: by.previous, FileName: m.Name, ExportedMessage: &store.ExportedMessage{
		// Within the limits of stored messages, because it is compared with them.
		Message: bridge.Bounded(bridge.Message{
			Chat: j.state.ChatJID, SenderJID: by.jid, FromMe: by.isMe, Timestamp: bridge.At(m.At), MessageType: bridge.TypeText, Content: m.Text,
		}).(bridge.Message),
		Placeholder: by.placeholder,
	}}
	e.Caption = e.Content
	if by.isMe {
		e.Status = new(bridge.DeliverySent)
	}
	if m.Edited {
		e.EditedAt = &e.Timestamp
	}
	switch m.Kind {
	case chatexport.Attached:
		e.MessageType, e.SHA256 = string(m.Type)+"Message", j.sums[m.File]
		if e.SHA256 == nil && m.Type == bridge.MediaDocument && e.Content == "" {
			e.Content = m.Name // no other field of a message without a file has it
		}
	case chatexport.Omitted:
		e.MessageType = bridge.TypeOmitted
		if m.Type != "" {
			e.MessageType = string(m.Type) + "Message"
		}
		if e.Content == "" {
			e.Content = m.Name // as above
		}
	case chatexport.Deleted:
		e.DeletedAt, e.Content = &e.Timestamp, ""
	case chatexport.ViewOnce:
		e.MessageType, e.ViewOnce = bridge.TypeViewOnce, true
	case chatexport.Location:
		e.MessageType, e.Location = "locationMessage", m.Place
		if e.Content == "" {
			e.Content = strings.TrimPrefix(m.Place.URL, "https://maps.google.com/?q=")
		}
	case chatexport.Text:
	}
	return e
}
