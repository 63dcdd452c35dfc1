package api

import (
	"context"
	"encoding/json"
	"maps"
	"mime/multipart"
	"slices"
	"strconv"
	"strings"
	"time"

	"bridged/internal/api/callers"
	"bridged/internal/api/content"
	"bridged/internal/api/download"
	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/chatimport"
	"bridged/internal/media"
)

// importWait is how long a call waits for an import to end.
const importWait = 15 * time.Second

// maxNames limits the names that a caller may map to people.
const maxNames = 1000

// importChat imports a chat that an app has exported. The import is cancelled if the caller
// disconnects before the answer.
func importChat(in *input) (any, error) {
	form, err := readImport(in)
	if err != nil {
		return nil, err
	}
	form.By, form.Tree = callers.By(in.ctx()), in.caller().Tree
	var release func()
	form.While, release = callers.WhileValid(in.ctx(), in.Lifetime)
	id, err := in.Importer.Start(in.ctx(), form.Request)
	if err != nil {
		release()
		return nil, err
	}
	context.AfterFunc(in.Importer.Ended(id), release)
	if isAsync(in) {
		now, err := in.Importer.Import(in.ctx(), id)
		return importAnswer(in, now, bridge.ImportRunning, err)
	}
	now, err := in.Importer.Wait(in.ctx(), id, importWait)
	if in.ctx().Err() != nil {
		in.Importer.Leave(id)
	}
	return importAnswer(in, now, bridge.ImportRunning, err)
}

// importAnswer returns the answer of a call that begins or undoes an import: with 202 if the import is still in
// the state unfinished.
func importAnswer(in *input, now bridge.Import, unfinished bridge.ImportState, err error) (any, error) {
	if err == nil {
		err = in.showImport(in.ctx(), &now)
	}
	if err == nil && now.State == unfinished {
		return accepted{now}, nil
	}
	return now, err
}

// listImports answers with a page of the imports into chats that the caller may see.
func listImports(in *input) (any, error) {
	imports := bridge.ImportQuery{Chat: in.queryChat("chat"), Limit: in.limit(maxPage), Cursor: in.text("cursor"), Only: in.caller().Chats}
	if in.err == nil && imports.Chat != "" {
		in.err = in.see(in.ctx(), imports.Chat)
	}
	return answerPage(in, "imports", imports, func(ctx context.Context, q bridge.ImportQuery) (bridge.Page[bridge.Import], error) {
		page, err := in.Importer.Imports(ctx, q)
		for i := range page.Items {
			if err == nil {
				err = in.showImport(ctx, &page.Items[i])
			}
		}
		return page, err
	})
}

// getImport answers with the progress of an import.
func getImport(in *input) (any, error) { return pathImport(in) }

// pathImport returns the import that the path names, if the caller may see its chat.
func pathImport(in *input) (bridge.Import, error) {
	id := in.path("id")
	now, err := in.Importer.Import(in.ctx(), id)
	if err == nil && in.see(in.ctx(), now.ChatJID) != nil {
		err = bridge.NoImport(id)
	}
	if err != nil {
		return bridge.Import{}, err
	}
	return now, in.showImport(in.ctx(), &now)
}

// showImport removes from an import what the caller may not see: who began it, and people whom the token does not
// allow among the names that were mapped.
func (s *server) showImport(ctx context.Context, now *bridge.Import) (err error) {
	if now.By, err = s.tokens.Shown(ctx, now.By); err != nil {
		return err
	}
	outside, err := s.outsiders(ctx, slices.Collect(maps.Values(now.Names))...)
	if len(outside) > 0 {
		now.Names = maps.Clone(now.Names)
		maps.DeleteFunc(now.Names, func(_ string, jid bridge.JID) bool { return slices.Contains(outside, jid) })
	}
	return err
}

// endImport cancels an import that runs, or undoes one that has ended. Only the caller that began
// it may do so, and the callers that created this caller's token.
func endImport(in *input) (any, error) {
	now, err := pathImport(in)
	if err != nil {
		return nil, err
	}
	if now.By == nil {
		return nil, bridge.Fail(bridge.CodeForbidden, "another token began this import: only that one, a token that created it, or BRIDGE_TOKEN can cancel or undo it")
	}
	if now.State == bridge.ImportRunning {
		cancelled, err := in.Importer.Cancel(in.ctx(), now.ID)
		if bridge.CodeOf(err) != bridge.CodeImportEnded {
			return importAnswer(in, cancelled, "", err)
		}
	}
	if err := in.Importer.Undo(in.ctx(), now.ID); err != nil {
		return nil, err
	}
	wait := importWait
	if isAsync(in) {
		wait = 0
	}
	now, err = in.Importer.WaitUndone(in.ctx(), now.ID, wait)
	return importAnswer(in, now, bridge.ImportUndoing, err)
}

