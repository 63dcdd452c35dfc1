package api

import (
	"context"
	"net/http"
	"time"

	"bridged/internal/api/export"
	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/media/files"
)

// exportChat answers with a whole chat.
func exportChat(in *input) (any, error) {
	e := export.Export{
		Query:  bridge.MessageQuery{Chat: in.pathStored("jid"), Since: in.since(), Until: in.until(), Only: in.caller().Chats},
		Format: export.Format(in.oneOf("format", string(export.JSONL), export.Formats...)), Zone: in.zone("timezone"),
	}
	withFiles := in.choice("files")
	e.Files = withFiles != nil && *withFiles
	if in.onlyKnown(); in.err != nil {
		return nil, in.err
	}
	var err error
	if e.Chat, err = in.chat(in.ctx(), e.Query.Chat); err != nil {
		return nil, err
	}
	ctx, leave, err := in.exports.Take(in.ctx(), in.caller().Tree)
	if err != nil {
		return nil, err
	}
	defer leave()
	e.Query.Chat, e.Source = e.Chat.JID, exported{in}
	in.memory = in.lists.Answer(in.w, in.caller().Tree, front.AnswerTimeout)
	if err := e.Begin(ctx); err != nil {
		return nil, err
	}
	e.SetHeader(in.w.Header())
	front.BeginAnswer(in.w, http.StatusOK, e.Format.MimeType(e.Files), -1)
	if in.r.Method == http.MethodHead {
		return nil, nil
	}
	if err := e.Write(ctx, in.memory); err != nil {
		in.fail(in.w, in.r, err) // only logs it, since the answer has begun
		panic(http.ErrAbortHandler)
	}
	return nil, nil
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
