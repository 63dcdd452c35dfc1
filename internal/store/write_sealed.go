package store

import (
	"context"
	"fmt"

	"bridged/internal/bridge"
)

// saveEncrypted opens what is encrypted with the secret of a message and saves what
// it says. Until the message comes, it waits.
func (t *writeTx) saveEncrypted(ctx context.Context, f bridge.Sealed) error {
	m, found, err := t.findMessage(ctx, f.Chat, f.Target)
	if err != nil {
		return err
	}
	if !found || m.isPlaceholder() && m.deleted == 0 {
		return t.postpone(ctx, f)
	}
	original, err := t.rawOf(ctx, m.seq)
	if err != nil || len(original.Raw) == 0 {
		return err
	}
	author, _ := t.people.get(m.sender)
	original.Chat, original.ID, original.FromMe, original.SenderJID = f.Chat, f.Target, m.fromMe, author.jid()
	for _, fact := range t.s.decrypt(f, original, t.formsOf(f.Sender), author.forms()) {
		if _, again := fact.(bridge.Sealed); again {
			return fmt.Errorf("what is sealed opened as sealed")
		}
		if err := t.save(ctx, bridge.Bounded(fact)); err != nil {
			return err
		}
	}
	return nil
}

// formsOf returns the forms in which a person is known.
func (t *writeTx) formsOf(jid bridge.JID) []bridge.JID {
	if p, known := t.people.find(jid); known {
		return p.forms()
	}
	return []bridge.JID{jid}
}

// forms returns the number and the LID of a person, as far as they are known.
func (p person) forms() (forms []bridge.JID) {
	for _, form := range []bridge.JID{p.pn, p.lid} {
		if form != "" {
			forms = append(forms, form)
		}
	}
	return forms
}
