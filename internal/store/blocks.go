package store

import (
	"slices"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
)

// saveBlock stores whether the account blocks a person.
func (t *writeTx) saveBlock(f bridge.Block) {
	if f.JID.IsPerson() {
		t.setBlocked(t.EnsurePerson(f.JID).ID, f.IsBlocked)
	}
}

// saveBlocklist blocks the people in the list and unblocks all others.
func (t *writeTx) saveBlocklist(f bridge.Blocklist) {
	var listed []int64
	for _, jid := range f.JIDs {
		if jid.IsPerson() {
			listed = append(listed, t.EnsurePerson(jid).ID)
		}
	}
	for _, person := range sqlite.List[int64](t.Conn, "SELECT id FROM people WHERE blocked") {
		if !slices.Contains(listed, person) {
			t.setBlocked(person, false)
		}
	}
	for _, person := range listed {
		t.setBlocked(person, true)
	}
}

// setBlocked logs the chat with the person, if there is one and something has changed.
func (t *writeTx) setBlocked(person int64, blocked bool) {
	if t.Change("UPDATE people SET blocked = ?1 WHERE id = ?2 AND blocked != ?1", blocked, person) == 0 {
		return
	}
	var chat int64
	if t.Find("SELECT id FROM chats WHERE person = ?", []any{person}, &chat) {
		t.appendEvent(bridge.EventChatUpdated, 0, chat)
	}
}
