package api

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"bridged/internal/bridge"
)

const (
	maxText    = 65536 // characters of a text message
	minOptions = 2     // of a poll
	maxOptions = 12
)

// quoting are the fields of every route that can answer an earlier message.
// Empty strings are fields left out: tools that fill in forms send them.
type quoting struct {
	QuotedChatJID string `json:"quotedChatJid"`
	QuotedMsgID   string `json:"quotedMsgId"`
}

// quote names a message to answer; its zero value names none.
type quote struct {
	chat bridge.JID
	id   string
}

// parse checks the fields; a quote without a chat is from the destination.
func (q quoting) parse(to bridge.JID) (quote, error) {
	if q.QuotedMsgID == "" {
		if q.QuotedChatJID != "" {
			return quote{}, bridge.Invalid("quotedMsgId is required where quotedChatJid is given")
		}
		return quote{}, nil
	}
	if q.QuotedChatJID == "" {
		return quote{to, q.QuotedMsgID}, nil
	}
	chat, err := parseChat("quotedChatJid", q.QuotedChatJID)
	return quote{chat, q.QuotedMsgID}, err
}

// quoted looks up the message to answer; nil where there is none.
func (s *server) quoted(ctx context.Context, q quote) (*bridge.Message, error) {
	if q == (quote{}) {
		return nil, nil
	}
	m, err := s.store.Message(ctx, q.chat, q.id)
	if err != nil {
		return nil, err
	}
	if m.DeletedAt != nil {
		return nil, bridge.Invalid("the quoted message was deleted")
	}
	return &m, nil
}

// destination reads the JID that a message is sent to.
func destination(field, value string) (bridge.JID, error) {
	if value == "" {
		return "", bridge.Invalid("%s is required", field)
	}
	return parseChat(field, value)
}

func (s *server) sendText(w http.ResponseWriter, r *http.Request) error {
	var req struct {
		JID      string   `json:"jid"`
		Text     string   `json:"text"`
		Mentions []string `json:"mentions" max:"1024"` // people in the largest group
		quoting
	}
	body, err := s.bodies.decode(w, r, &req)
	if err != nil {
		return err
	}
	to, err := destination("jid", req.JID)
	if err != nil {
		return err
	}
	if n := utf8.RuneCountInString(req.Text); n < 1 || n > maxText {
		return bridge.Invalid("text must have 1 to %d characters", maxText)
	}
	mentions, err := s.mentions(req.Mentions)
	if err != nil {
		return err
	}
	answered, err := req.parse(to)
	if err != nil {
		return err
	}
	return s.sendOnce(w, r, body, func(ctx context.Context) (bridge.Outgoing, error) {
		quote, err := s.quoted(ctx, answered)
		return bridge.Outgoing{To: to, Content: bridge.Text{Text: req.Text}, Quote: quote, Mentions: mentions}, err
	})
}

// mentions reads the people to notify, each once.
func (s *server) mentions(values []string) ([]bridge.JID, error) {
	var people []bridge.JID
	for _, value := range values {
		jid, err := parsePerson("mentions", value)
		if err != nil {
			return nil, err
		}
		if jid = s.canonical(jid); !slices.Contains(people, jid) {
			people = append(people, jid)
		}
	}
	return people, nil
}

func (s *server) forwardMessage(w http.ResponseWriter, r *http.Request) error {
	var req struct {
		SourceChatJID string `json:"sourceChatJid"`
		SourceMsgID   string `json:"sourceMsgId"`
		DestJID       string `json:"destJid"`
	}
	body, err := s.bodies.decode(w, r, &req)
	if err != nil {
		return err
	}
	source, err := destination("sourceChatJid", req.SourceChatJID)
	if err != nil {
		return err
	}
	if req.SourceMsgID == "" {
		return bridge.Invalid("sourceMsgId is required")
	}
	to, err := destination("destJid", req.DestJID)
	if err != nil {
		return err
	}
	return s.sendOnce(w, r, body, func(ctx context.Context) (bridge.Outgoing, error) {
		m, err := s.forwardable(ctx, source, req.SourceMsgID)
		return bridge.Outgoing{To: to, Content: bridge.Forward{Source: m}}, err
	})
}

// forwardable looks up a message to send on, and refuses those that cannot be.
func (s *server) forwardable(ctx context.Context, chat bridge.JID, id string) (bridge.Message, error) {
	m, err := s.store.Message(ctx, chat, id)
	if err != nil {
		return m, err
	}
	return m, m.Forwardable()
}

