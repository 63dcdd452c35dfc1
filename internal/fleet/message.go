package fleet

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"bridged/internal/bridge"
)

// These are the headers of a message, in addition to its id. NATS compares header names with
// their case.
const (
	headerContentType = "Content-Type"
	headerWebhookID   = "Webhook-Id"        // the id that webhooks send
	headerLog         = "Bridged-Log"       // LogID of the log
	headerEvent       = "Bridged-Event"     // number in the log
	headerChat        = "Bridged-Chat"      // the chat's JID, if the event has one
	headerTruncated   = "Bridged-Truncated" // "true" if the content was too large
)

const (
	// headerRoom is the part of the server's payload limit that is reserved for headers.
	headerRoom = 1 << 10
	resetMark  = ".reset"
)

// subjects is the prefix of the subjects of an account's events.
type subjects string

func subjectsOf(prefix, account string) subjects {
	return subjects(prefix + "." + account + ".events.")
}

// all returns the filter for all events of the account.
func (s subjects) all() string { return string(s) + ">" }

// streamSubject returns the subject filter for the events of all accounts.
func streamSubject(prefix string) string { return prefix + ".*.events.>" }

// newMessage returns the message of an event. If its body is larger than limit bytes, the content
// is left out, and consumers read it over the API.
func newMessage(s subjects, logID string, e bridge.Event, limit int) (*nats.Msg, error) {
	m, err := encode(s, logID, e.ID, "", e.Payload())
	if err == nil && len(m.Data) > limit-headerRoom {
		e.Message, e.Chat, e.Group, e.Status = nil, nil, nil, nil
		if m, err = encode(s, logID, e.ID, "", e.Payload()); err == nil {
			m.Header.Set(headerTruncated, "true")
		}
	}
	if err != nil {
		return nil, err
	}
	m.Header.Set(headerWebhookID, bridge.EventName(e.ID, e.At))
	if e.ChatJID != "" {
		m.Header.Set(headerChat, string(e.ChatJID))
	}
	return m, nil
}

// newReset returns the message that says that consumers have missed events up to a number.
func newReset(s subjects, logID string, after int64, at bridge.Time) (*nats.Msg, error) {
	return encode(s, logID, after, resetMark, bridge.ResetPayload(after, at))
}

// encode returns a message with the headers that identify it to the server and to consumers.
func encode(s subjects, logID string, event int64, mark string, payload bridge.EventPayload) (*nats.Msg, error) {
	body, err := bridge.EncodeJSON(payload)
	if err != nil {
		return nil, fmt.Errorf("encode an event: %w", err)
	}
	number := strconv.FormatInt(event, 10)
	return &nats.Msg{Subject: string(s) + string(payload.Type), Data: body, Header: nats.Header{
		jetstream.MsgIDHeader: {logID + "." + number + mark}, headerLog: {logID}, headerEvent: {number}, headerContentType: {jsonType},
	}}, nil
}

// published describes a message of the account in the stream: an event of a log, or the reset
// before an event.
type published struct {
	sequence uint64
	logID    string
	event    int64
	at       bridge.Time // zero for a reset, whose time is not an event's
}

// readPublished identifies a message. logID is empty for messages of other programs.
func readPublished(m *jetstream.RawStreamMsg) published {
	p := published{sequence: m.Sequence}
	id, isReset := strings.CutSuffix(m.Header.Get(jetstream.MsgIDHeader), resetMark)
	logID, number, _ := strings.Cut(id, ".")
	event, err := strconv.ParseInt(number, 10, 64)
	var payload struct{ Timestamp bridge.Time }
	if err != nil || json.Unmarshal(m.Data, &payload) != nil {
		return p
	}
	p.logID, p.event = logID, event
	if !isReset {
		p.at = payload.Timestamp
	}
	return p
}
