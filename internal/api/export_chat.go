package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"bridged/internal/api/download"
	"bridged/internal/api/export"
	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/chatimport"
	"bridged/internal/intake"
	"bridged/internal/media/files"
)

// exportsRunning limits the exports that are being answered: one of each token tree, two of all, and a third one of BRIDGE_TOKEN.
var exportsRunning = intake.Quotas{All: 3, Others: 2, Each: 1}

const (
	exportWait = 10 * time.Second // for a slot
	// exportTime limits an export, so that slow readers do not hold the slots. It does not apply to BRIDGE_TOKEN.
	exportTime = time.Hour
)

// exportChat answers with a whole chat.
func exportChat(in *input) (any, error) {
	e := export.Export{
		Query:  bridge.MessageQuery{Chat: in.pathStored("jid"), Since: in.since(), Until: in.until(), Only: in.caller().Chats},
		Format: export.Format(in.oneOf("format", string(export.JSONL), export.Formats...)), Zone: in.zone("timezone"),
	}
	withFiles := in.choice("files")
	e.Files = withFiles != nil && *withFiles
	if in.err != nil {
		return nil, in.err
	}
	ctx, cancel := in.ctx(), context.CancelFunc(func() {})
	if in.caller().Tree != intake.Operator {
		ctx, cancel = context.WithTimeout(ctx, exportTime)
	}
	defer cancel()
	var err error
	if e.Chat, err = in.chat(ctx, e.Query.Chat); err != nil {
		return nil, err
	}
	slot, err := in.exportSlot(ctx)
	if err != nil {
		return nil, err
	}
	defer slot.Release()
	e.Query.Chat, e.Source = e.Chat.JID, exported{in}
	in.memory = in.lists.Answer(in.w, in.caller().Tree, front.AnswerTime)
	if err := e.Begin(ctx); err != nil {
		return nil, err
	}
	setExportHeader(in.w.Header(), e)
	beginAnswer(in.w, http.StatusOK, e.Format.MimeType(e.Files), -1)
	if in.r.Method == http.MethodHead {
		return nil, nil
	}
	if err := e.Write(ctx, in.memory); err != nil {
		in.fail(in.w, in.r, err) // only logs it, since the answer has begun
		panic(http.ErrAbortHandler)
	}
	return nil, nil
}

func setExportHeader(header http.Header, e export.Export) {
	extension := "." + string(e.Format)
	if e.Files {
		extension = ".zip"
	}
	header.Set("Content-Disposition", download.ContentDisposition(download.Attachment, "WhatsApp Chat with "+e.Chat.Name+extension))
	header.Set("Content-Security-Policy", export.ContentSecurityPolicy)
}

// exportSlot waits a moment for a slot.
func (q *input) exportSlot(ctx context.Context) (*intake.Reservation, error) {
	waiting, cancel := context.WithTimeout(ctx, exportWait)
	defer cancel()
	slot, err := q.exports.Take(waiting, q.caller().Tree, 1, func() {})
	switch {
	case err == nil:
		slot.Complete() // it is never cancelled for others
	case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
		busy := bridge.Fail(bridge.CodeTooManyConnections, "other chats are still being exported: try again later")
		busy.RetryAfter = time.Minute
		err = busy
	}
	return slot, err
}

// zone returns the time zone that a parameter names, or the operator's.
func (q *input) zone(name string) *time.Location {
	text := q.text(name)
	if text == "" {
		return q.Importer.Zone()
	}
	zone, err := parseZone(name, text)
	return keep(q, zone, err)
}

// exported reads a chat with the permissions of a request.
type exported struct{ *input }

// Messages returns a page. It waits for the memory.
func (e exported) Messages(ctx context.Context, q bridge.MessageQuery) (bridge.Page[bridge.Message], error) {
	if err := e.memory.Reserve(ctx, bridge.PageBytes); err != nil {
		return bridge.Page[bridge.Message]{}, err
	}
	return e.Store.Messages(ctx, q)
}

// Open opens the file of a message.
func (e exported) Open(ctx context.Context, m bridge.Message) (*files.File, error) {
	whole, err := e.message(ctx, m.Chat, m.ID)
	if err != nil {
		return nil, err
	}
	return e.Files.Open(ctx, whole)
}

// NameOf returns the name of a sender.
func (e exported) NameOf(ctx context.Context, chat, sender bridge.JID) (string, error) {
	return e.Importer.NameOf(ctx, chat, sender)
}

// parseZone reads the name of a time zone or an offset.
func parseZone(field, text string) (*time.Location, error) {
	zone, err := chatimport.ParseZone(text)
	if err != nil {
		return nil, bridge.Invalid("%s must be a zone like Europe/Berlin, or an offset like +02:00: %s is not known", field, front.QuotedName(text)).Because(err)
	}
	return zone, nil
}
