package store

import (
	"context"

	"bridged/internal/bridge"
)

// saveImported stores a message of the phone's history with what became of it,
// or changes of one that was stored so. What came over the connection stays as
// it is, but for placeholders: the real message fills them in, and that is told.
func (t *writeTx) saveImported(ctx context.Context, f bridge.Imported) error {
	if f.Message != nil {
		if err := t.saveImportedMessage(ctx, *f.Message); err != nil {
			return err
		}
	}
	return t.silently(func() error {
		for _, change := range f.Changes {
			if err := t.saveImportedChange(ctx, bridge.Bounded(change)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t *writeTx) saveImportedMessage(ctx context.Context, m bridge.Message) error {
	stored, found, err := t.findMessage(ctx, m.Chat, m.ID)
	switch {
	case err != nil:
		return err
	case found && stored.isPlaceholder() && !stored.imported:
		return t.saveMessage(ctx, m)
	case found:
		return nil
	}
	m.Imported = true
	return t.silently(func() error { return t.saveMessage(ctx, m) })
}

// silently runs f without telling of what it changes.
func (t *writeTx) silently(f func() error) error {
	t.silent = true
	defer func() { t.silent = false }()
	return f()
}

// saveImportedChange applies a change of the phone's history to a message that
// came with the history.
func (t *writeTx) saveImportedChange(ctx context.Context, change bridge.Fact) error {
	chat, target := targetOf(change)
	stored, found, err := t.findMessage(ctx, chat, target)
	if edit, is := change.(bridge.Edit); err == nil && !found && is && edit.Upload != nil {
		return t.saveImportedMessage(ctx, *edit.Upload)
	}
	if err != nil || !found || !stored.imported {
		return err
	}
	return t.save(ctx, change)
}

// targetOf returns the message that a change is of; empty for a fact that is
// none.
func targetOf(change bridge.Fact) (bridge.JID, string) {
	switch f := change.(type) {
	case bridge.ReactionChange:
		return f.Chat, f.Target
	case bridge.Edit:
		return f.Chat, f.Target
	case bridge.Deletion:
		return f.Chat, f.Target
	case bridge.PollVote:
		return f.Chat, f.Target
	case bridge.Sealed:
		return f.Chat, f.Target
	case bridge.EventResponse:
		return f.Chat, f.Target
	case bridge.PollOptionAdded:
		return f.Chat, f.Target
	case bridge.Pin:
		return f.Chat, f.Target
	case bridge.Keep:
		return f.Chat, f.Target
	}
	return "", ""
}

// saveChatName gives a person or a group the name that the phone shows, where
// nothing better is known.
func (t *writeTx) saveChatName(ctx context.Context, f bridge.ChatName) error {
	if f.Name == "" {
		return nil
	}
	if f.JID.IsGroup() {
		return t.nameUnknownGroup(ctx, f)
	}
	if !f.JID.IsPerson() {
		return nil
	}
	p, err := t.ensurePerson(ctx, f.JID)
	if err != nil || p.name != "" {
		return err
	}
	p.name = f.Name
	return t.saveNames(ctx, p)
}

func (t *writeTx) nameUnknownGroup(ctx context.Context, f bridge.ChatName) error {
	c, found, err := t.findChat(ctx, f.JID)
	if err != nil || !found {
		return err
	}
	var unknown bool
	if _, err := t.find(ctx, "SELECT known = 0 FROM groups WHERE chat = ?", []any{c.id}, &unknown); err != nil || !unknown {
		return err
	}
	renamed, err := t.renameGroup(ctx, c.id, f.Name)
	if err != nil || !renamed {
		return err
	}
	return t.appendEvent(ctx, eventChatUpdated, 0, c.id)
}
