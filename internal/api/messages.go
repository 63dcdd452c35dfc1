package api

import (
	"context"

	"bridged/internal/bridge"
)

// maxMessages bounds a page of a chat's messages.
const maxMessages = 1000

// filters lists the filters that were applied to a history; null if there was none.
type filters struct {
	Since    *bridge.Time `json:"since"`
	Until    *bridge.Time `json:"until"`
	Q        *string      `json:"q"`
	Fold     *string      `json:"fold"`
	Sender   bridge.JID   `json:"sender"`
	Type     *string      `json:"type"`
	FromMe   *bool        `json:"fromMe"`
	HasMedia *bool        `json:"hasMedia"`
	Pinned   *bool        `json:"pinned"`
	Starred  *bool        `json:"starred"`
	Order    bridge.Order `json:"order"`
	Limit    int          `json:"limit"`
	Offset   int          `json:"offset"`
}

func getMessage(in *input) (any, error) {
	at := in.pathStoredMessage("jid")
	if in.err != nil {
		return nil, in.err
	}
	m, err := in.message(in.ctx(), at.chat, at.id)
	var by *bridge.CalledBy
	if err == nil && m.FromMe {
		if by, err = in.Store.SentBy(in.ctx(), m.Chat, m.ID); err == nil {
			by, err = in.tokens.Shown(in.ctx(), by)
		}
	}
	return struct {
		ChatJID bridge.JID       `json:"chatJid"`
		Message bridge.Message   `json:"message"`
		SentBy  *bridge.CalledBy `json:"sentBy,omitempty"`
	}{m.Chat, m, by}, err
}

func listMessages(in *input) (any, error) {
	history := in.history(in.pathStored("jid"))
	history.Sender = in.person("sender")
	return listHistory(in, history)
}

func listGroupMessages(in *input) (any, error) {
	history := in.history(in.pathGroup())
	history.Sender = in.person("sender")
	return listHistory(in, history)
}

func listIndividualMessages(in *input) (any, error) {
	return listHistory(in, in.history(in.pathIndividual()))
}

func (q *input) history(chat bridge.JID) bridge.MessageQuery {
	history := bridge.MessageQuery{
		Chat:          chat,
		Since:         q.since(),
		Until:         q.until(),
		Q:             q.text("q"),
		Fold:          q.fold(),
		MessageFilter: q.messageFilter(),
		Order:         bridge.Order(q.oneOf("order", string(bridge.OrderDesc), string(bridge.OrderAsc), string(bridge.OrderDesc))),
		Limit:         q.limit(maxMessages),
		Offset:        q.offset(),
		Cursor:        q.text("cursor"),
	}
	if history.Offset > 0 && !history.MessageFilter.IsZero() {
		q.refuse("offset does not go with type, fromMe, hasMedia, pinned and starred, whose pages may end early: follow nextCursor")
	}
	return history
}

func (q *input) fold() bridge.Fold {
	return bridge.Fold(q.oneOf("fold", "", string(bridge.FoldAccents)))
}

// messageFilter reads the filters of the lists of messages.
func (q *input) messageFilter() bridge.MessageFilter {
	f := bridge.MessageFilter{FromMe: q.choice("fromMe"), HasMedia: q.choice("hasMedia"), Pinned: q.choice("pinned"), Starred: q.choice("starred")}
	if text := q.text("type"); text != "" {
		kind, err := bridge.ParseMessageType(text)
		if err != nil {
			q.refuse("type %v", err)
		}
		f.Type = kind
	}
	return f
}

