package shell

import (
	"context"
	"errors"
	"fmt"

	"bridged/internal/bridge"
	"bridged/internal/chatwoot"
	"bridged/internal/client"
)

// Backfill sends stored messages into an inbox of Chatwoot.
type Backfill struct {
	Since, Before string
	Chats         []string          // all if empty
	Run           chatwoot.Backfill // with its other fields set
}

// Backfill sends the messages and prints how many it sent.
func (s *Shell) Backfill(ctx context.Context, q Backfill) (err error) {
	b := &q.Run
	b.Bridge, b.Text, b.Zone = s.API, messageText, s.Now().Location()
	b.Note = func(text string) error { return s.note("%s", text) }
	if b.Since, b.Until, err = s.between(q.Since, q.Before); err != nil {
		return err
	}
	for _, name := range q.Chats {
		chat, err := s.find(ctx, name)
		if err != nil {
			return err
		}
		b.Chats = append(b.Chats, chat)
	}
	result, err := b.Run(ctx)
	_, isRefused := errors.AsType[*chatwoot.Refusal](err)
	if err == nil || !isRefused && result.Messages > 0 {
		err = errors.Join(err, s.printBackfill(result))
	}
	_, isOfBridge := errors.AsType[*client.Error](err)
	const again = "run the command again: it continues, and sends no message twice"
	switch {
	case errors.Is(err, context.Canceled):
		return hinted(errors.New("interrupted"), again)
	case isRefused, isOfBridge:
		return err
	case err != nil:
		return hinted(err, again)
	case result.Refused > 0:
		return fmt.Errorf("Chatwoot refused %d messages or chats, which the lines above name", result.Refused)
	}
	return nil
}

func (s *Shell) printBackfill(r chatwoot.Result) error {
	if s.JSON {
		return s.printJSON(r)
	}
	verb := "Sent"
	if r.DryRun {
		verb = "Would send"
	}
	return s.print("%s %s of %s, %s, %s; new contacts: %d.\nThere already: %s. Left out: %s, and %s that Chatwoot cannot address.\n",
		verb, bridge.Counted(r.Messages, "message"), bridge.Counted(r.Chats, "chat"), bridge.Counted(r.Files, "file"), bridge.Counted(r.Pictures, "picture"),
		r.Contacts, bridge.Counted(r.Present, "message"), bridge.Counted(r.FilesLeft, "file"), bridge.Counted(r.ChatsLeft, "chat"))
}
