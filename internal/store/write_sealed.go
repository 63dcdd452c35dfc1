package store

import (
	"fmt"

	"bridged/internal/bridge"
)

// saveEncrypted opens what is encrypted with the secret of a message and saves what
// it says. Until the message comes, it waits.
func (t *writeTx) saveEncrypted(f bridge.Sealed) {
	m, found := t.findMessage(f.Chat, f.Target)
	if !found || m.isPlaceholder() && m.deleted == 0 {
		t.postpone(f)
		return
	}
	original := t.rawOf(m.seq)
	if len(original.Raw) == 0 {
		return
	}
	author, _ := t.people.get(m.sender)
	original.Chat, original.ID, original.FromMe, original.SenderJID = f.Chat, f.Target, m.fromMe, author.jid()
	for _, fact := range t.s.decrypt(f, original, t.formsOf(f.Sender), author.forms()) {
		if _, again := fact.(bridge.Sealed); again {
			t.Fail(fmt.Errorf("what is sealed opened as sealed"))
			return
		}
		t.save(bridge.Bounded(fact))
	}
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
