package api

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"

	"bridged/internal/bridge"
)

// query reads the parameters of a request. It keeps the first fault in err, to be
// checked once all are read.
type query struct {
	values url.Values
	err    error
}

func readQuery(r *http.Request) *query {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return &query{err: bridge.Invalid("the query string is malformed; encode its values").Because(err)}
	}
	return &query{values: values}
}

func (q *query) refuse(format string, args ...any) {
	if q.err == nil {
		q.err = bridge.Invalid(format, args...)
	}
}

// one returns the value of a parameter that may be given once. Unknown
// parameters are ignored.
func (q *query) one(name string) (value string, given bool) {
	all, given := q.values[name]
	if !given {
		return "", false
	}
	if len(all) > 1 {
		q.refuse("%s is given more than once", name)
	}
	if !utf8.ValidString(all[0]) {
		q.refuse("%s is not valid UTF-8", name)
	}
	return all[0], true
}

// text returns a parameter whose blank value means none.
func (q *query) text(name string) string {
	value, _ := q.one(name)
	if strings.TrimSpace(value) == "" {
		return ""
	}
	return value
}

func (q *query) oneOf(name, fallback string, allowed ...string) string {
	value, given := q.one(name)
	if !given {
		return fallback
	}
	if !slices.Contains(allowed, value) {
		q.refuse("%s must be one of %s", name, strings.Join(allowed, ", "))
	}
	return value
}

// limit returns the size of a page, 1 to most.
func (q *query) limit(most int) int {
	const usual = 100
	value, given := q.one("limit")
	if !given {
		return usual
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > most {
		q.refuse("limit must be an integer between 1 and %d", most)
	}
	return n
}

func (q *query) offset() int {
	value, given := q.one("offset")
	if !given {
		return 0
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 {
		q.refuse("offset must be an integer of 0 or more")
	}
	return n
}

// person returns a JID that must name a person.
func (q *query) person(name string) bridge.JID {
	value, given := q.one(name)
	if !given {
		return ""
	}
	jid, err := parsePerson(name, value)
	if err != nil && q.err == nil {
		q.err = err
	}
	return jid
}

// since returns the earliest time stamp wanted.
func (q *query) since() *bridge.Time {
	value, given := q.one("since")
	if !given {
		return nil
	}
	t, _ := q.moment("since", value)
	if fine := bridge.At(t); !fine.Equal(t) {
		t = fine.Add(time.Millisecond) // the next moment that a message can have
	}
	at := bridge.At(t)
	return &at
}

// until returns the latest time stamp wanted; a date alone means its end.
func (q *query) until() *bridge.Time {
	value, given := q.one("until")
	if !given {
		return nil
	}
	t, wholeDay := q.moment("until", value)
	if wholeDay {
		t = t.Add(24*time.Hour - time.Millisecond)
	}
	at := bridge.At(t)
	return &at
}

// moment reads RFC 3339 or a date alone. A plus sign that was not encoded arrives
// as a space, which can mean nothing else before a zone.
func (q *query) moment(name, value string) (t time.Time, dateAlone bool) {
	if t, err := time.Parse(time.DateOnly, value); err == nil {
		return t, true
	}
	t, err := time.Parse(time.RFC3339, strings.Replace(value, " ", "+", 1))
	if err != nil {
		q.refuse("%s must be a moment like 2026-11-21T08:15:30Z or a date like 2026-11-21", name)
	}
	return t, false
}

// pathParam returns a decoded part of the path. chi leaves parameters encoded
// where it routes by the path as it was sent.
func pathParam(r *http.Request, name string) (string, error) {
	value := chi.URLParam(r, name)
	if r.URL.RawPath == "" {
		return value, nil
	}
	decoded, err := url.PathUnescape(value)
	if err != nil {
		return "", bridge.Invalid("the path is malformed").Because(err)
	}
	return decoded, nil
}

// pathMessageID returns the message id that the path names.
func pathMessageID(r *http.Request) (string, error) { return pathID(r, "msgId") }

// pathID returns an id that its sender chose, as the path names it.
func pathID(r *http.Request, name string) (string, error) {
	segment, err := pathParam(r, name)
	if err != nil {
		return "", err
	}
	id, err := bridge.ParsePathID(segment)
	if err != nil {
		return "", bridge.Invalid("the path: %v", err)
	}
	return id, nil
}

// pathPerson returns the individual chat that the path names.
func pathPerson(r *http.Request) (bridge.JID, error) {
	value, err := pathParam(r, "jid")
	if err != nil {
		return "", err
	}
	return parsePerson("the path", value)
}

// pathGroup returns the group that the path names.
func pathGroup(r *http.Request) (bridge.JID, error) {
	value, err := pathParam(r, "jid")
	if err != nil {
		return "", err
	}
	return parseKind("the path", value, bridge.JID.IsGroup, "a group, as in 120363025246125486@g.us")
}

// parsePerson reads a JID that must name a person, by number or by LID.
func parsePerson(field, value string) (bridge.JID, error) {
	return parseKind(field, value, bridge.JID.IsPerson, "a person, as in 15551234567@s.whatsapp.net")
}

// parseChat reads a JID that must name a chat that can be written to.
func parseChat(field, value string) (bridge.JID, error) {
	canBeWrittenTo := func(jid bridge.JID) bool { return jid.IsPerson() || jid.IsGroup() }
	return parseKind(field, value, canBeWrittenTo, "a person or a group; status updates and broadcast lists are not served")
}

// parseKind reads a JID of one kind. Its errors name the field.
func parseKind(field, value string, fits func(bridge.JID) bool, wanted string) (bridge.JID, error) {
	jid, err := bridge.ParseJID(value)
	if err != nil {
		return "", bridge.Invalid("%s: %v", field, err)
	}
	if !fits(jid) {
		return "", bridge.Invalid("%s must name %s", field, wanted)
	}
	return jid, nil
}
