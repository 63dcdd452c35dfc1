package api

import (
	"context"
	"encoding/json"
	"mime/multipart"
	"slices"
	"strconv"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/chatimport"
	"bridged/internal/media"
)

// importWait is how long the answer waits for an import to end.
const importWait = 15 * time.Second

// maxNames bounds the names that an import is told.
const maxNames = 1000

// importChat imports a chat that an app has exported. A caller who leaves before the answer ends the
// import.
func (s *server) importChat(in *input) (any, error) {
	form, err := s.readImport(in)
	if err != nil {
		return nil, err
	}
	caller := in.caller()
	form.Token, form.Family = caller.ID, caller.Family
	var release func()
	form.While, release = s.whileValid(in.ctx())
	id, err := s.Importer.Start(in.ctx(), form.Request)
	if err != nil {
		release()
		return nil, err
	}
	context.AfterFunc(s.Importer.Ended(id), release)
	if strings.Contains(in.r.Header.Get("Prefer"), "respond-async") {
		now, err := s.Importer.Import(id)
		return accepted{now}, err
	}
	now, err := s.Importer.Wait(in.ctx(), id, importWait)
	if in.ctx().Err() != nil {
		s.Importer.Leave(id)
	}
	if err == nil && now.State == bridge.ImportRunning {
		return accepted{now}, nil
	}
	return now, err
}

// getImport answers how far an import is.
func (s *server) getImport(in *input) (any, error) { return s.pathImport(in) }

// pathImport returns the import that the path names, if the caller may see its chat.
func (s *server) pathImport(in *input) (bridge.Import, error) {
	id := in.path("id")
	now, err := s.Importer.Import(id)
	if err == nil && s.see(in.ctx(), now.ChatJID) != nil {
		err = chatimport.NotRemembered(id)
	}
	return now, err
}

// cancelImport ends an import that is running, of the caller or of a token of its making.
func (s *server) cancelImport(in *input) (any, error) {
	now, err := s.pathImport(in)
	if err != nil {
		return nil, err
	}
	token, err := s.Importer.Token(now.ID)
	if err != nil {
		return nil, err
	}
	own := in.caller().ID == 0
	if !own {
		tokens, err := s.ownTokens(in.ctx())
		if err != nil {
			return nil, err
		}
		own = slices.ContainsFunc(tokens, func(t bridge.Token) bool { return t.ID == token })
	}
	if !own {
		return nil, bridge.Fail(bridge.CodeForbidden, "another token began this import: only that one, a token that created it, or BRIDGE_TOKEN can cancel it")
	}
	return s.Importer.Cancel(in.ctx(), now.ID)
}

// importForm is a form with an exported chat.
type importForm struct {
	parts
	chatimport.Request
}

func (s *server) readImport(in *input) (*importForm, error) {
	if err := s.Exports.CheckSize(in.r.ContentLength, formMargin); err != nil {
		in.w.Header().Set("Connection", "close") // the body is never read
		return nil, err
	}
	form := &importForm{parts: newParts(in.w, in.r), Request: chatimport.Request{Zone: time.Local, May: s.mayImport(in), Outsiders: s.outsiders}}
	err := form.each(in.w, in.r, func(part *multipart.Part) error { return form.take(in.ctx(), s, part) })
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

// mayImport refuses chats that the caller may not see, and new ones to callers who may see some
// chats only.
func (s *server) mayImport(in *input) func(bridge.JID) error {
	ctx := in.ctx()
	return func(chat bridge.JID) error { return s.see(ctx, chat) }
}

func (f *importForm) take(ctx context.Context, s *server, part *multipart.Part) (err error) {
	if part.FormName() == "file" {
		f.Export, err = s.Exports.Receive(ctx, media.Incoming{From: s.Importer.Upload(part), Announced: f.length, Family: f.family, Cut: f.cut})
		return err
	}
	text, err := f.value(ctx, s, part)
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
		return bridge.Invalid("%s is not a field of this form; it has file, chat, dryRun, names, timezone and dateOrder", quotedName(part.FormName()))
	}
	return nil
}

// setNames reads who the names in the export are.
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
		jid, err := parsePerson("names: "+quotedName(name), value)
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
	if f.Zone, err = time.LoadLocation(text); err != nil {
		return bridge.Invalid("timezone must be a zone like Europe/Berlin: %s is not known", quotedName(text)).Because(err)
	}
	return nil
}
