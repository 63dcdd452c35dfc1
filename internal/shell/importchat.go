package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// ImportChat describes an exported chat to import.
type ImportChat struct {
	File      string
	Chat      string   // a JID, a phone number, or the name of a new chat
	Names     []string // who the names in it are: NAME=JID, NAME=number or NAME=me
	Timezone  string
	DateOrder bridge.DateOrder
	DryRun    bool
}

// importPause is the time between two queries about an import that is running.
const importPause = time.Second

// ImportChat imports an exported chat, waits for the end and prints the result.
func (s *Shell) ImportChat(ctx context.Context, i ImportChat) (err error) {
	export := client.ChatExport{Chat: i.Chat, Timezone: i.Timezone, DateOrder: i.DateOrder, DryRun: i.DryRun, FileName: filepath.Base(i.File)}
	if number, notPhone := bridge.ParsePhone(i.Chat); notPhone == nil && !strings.Contains(i.Chat, "@") {
		export.Chat = string(bridge.PhoneJID(number))
	}
	if export.Names, err = s.names(ctx, i.Names); err != nil {
		return err
	}
	file, err := os.Open(i.File)
	if err != nil {
		return &fileError{err}
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	read := &trackedReader{Reader: file}
	done, err := s.uploadExport(ctx, export, file, read)
	if err != nil && read.err != nil {
		return &fileError{read.err}
	}
	for err == nil && done.State == bridge.ImportRunning {
		if err := s.note("%d of %d messages …", done.Imported+done.Duplicates, done.Total); err != nil {
			return err
		}
		if !bridge.Sleep(ctx, importPause) {
			return ctx.Err()
		}
		done, err = s.API.Import(ctx, done.ID)
	}
	if err != nil {
		return explainDates(err)
	}
	if err := s.printImport(done); err != nil {
		return err
	}
	if done.State != bridge.ImportDone {
		return hinted(fmt.Errorf("%s", *done.Error), "run the command again: messages that are stored already are not stored twice")
	}
	return nil
}

// uploadExport sends an export, and notes its progress until the bridge has read the lines in it.
func (s *Shell) uploadExport(ctx context.Context, export client.ChatExport, file *os.File, read *trackedReader) (bridge.Import, error) {
	info, err := file.Stat()
	if err != nil {
		return bridge.Import{}, &fileError{err}
	}
	ctx, end := context.WithCancel(ctx)
	var notes sync.WaitGroup
	notes.Go(func() { s.noteUpload(ctx, read, info.Size()) })
	defer notes.Wait()
	defer end()
	return s.API.ImportChat(ctx, export, read)
}

// noteUpload notes how much of a file was read, each importPause until ctx ends.
func (s *Shell) noteUpload(ctx context.Context, read *trackedReader, size int64) {
	for seconds := 1; bridge.Sleep(ctx, importPause); seconds++ {
		if count := read.count.Load(); count < size {
			_ = s.note("%d of %d kB uploaded …", count>>10, size>>10) // the next output has the error
		} else {
			_ = s.note("Uploaded; the bridge reads it … (%d s)", seconds)
		}
	}
}

// names parses the values of --name.
func (s *Shell) names(ctx context.Context, given []string) (map[string]bridge.JID, error) {
	names := make(map[string]bridge.JID, len(given))
	for _, one := range given {
		at := strings.LastIndexByte(one, '=')
		if at <= 0 {
			return nil, Usage("--name must be NAME=JID, NAME=number or NAME=me, as in --name 'Sofia=+1 555 123-4567'")
		}
		name, who := strings.TrimSpace(one[:at]), strings.TrimSpace(one[at+1:])
		number, notPhone := bridge.ParsePhone(who)
		switch {
		case who == "me":
			own, err := s.API.OwnToken(ctx)
			if err != nil {
				return nil, err
			}
			if own.Account == nil {
				return nil, Usage("no account is paired: name yourself by your number")
			}
			names[name] = own.Account.JID
		case notPhone == nil:
			names[name] = bridge.PhoneJID(number)
		default:
			jid, err := bridge.ParseJID(who)
			if err != nil {
				return nil, Usage("--name %s: %v", name, err)
			}
			names[name] = jid
		}
	}
	return names, nil
}

// explainDates adds the possible readings of the dates to an error.
func explainDates(err error) error {
	refused, ok := errors.AsType[*client.Error](err)
	if bridge.CodeOf(err) == bridge.CodeAmbiguousTimezone {
		return hinted(err, "set it with --timezone, as in --timezone Europe/Berlin")
	}
	if !ok || refused.Dates == nil {
		return err
	}
	hint := "choose the order with --date-order:"
	for _, example := range refused.Dates.Examples {
		for _, order := range refused.Dates.Orders {
			hint += fmt.Sprintf("\n  %s is %s with --date-order %s", Printable(example.Text), example.Reads[order], order)
		}
	}
	return hinted(err, "%s", hint)
}

func (s *Shell) printImport(i bridge.Import) error {
	if s.JSON {
		return s.printJSON(i)
	}
	verb := "Imported"
	if i.DryRun {
		verb = "Would import"
	}
	lines := []string{
		fmt.Sprintf("%s %d of %d messages into %s, files: %d.", verb, i.Imported, i.Total, i.ChatJID, i.Media),
		fmt.Sprintf("Stored already: %d. Notices of the app, not imported: %d.", i.Duplicates, i.System),
	}
	if i.FirstAt != nil && i.LastAt != nil {
		zone := "Time zone: " + i.Timezone
		if i.TimezoneFrom == bridge.ZoneMatched {
			zone += ", found by comparing messages that are stored already"
		}
		lines = append(lines, fmt.Sprintf("%s. First message: %s. Last message: %s.", zone, *i.FirstAt, *i.LastAt))
	}
	if !i.DryRun && i.Imported+i.Media > 0 {
		lines = append(lines, "To remove what was imported: bridged imports undo "+i.ID)
	}
	for _, name := range i.UnknownNames {
		lines = append(lines, fmt.Sprintf("Who is %q? Add --name %s and import again; no message is stored twice.", Printable(name), shellQuoted(name+"=NUMBER")))
	}
	if len(i.Doubtful) > 0 {
		lines = append(lines, fmt.Sprintf("Ambiguous lines: %d", len(i.Doubtful)))
	}
	for _, ambiguous := range i.Doubtful {
		lines = append(lines, fmt.Sprintf("  line %d: %s", ambiguous.Line, Printable(ambiguous.Text)), "    "+Printable(ambiguous.Why))
	}
	return s.print("%s\n", strings.Join(lines, "\n"))
}

// shellQuoted returns a word as a shell takes it.
func shellQuoted(word string) string {
	return "'" + strings.ReplaceAll(Printable(word), "'", `'\''`) + "'"
}
