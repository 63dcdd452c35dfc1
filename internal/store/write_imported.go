package store

import (
	"bridged/internal/bridge"
)

// saveImported stores a message of the phone's history with what became of it,
// or changes of one that was stored so. What came over the connection stays as
// it is, but for placeholders: the real message fills them in, and that is told.
func (t *writeTx) saveImported(f bridge.Imported) {
	if f.Message != nil {
		t.saveImportedMessage(*f.Message)
	}
	t.silently(func() {
		for _, change := range f.Changes {
			t.saveImportedChange(bridge.Bounded(change))
		}
	})
}

func (t *writeTx) saveImportedMessage(m bridge.Message) {
	stored, found := t.findMessage(m.Chat, m.ID)
	switch {
	case !found:
		m.Imported = true
		t.silently(func() { t.saveMessage(m) })
	case stored.isPlaceholder() && !stored.imported:
		t.saveMessage(m)
	}
}

// silently runs f without telling of what it changes.
func (t *writeTx) silently(f func()) {
	t.silent = true
	defer func() { t.silent = false }()
	f()
}

// saveImportedChange applies a change of the phone's history to a message that
// came with the history.
func (t *writeTx) saveImportedChange(change bridge.Fact) {
	chat, target := targetOf(change)
	stored, found := t.findMessage(chat, target)
	if edit, is := change.(bridge.Edit); !found && is && edit.Upload != nil {
		t.saveImportedMessage(*edit.Upload)
		return
	}
	if !found || !stored.imported {
		return
	}
	t.save(change)
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
func (t *writeTx) saveChatName(f bridge.ChatName) {
	if f.Name == "" {
		return
	}
	if f.JID.IsGroup() {
		t.nameUnknownGroup(f)
		return
	}
	if !f.JID.IsPerson() {
		return
	}
	p := t.ensurePerson(f.JID)
	if p.name != "" {
		return
	}
	p.name = f.Name
	t.saveNames(p)
}

func (t *writeTx) nameUnknownGroup(f bridge.ChatName) {
	c, found := t.findChat(f.JID)
	if !found {
		return
	}
	var unknown bool
	if t.Find("SELECT known = 0 FROM groups WHERE chat = ?", []any{c.id}, &unknown); !unknown {
		return
	}
	renamed := t.renameGroup(c.id, f.Name)
	if !renamed {
		return
	}
	t.appendEvent(eventChatUpdated, 0, c.id)
}