// listHistory answers with a page of one chat's messages.
func listHistory(in *input, query bridge.MessageQuery) (any, error) {
	if in.err == nil {
		in.err = in.see(in.ctx(), query.Chat)
	}
	if in.err != nil {
		return nil, in.err
	}
	query.Chat, query.Only = in.Store.Canonical(query.Chat), in.caller().Chats
	outside, err := in.outsiders(in.ctx(), query.Sender)
	if err != nil {
		return nil, err
	}
	if len(outside) == 0 {
		query.Sender = in.canonical(query.Sender)
	}
	if err := in.reserve(); err != nil {
		return nil, err
	}
	page, err := in.Store.Messages(in.ctx(), query)
	if err != nil {
		return nil, err
	}
	head := struct {
		JID     bridge.JID `json:"jid"`
		Count   int        `json:"count"`
		Filters filters    `json:"filters"`
	}{query.Chat, len(page.Items), filters{
		query.Since, query.Until, bridge.OrNil(query.Q), bridge.OrNil(string(query.Fold)), query.Sender, bridge.OrNil(query.Type), query.FromMe, query.HasMedia, query.Pinned, query.Starred, query.Order, query.Limit, query.Offset,
	}}
	return answerList(in, list[bridge.Message]{head, "messages", page.Items, tailOf(page)})
}

func searchMessages(in *input) (any, error) {
	search := bridge.SearchQuery{
		Q: in.text("q"), Fold: in.fold(), Chat: in.queryChat("chat"), Sender: in.person("sender"), MessageFilter: in.messageFilter(),
		Since: in.since(), Until: in.until(), ChatType: in.chatType("chatType"), Limit: in.limit(maxPage), Cursor: in.text("cursor"),
		Only: in.caller().Chats,
	}
	if isFiltered := search.Chat != "" || search.Sender != "" || !search.MessageFilter.IsZero(); isFiltered && in.offset() > 0 {
		in.refuse("offset does not go with filters, whose pages may end early: follow nextCursor")
	}
	if !search.IsNarrow() {
		in.refuse("q is required, at least one character that is not blank, unless chat, sender, type, fromMe, hasMedia, pinned or starred is given")
	}
	if in.err == nil && search.Chat != "" {
		in.err = in.see(in.ctx(), search.Chat)
	}
	if in.err != nil {
		return nil, in.err
	}
	if err := in.reserve(); err != nil {
		return nil, err
	}
	page, err := in.Store.Search(in.ctx(), search)
	if err != nil {
		return nil, err
	}
	head := struct {
		Query *string `json:"query"`
		Count int     `json:"count"`
	}{bridge.OrNil(search.Q), len(page.Items)}
	return answerList(in, list[bridge.Match]{head, "matches", page.Items, tailOf(page)})
}

const (
	// usualHistory is how many messages the apps request from the phone at a time.
	usualHistory = 50
	maxHistory   = 500
)

// requestHistory requests older messages of a chat from the phone, which sends them later.
func requestHistory(in *input) (any, error) {
	jid := in.pathChat("jid")
	var req struct {
		Count *int `json:"count"`
	}
	in.body(&req, optional)
	count := usualHistory
	if req.Count != nil {
		count = *req.Count
	}
	if count < 1 || count > maxHistory {
		in.refuse("count must be 1 to %d", maxHistory)
	}
	if in.err != nil {
		return nil, in.err
	}
	oldest, err := in.oldestMessage(in.ctx(), jid)
	if err != nil {
		return nil, err
	}
	id, err := in.Account.AskHistory(in.ctx(), oldest, count)
	type message struct {
		MsgID     string      `json:"msgId"`
		Timestamp bridge.Time `json:"timestamp"`
	}
	return struct {
		RequestID string     `json:"requestId"`
		ChatJID   bridge.JID `json:"chatJid"`
		Count     int        `json:"count"`
		Before    message    `json:"before"`
	}{id, oldest.Chat, count, message{oldest.ID, oldest.Timestamp}}, err
}

func (s *server) oldestMessage(ctx context.Context, jid bridge.JID) (bridge.Message, error) {
	chat, err := s.chat(ctx, jid)
	if err != nil {
		return bridge.Message{}, err
	}
	oldest, found, err := s.Store.OldestKnown(ctx, chat.JID)
	if err == nil && !found {
		err = bridge.Invalid("the chat has no stored message, from before which the phone could be asked: wait for one, or send one")
	}
	return oldest, err
}