// isAsync reports whether the caller does not want to wait for the result (RFC 7240).
func isAsync(in *input) bool { return strings.Contains(in.r.Header.Get("Prefer"), "respond-async") }

// importForm is a form with an exported chat.
type importForm struct {
	front.Form
	chatimport.Request
}

func readImport(in *input) (*importForm, error) {
	if err := in.Exports.CheckSize(in.r.ContentLength, formMargin); err != nil {
		in.w.Header().Set("Connection", "close") // the body is never read
		return nil, err
	}
	form := &importForm{Form: front.NewForm(in.w, in.r, in.caller().Tree), Request: chatimport.Request{May: mayImport(in), Outsiders: in.outsiders}}
	err := form.Each(in.w, in.r, func(part *multipart.Part) error { return form.take(in.ctx(), in.server, part) })
	switch {
	case err != nil:
	case form.Export == nil:
		err = bridge.Invalid("file is required: a part of the form with the zip, or the text, that the app has exported")
	case form.Chat == "":
		err = bridge.Invalid("chat is required: the JID of a chat, or the name of a new one")
	}
	if err != nil {
		form.Export.Close()
	}
	return form, err
}

// mayImport returns a function that refuses chats that the caller may not see. Callers that may
// only see some chats cannot import new ones.
func mayImport(in *input) func(bridge.JID) error {
	ctx := in.ctx()
	return func(chat bridge.JID) error { return in.see(ctx, chat) }
}

func (f *importForm) take(ctx context.Context, s *server, part *multipart.Part) (err error) {
	if part.FormName() == "file" {
		f.FileName = download.PlainName(part.FileName())
		f.Export, err = s.Exports.Receive(ctx, media.Incoming{From: s.Importer.Upload(part), Declared: f.Length, Tree: f.Sender, Cancel: f.Stop})
		return err
	}
	text, err := f.Value(ctx, s.bodies, part)
	if err != nil {
		return err
	}
	switch part.FormName() {
	case "chat":
		f.Chat = strings.TrimSpace(text)
	case "dryRun":
		if f.DryRun, err = strconv.ParseBool(text); text != "" && err != nil {
			return bridge.Invalid("dryRun must be true or false")
		}
	case "names":
		return f.setNames(text)
	case "timezone":
		return f.setZone(text)
	case "dateOrder":
		if f.Order = bridge.DateOrder(text); text != "" && !slices.Contains(bridge.DateOrders, f.Order) {
			return bridge.Invalid("dateOrder must be one of %s", bridge.Join(bridge.DateOrders, ", "))
		}
	default:
		return bridge.Invalid("%s is not a field of this form; it has file, chat, dryRun, names, timezone and dateOrder", front.QuotedName(part.FormName()))
	}
	return nil
}

// setNames reads the people for the names in the export.
func (f *importForm) setNames(text string) error {
	var names map[string]string
	if text == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(text), &names); err != nil || len(names) > maxNames {
		return bridge.Invalid(`names must be a JSON object of at most %d names with their JIDs, like {"Sofia": "15551234567@s.whatsapp.net"}`, maxNames).Because(err)
	}
	f.Names = make(map[string]bridge.JID, len(names))
	for name, value := range names {
		jid, err := content.ParsePerson("names: "+front.QuotedName(name), value)
		if err != nil {
			return err
		}
		f.Names[name] = jid
	}
	return nil
}

func (f *importForm) setZone(text string) (err error) {
	if text == "" {
		return nil
	}
	f.Zone, err = parseZone("timezone", text)
	return err
}

// parseZone reads the name of a time zone or an offset.
func parseZone(field, text string) (*time.Location, error) {
	zone, err := chatimport.ParseZone(text)
	if err != nil {
		return nil, bridge.Invalid("%s must be a zone like Europe/Berlin, or an offset like +02:00: %s is not known", field, front.QuotedName(text)).Because(err)
	}
	return zone, nil
}