func (s *server) sendReaction(w http.ResponseWriter, r *http.Request) error {
	var req struct {
		ChatJID string  `json:"chatJid"`
		MsgID   string  `json:"msgId"`
		Emoji   *string `json:"emoji"`
	}
	body, err := s.bodies.decode(w, r, &req)
	if err != nil {
		return err
	}
	chat, err := destination("chatJid", req.ChatJID)
	if err != nil {
		return err
	}
	switch {
	case req.MsgID == "":
		return bridge.Invalid("msgId is required")
	case req.Emoji == nil:
		return bridge.Invalid("emoji is required; an empty string removes the reaction")
	case !isEmoji(*req.Emoji):
		return bridge.Invalid("emoji must be one emoji, or empty to remove the reaction")
	}
	return s.sendOnce(w, r, body, func(ctx context.Context) (bridge.Outgoing, error) {
		target, err := s.store.Message(ctx, chat, req.MsgID)
		if err == nil && target.DeletedAt != nil {
			err = bridge.Invalid("the message was deleted and takes no reactions")
		}
		return bridge.Outgoing{To: chat, Content: bridge.Reaction{Target: target, Emoji: *req.Emoji}}, err
	})
}

func (s *server) sendLocation(w http.ResponseWriter, r *http.Request) error {
	var req struct {
		JID       string   `json:"jid"`
		Latitude  *float64 `json:"latitude"`
		Longitude *float64 `json:"longitude"`
		Name      string   `json:"name"`
		Address   string   `json:"address"`
		quoting
	}
	body, err := s.bodies.decode(w, r, &req)
	if err != nil {
		return err
	}
	to, err := destination("jid", req.JID)
	if err != nil {
		return err
	}
	// JSON has no infinities and no NaN: within the range means finite.
	if req.Latitude == nil || *req.Latitude < -90 || *req.Latitude > 90 {
		return bridge.Invalid("latitude is required: a number between -90 and 90")
	}
	if req.Longitude == nil || *req.Longitude < -180 || *req.Longitude > 180 {
		return bridge.Invalid("longitude is required: a number between -180 and 180")
	}
	answered, err := req.parse(to)
	if err != nil {
		return err
	}
	place := bridge.Location{Latitude: *req.Latitude, Longitude: *req.Longitude, Name: req.Name, Address: req.Address}
	return s.sendOnce(w, r, body, func(ctx context.Context) (bridge.Outgoing, error) {
		quote, err := s.quoted(ctx, answered)
		return bridge.Outgoing{To: to, Content: place, Quote: quote}, err
	})
}

func (s *server) sendPoll(w http.ResponseWriter, r *http.Request) error {
	var req struct {
		JID             string   `json:"jid"`
		Name            string   `json:"name"`
		Values          []string `json:"values" max:"12"`
		SelectableCount *int     `json:"selectableCount"`
		quoting
	}
	body, err := s.bodies.decode(w, r, &req)
	if err != nil {
		return err
	}
	to, err := destination("jid", req.JID)
	if err != nil {
		return err
	}
	poll := bridge.Poll{Name: req.Name, Values: req.Values, Selectable: 1}
	if req.SelectableCount != nil {
		poll.Selectable = *req.SelectableCount
	}
	if err := checkPoll(poll); err != nil {
		return err
	}
	answered, err := req.parse(to)
	if err != nil {
		return err
	}
	return s.sendOnce(w, r, body, func(ctx context.Context) (bridge.Outgoing, error) {
		quote, err := s.quoted(ctx, answered)
		return bridge.Outgoing{To: to, Content: poll, Quote: quote}, err
	})
}

// checkPoll: votes are told apart by the text of their option alone, so two
// options that look the same would be one.
func checkPoll(poll bridge.Poll) error {
	if strings.TrimSpace(poll.Name) == "" {
		return bridge.Invalid("name is required: the poll's question")
	}
	if len(poll.Values) < minOptions || len(poll.Values) > maxOptions {
		return bridge.Invalid("values must hold %d to %d options", minOptions, maxOptions)
	}
	seen := make(map[string]bool, len(poll.Values))
	for _, value := range poll.Values {
		shown := strings.TrimSpace(value)
		if shown == "" {
			return bridge.Invalid("values must not hold an empty option")
		}
		if seen[shown] {
			return bridge.Invalid("values must not hold the same option twice")
		}
		seen[shown] = true
	}
	if poll.Selectable < 0 || poll.Selectable > len(poll.Values) {
		return bridge.Invalid("selectableCount must be between 0 and the number of options, %d", len(poll.Values))
	}
	return nil
}

func (s *server) sendContact(w http.ResponseWriter, r *http.Request) error {
	var req struct {
		JID      string               `json:"jid"`
		Contacts []bridge.ContactCard `json:"contacts" max:"20"`
		quoting
	}
	body, err := s.bodies.decode(w, r, &req)
	if err != nil {
		return err
	}
	to, err := destination("jid", req.JID)
	if err != nil {
		return err
	}
	if err := checkContacts(req.Contacts); err != nil {
		return err
	}
	answered, err := req.parse(to)
	if err != nil {
		return err
	}
	return s.sendOnce(w, r, body, func(ctx context.Context) (bridge.Outgoing, error) {
		quote, err := s.quoted(ctx, answered)
		return bridge.Outgoing{To: to, Content: bridge.Contacts{Contacts: req.Contacts}, Quote: quote}, err
	})
}
