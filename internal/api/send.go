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

// addressed holds the fields of all routes that send something new: the chat,
// and the message that is answered. Empty strings are fields left out: tools
// that fill in forms send them.
type addressed struct {
	JID           string `json:"jid"`
	QuotedChatJID string `json:"quotedChatJid"`
	QuotedMsgID   string `json:"quotedMsgId"`
}

// address returns the chat to send to and the message to quote, which is of
// that chat unless another is named.
func (a addressed) address() (to bridge.JID, quote reference, err error) {
	if to, err = parseDestination("jid", a.JID); err != nil {
		return "", reference{}, err
	}
	switch {
	case a.QuotedMsgID == "" && a.QuotedChatJID != "":
		return "", reference{}, bridge.Invalid("quotedMsgId is required where quotedChatJid is given")
	case a.QuotedMsgID == "":
		return to, reference{}, nil
	case a.QuotedChatJID == "":
		return to, reference{to, a.QuotedMsgID}, nil
	}
	chat, err := parseChat("quotedChatJid", a.QuotedChatJID)
	return to, reference{chat, a.QuotedMsgID}, err
}

// parseDestination reads the JID of the chat that a message is sent to.
func parseDestination(field, value string) (bridge.JID, error) {
	if value == "" {
		return "", bridge.Invalid("%s is required", field)
	}
	return parseChat(field, value)
}

type textRequest struct {
	addressed
	Text     string   `json:"text"`
	Mentions []string `json:"mentions" max:"1024"` // people in the largest group
}

func (s *server) sendText(w http.ResponseWriter, r *http.Request) error {
	return send(s, w, r, func(req textRequest, d *draft) (err error) {
		if n := utf8.RuneCountInString(req.Text); n < 1 || n > maxText {
			return bridge.Invalid("text must have 1 to %d characters", maxText)
		}
		d.Content = bridge.Text{Text: req.Text}
		d.Mentions, d.Strangers, err = s.parsePeople(r.Context(), "mentions", req.Mentions)
		return err
	})
}

// parsePeople reads the people whom a field names, each once. The strangers among
// them, of whom the caller may know nothing, are as they are given.
func (s *server) parsePeople(ctx context.Context, field string, values []string) (people, strangers []bridge.JID, err error) {
	named := make([]bridge.JID, len(values))
	for i, value := range values {
		if named[i], err = parsePerson(field, value); err != nil {
			return nil, nil, err
		}
	}
	if strangers, err = s.outsiders(ctx, named...); err != nil {
		return nil, nil, err
	}
	for _, jid := range named {
		if !slices.Contains(strangers, jid) {
			jid = s.canonical(jid)
		}
		if !slices.Contains(people, jid) {
			people = append(people, jid)
		}
	}
	return people, strangers, nil
}

type forwardRequest struct {
	SourceChatJID string `json:"sourceChatJid"`
	SourceMsgID   string `json:"sourceMsgId"`
	DestJID       string `json:"destJid"`
}

func (f forwardRequest) address() (to bridge.JID, quote reference, err error) {
	to, err = parseDestination("destJid", f.DestJID)
	return to, reference{}, err
}

func (s *server) forwardMessage(w http.ResponseWriter, r *http.Request) error {
	return send(s, w, r, func(req forwardRequest, d *draft) error {
		chat, err := parseDestination("sourceChatJid", req.SourceChatJID)
		if err != nil {
			return err
		}
		if req.SourceMsgID == "" {
			return bridge.Invalid("sourceMsgId is required")
		}
		d.lookUp = func(ctx context.Context) (bridge.Content, error) {
			source, err := s.message(ctx, chat, req.SourceMsgID)
			if err == nil {
				err = source.Forwardable()
			}
			return bridge.Forward{Source: source}, err
		}
		return nil
	})
}

type reactionRequest struct {
	ChatJID string  `json:"chatJid"`
	MsgID   string  `json:"msgId"`
	Emoji   *string `json:"emoji"`
}

func (r reactionRequest) address() (to bridge.JID, quote reference, err error) {
	to, err = parseDestination("chatJid", r.ChatJID)
	return to, reference{}, err
}

func (s *server) sendReaction(w http.ResponseWriter, r *http.Request) error {
	return send(s, w, r, func(req reactionRequest, d *draft) error {
		switch {
		case req.MsgID == "":
			return bridge.Invalid("msgId is required")
		case req.Emoji == nil:
			return bridge.Invalid("emoji is required; an empty string removes the reaction")
		case !isEmoji(*req.Emoji):
			return bridge.Invalid("emoji must be one emoji, or empty to remove the reaction")
		}
		d.about = new(changed)
		d.lookUp = func(ctx context.Context) (bridge.Content, error) {
			target, err := s.message(ctx, d.To, req.MsgID)
			if err == nil && target.DeletedAt != nil {
				err = bridge.Invalid("the message was deleted and cannot be reacted to")
			}
			return bridge.Reaction{Target: target, Emoji: *req.Emoji}, err
		}
		return nil
	})
}

type locationRequest struct {
	addressed
	Latitude  *float64 `json:"latitude"`
	Longitude *float64 `json:"longitude"`
	Name      string   `json:"name"`
	Address   string   `json:"address"`
}

func (s *server) sendLocation(w http.ResponseWriter, r *http.Request) error {
	return send(s, w, r, func(req locationRequest, d *draft) error {
		// JSON has no infinities and no NaN: within the range means finite.
		if req.Latitude == nil || *req.Latitude < -90 || *req.Latitude > 90 {
			return bridge.Invalid("latitude is required: a number between -90 and 90")
		}
		if req.Longitude == nil || *req.Longitude < -180 || *req.Longitude > 180 {
			return bridge.Invalid("longitude is required: a number between -180 and 180")
		}
		d.Content = bridge.Location{Latitude: *req.Latitude, Longitude: *req.Longitude, Name: req.Name, Address: req.Address}
		return nil
	})
}

type pollRequest struct {
	addressed
	Name            string   `json:"name"`
	Values          []string `json:"values" max:"12"`
	SelectableCount *int     `json:"selectableCount"`
}

func (s *server) sendPoll(w http.ResponseWriter, r *http.Request) error {
	return send(s, w, r, func(req pollRequest, d *draft) error {
		poll := bridge.Poll{Name: req.Name, Values: req.Values, Selectable: 1}
		if req.SelectableCount != nil {
			poll.Selectable = *req.SelectableCount
		}
		d.Content = poll
		return checkPoll(poll)
	})
}

// checkPoll reports what is wrong with a poll. Votes name an option by its text
// alone, so two options that look the same would be one.
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

type contactRequest struct {
	addressed
	Contacts []bridge.ContactCard `json:"contacts" max:"20"`
}

func (s *server) sendContact(w http.ResponseWriter, r *http.Request) error {
	return send(s, w, r, func(req contactRequest, d *draft) error {
		d.Content = bridge.Contacts{Contacts: req.Contacts}
		return checkContacts(req.Contacts)
	})
}
