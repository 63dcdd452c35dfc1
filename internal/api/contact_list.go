package api

import (
	"net/http"

	"bridged/internal/bridge"
)

// maxContactPage bounds a page of contacts.
const maxContactPage = 500

func (s *server) listContacts(w http.ResponseWriter, r *http.Request) error {
	q := readQuery(r)
	contacts := bridge.ContactQuery{
		Q:      q.text("q"),
		Limit:  q.limit(maxContactPage),
		Cursor: q.text("cursor"),
	}
	if q.err != nil {
		return q.err
	}
	contacts.Only = callerOf(r.Context()).Chats
	page, err := s.store.Contacts(r.Context(), contacts)
	if err != nil {
		return err
	}
	return answerList(s, w, r, plainList("contacts", page))
}

func (s *server) getContact(w http.ResponseWriter, r *http.Request) error {
	contact, err := s.pathContact(r)
	if err != nil {
		return err
	}
	return s.answer(w, r, contact)
}

// pathContact returns the stored person whom the path names, if the caller may
// see the chat with them.
func (s *server) pathContact(r *http.Request) (bridge.KnownContact, error) {
	jid, err := pathPerson(r)
	if err != nil {
		return bridge.KnownContact{}, err
	}
	if caller := callerOf(r.Context()); caller.Chats != nil && !s.isAmong(jid, caller.Chats) {
		return bridge.KnownContact{}, bridge.NoContact(jid)
	}
	return s.store.Contact(r.Context(), jid)
}
