package api

import (
	"net/http"

	"bridged/internal/bridge"
)

// maxMessages bounds a page of a history.
const maxMessages = 1000

type historyHead struct {
	JID     bridge.JID `json:"jid"`
	Count   int        `json:"count"`
	Filters filters    `json:"filters"`
}

type searchHead struct {
	Query string `json:"query"`
	Count int    `json:"count"`
}

// filters echoes what was applied to a history; null for what was not.
type filters struct {
	Since  *bridge.Time `json:"since"`
	Until  *bridge.Time `json:"until"`
	Q      *string      `json:"q"`
	Sender bridge.JID   `json:"sender"`
	Order  bridge.Order `json:"order"`
	Limit  int          `json:"limit"`
	Offset int          `json:"offset"`
}

func (s *server) listGroupMessages(w http.ResponseWriter, r *http.Request) error {
	jid, err := pathGroup(r)
	if err != nil {
		return err
	}
	q := readQuery(r)
	history := q.history(jid)
	history.Sender = q.person("sender")
	return s.listHistory(w, r, history, q.err)
}

func (s *server) listIndividualMessages(w http.ResponseWriter, r *http.Request) error {
	jid, err := pathPerson(r)
	if err != nil {
		return err
	}
	q := readQuery(r)
	return s.listHistory(w, r, q.history(jid), q.err)
}

// history reads the parameters of both histories.
func (q *query) history(chat bridge.JID) bridge.MessageQuery {
	return bridge.MessageQuery{
		Chat:   chat,
		Since:  q.since(),
		Until:  q.until(),
		Q:      q.text("q"),
		Order:  bridge.Order(q.oneOf("order", string(bridge.OrderDesc), string(bridge.OrderAsc), string(bridge.OrderDesc))),
		Limit:  q.limit(maxMessages),
		Offset: q.offset(),
		Cursor: q.text("cursor"),
	}
}

// listHistory answers a page of one chat's messages, or the fault that was found
// in the parameters.
func (s *server) listHistory(w http.ResponseWriter, r *http.Request, query bridge.MessageQuery, invalid error) error {
	if invalid != nil {
		return invalid
	}
	if err := s.see(r.Context(), query.Chat); err != nil {
		return err
	}
	query.Chat, query.Only = s.store.Canonical(query.Chat), callerOf(r.Context()).Chats
	outside, err := s.outsiders(r.Context(), query.Sender)
	if err != nil {
		return err
	}
	if len(outside) == 0 {
		query.Sender = s.canonical(query.Sender)
	}
	page, err := s.store.Messages(r.Context(), query)
	if err != nil {
		return err
	}
	head := historyHead{query.Chat, len(page.Items), filtersOf(query)}
	return answerList(s, w, r, list[bridge.Message]{head, "messages", page.Items, bridge.AppendMessage, tailOf(page)})
}

func filtersOf(query bridge.MessageQuery) filters {
	f := filters{
		Since: query.Since, Until: query.Until, Sender: query.Sender,
		Order: query.Order, Limit: query.Limit, Offset: query.Offset,
	}
	if query.Q != "" {
		f.Q = &query.Q
	}
	return f
}

func (s *server) searchMessages(w http.ResponseWriter, r *http.Request) error {
	q := readQuery(r)
	search := bridge.SearchQuery{
		Q:        q.text("q"),
		Since:    q.since(),
		Until:    q.until(),
		ChatType: q.chatType("chatType"),
		Limit:    q.limit(maxChats),
		Cursor:   q.text("cursor"),
	}
	if search.Q == "" {
		q.refuse("q is required: at least one character that is not blank")
	}
	if q.err != nil {
		return q.err
	}
	search.Only = callerOf(r.Context()).Chats
	page, err := s.store.Search(r.Context(), search)
	if err != nil {
		return err
	}
	head := searchHead{search.Q, len(page.Items)}
	return answerList(s, w, r, list[bridge.Match]{head, "matches", page.Items, bridge.AppendMatch, tailOf(page)})
}
