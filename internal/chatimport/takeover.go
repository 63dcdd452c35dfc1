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
	// batch and batchBytes limit the messages of one transaction, for which what comes over the
	// connection waits. A minute is not divided, up to mostBatch and mostBatchBytes.
	batch          = 200
	mostBatch      = 2000
	batchBytes     = 1 << 20
	mostBatchBytes = 4 << 20
	// maxNames bounds the senders of an export.
	maxNames = 4096
)

// prepare reads the whole export, without storing anything.
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
	if err := j.archive.Survey(chatexport.Options{Zone: zone, Now: j.i.o.Now(), Order: j.r.Order, IsName: isName}); err != nil {
		return datesFault(err)
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
	j.state.System, j.state.Doubtful = notes.System, notNull(notes.Doubts)
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

func notNull[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// hash reads all files to their end, which shows that they are whole.
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

// takeOver stores what is not stored.
func (j *job) takeOver(ctx context.Context) error {
	run, err := j.i.o.Store.BeginExport(ctx, j.state.ChatJID, j.family, j.known(), j.first, j.last)
	if err != nil {
		return err
	}
	if run.Import = j.seq; !j.r.DryRun {
		if err := j.storePeople(ctx, run); err != nil {
			return err
		}
	}
	done := j.i.o.Kept.Adding()
	defer done()
	gathered, size := make([]chatexport.Message, 0, batch), 0
	for m, err := range j.archive.Messages(new(chatexport.Notes)) {
		if err != nil {
			return err
		}
		if n := len(gathered); n >= mostBatch || size >= mostBatchBytes || (n >= batch || size >= batchBytes) && !m.At.Truncate(time.Minute).Equal(gathered[n-1].At.Truncate(time.Minute)) {
			if err := j.store(ctx, run, gathered); err != nil {
				return err
			}
			clear(gathered) // or it would retain the texts
			gathered, size = gathered[:0], 0
		}
		gathered = append(gathered, m)
		size += len(m.Text) + len(m.Sender) + len(m.File) + len(m.Name)
	}
	return j.store(ctx, run, gathered)
}

// known returns the people who are senders of the export.
func (j *job) known() (people []bridge.JID) {
	for _, is := range j.senders {
		if is.known {
			people = append(people, is.jid)
		}
	}
	return people
}

// storePeople stores the chat and the names in it, and attributes what is stored under a name to the person whose name it
// has turned out to be.
func (j *job) storePeople(ctx context.Context, run *store.ExportRun) error {
	s, chat := j.i.o.Store, j.state.ChatJID
	if chat.IsImport() {
		if err := s.AddImportedChat(ctx, chat, j.name, len(j.senders)); err != nil {
			return err
		}
	}
	nobodies := make(store.NobodyNames)
	for name, is := range j.senders {
		nobodies[is.nobody] = name // also of people who are known: it says which of two names in another case they are
	}
	if err := s.SaveImportPeople(ctx, run, nobodies); err != nil {
		return err
	}
	for _, is := range j.senders {
		if !is.known {
			continue
		}
		if err := s.Attribute(ctx, run, is.nobody, is.jid, is.isMe); err != nil {
			return err
		}
	}
	return nil
}

// store stores those of some messages that are not stored, with their files.
func (j *job) store(ctx context.Context, run *store.ExportRun, gathered []chatexport.Message) error {
	messages := make([]bridge.ExportedMessage, len(gathered))
	for n, m := range gathered {
		messages[n] = j.exported(m)
	}
	results, err := j.i.o.Store.MatchExport(ctx, run, messages)
	if err == nil && !j.r.DryRun {
		err = j.admit(run, messages, results, gathered)
	}
	if err != nil {
		return err
	}
	files := 0
	for n := range messages {
		if !results[n].TakesFile {
			continue
		}
		files++
		if j.r.DryRun {
			continue
		}
		if err := j.keep(ctx, &messages[n], gathered[n]); err != nil {
			return err
		}
	}
	if !j.r.DryRun {
		if files > 0 {
			err = j.i.o.Kept.Sync()
		}
		if err == nil {
			err = j.i.o.Store.SaveExported(ctx, run, messages, results)
		}
		for n := range messages {
			if err == nil && results[n].TakesFile {
				err = j.i.o.Kept.Settle(messages[n].SHA256)
			}
		}
		if err != nil {
			return err
		}
	}
	added := 0
	for _, result := range results {
		if result.Seq == 0 {
			added++
		}
	}
	j.change(func(state *bridge.Import) {
		state.Imported += added
		state.Duplicates += len(results) - added
		state.Media += files
	})
	return nil
}

// admit refuses what would exceed the quota of the token tree, or the reserve of the disk.
func (j *job) admit(run *store.ExportRun, messages []bridge.ExportedMessage, results []match.Result, gathered []chatexport.Message) error {
	var size int64
	for n, m := range messages {
		if results[n].Seq == 0 {
			size += store.ExportedBytes(m)
		}
		if results[n].TakesFile {
			size += j.archive.Size(gathered[n].File)
		}
	}
	if quota := j.i.o.Quota; quota > 0 && run.Family != intake.Operator && run.Used+size > quota {
		return bridge.Fail(bridge.CodePayloadTooLarge, "the imports of this token, and of the tokens that it created, may store %d MB, which IMPORT_QUOTA sets, and have stored %d MB: import the rest with BRIDGE_TOKEN, or raise IMPORT_QUOTA", quota>>20, run.Used>>20)
	}
	return j.i.o.Reserve.Check(size)
}

// keep unpacks the file of a message to where it stays.
func (j *job) keep(ctx context.Context, m *bridge.ExportedMessage, of chatexport.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return j.read(of.File, func(r io.Reader) error {
		file, err := j.i.o.Kept.Add(j.i.o.Reserve.Reader(r), of.Name, of.Type, of.PTT)
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
		return nil
	})
}

// exported returns a message as it is stored, without its file.
func (j *job) exported(m chatexport.Message) bridge.ExportedMessage {
	by := j.senders[m.Sender]
	e := bridge.ExportedMessage{
		// Within the limits of what is stored, with which it is compared.
		Message: bridge.Bounded(bridge.Message{
			Chat: j.state.ChatJID, SenderJID: by.jid, FromMe: by.isMe, Timestamp: bridge.At(m.At), MessageType: bridge.TypeText, Content: m.Text,
		}).(bridge.Message),
		Nobody: by.nobody, Formerly: by.formerly, FileName: m.Name,
	}
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
			e.Content = m.Name // which would be lost otherwise
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
