package api

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"

	"bridged/internal/api/callers"
	"bridged/internal/api/content"
	"bridged/internal/api/front"
	"bridged/internal/bridge"
)

// input is a request and the server that answers it. Its methods read the path, the parameters
// and the body. The first fault is stored in err, which a handler checks once it has read
// everything; after a fault the methods return zero values.
type input struct {
	*server

	w   http.ResponseWriter
	r   *http.Request
	err error

	values url.Values    // the parameters; nil until one is read
	known  []string      // the names of parameters that were read
	exact  bool          // refuses parameters that are not read
	tagged bool          // the answer has an ETag
	memory *front.Memory // of a list; nil for no list

	ignored []string // names in the body that the request does not have
}

func (q *input) ctx() context.Context { return q.r.Context() }

// caller returns the token of the request.
func (q *input) caller() bridge.Token { return callers.Of(q.r.Context()) }

// body reads the body, a JSON object, into v, and returns its bytes.
func (q *input) body(v any, form front.JSON) (body []byte) {
	if q.err == nil {
		isStrict := form.Strict || front.IsStrict(q.r)
		body, q.err = q.bodies.Decode(q.w, q.r, q.caller().Tree, v, front.JSON{Strict: isStrict, Optional: form.Optional})
		q.document.Announce(q.w, q.r, body)
		if q.err == nil && !isStrict {
			q.ignored = front.UnknownNames(body, v)
		}
	}
	return body
}

// How strictly bodies are read. The oldest routes ignore unknown names and list them in the answer. The
// others refuse unknown names, because a misspelt field would count as omitted.
var (
	lenient  = front.JSON{}
	strict   = front.JSON{Strict: true}
	optional = front.JSON{Strict: true, Optional: true}
)

// reserve waits for the memory of a page before the page is read. It is released after the answer.
func (q *input) reserve() error {
	if q.onlyKnown(); q.err != nil {
		return q.err
	}
	q.memory = q.lists.Answer(q.w, q.caller().Tree, front.AnswerTimeout)
	return q.memory.Reserve(q.ctx(), bridge.PageBytes)
}

// keep stores err if it is the first fault, and returns value.
func keep[T any](q *input, value T, err error) T {
	if q.err == nil {
		q.err = err
	}
	return value
}

func (q *input) refuse(format string, args ...any) {
	if q.err == nil {
		q.err = bridge.Invalid(format, args...)
	}
}

// one returns the value of a parameter, which must not be given more than once.
func (q *input) one(name string) (value string, given bool) {
	q.known = append(q.known, name)
	all, given := q.query()[name]
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

// query returns all parameters.
func (q *input) query() url.Values {
	if q.values == nil {
		values, err := url.ParseQuery(q.r.URL.RawQuery)
		if err != nil {
			q.err = cmp.Or[error](q.err, bridge.Invalid("the query string is malformed; encode its values").Because(err))
		}
		q.values = values
	}
	return q.values
}

// onlyKnown refuses parameters that were not read, if the route or the caller is strict. It is called
// after all of them were read.
func (q *input) onlyKnown() {
	if q.exact || front.IsStrict(q.r) {
		err := front.CheckParameters(q.query(), q.known)
		keep(q, "", err)
	}
}

// text returns a parameter; empty if it is blank.
func (q *input) text(name string) string {
	value, _ := q.one(name)
	if strings.TrimSpace(value) == "" {
		return ""
	}
	return value
}

func (q *input) oneOf(name, fallback string, allowed ...string) string {
	value, given := q.one(name)
	if !given {
		return fallback
	}
	switch {
	case slices.Contains(allowed, value):
	case len(allowed) == 1:
		q.refuse("%s must be %s, or left out", name, allowed[0])
	default:
		q.refuse("%s must be one of %s", name, strings.Join(allowed, ", "))
	}
	return value
}

// limit returns the size of a page, 1 to most.
func (q *input) limit(most int) int {
	return q.number("limit", 100, 1, most, fmt.Sprintf("between 1 and %d", most))
}

func (q *input) offset() int { return q.number("offset", 0, 0, math.MaxInt, "of 0 or more") }

func (q *input) number(name string, usual, least, most int, allowed string) int {
	value, given := q.one(name)
	if !given {
		return usual
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < least || n > most {
		q.refuse("%s must be an integer %s", name, allowed)
	}
	return n
}

// person returns the person that a parameter names.
func (q *input) person(name string) bridge.JID {
	value, given := q.one(name)
	if !given {
		return ""
	}
	jid, err := content.ParseAuthor(name, value)
	return keep(q, jid, err)
}

// since returns the earliest timestamp to return.
func (q *input) since() *bridge.Time { return q.moment("since", bridge.ParseSince) }

// until returns the latest timestamp to return.
func (q *input) until() *bridge.Time { return q.moment("until", bridge.ParseUntil) }

// moment reads a time. A space before the zone is taken for a plus sign that was not escaped.
func (q *input) moment(name string, parse func(string) (bridge.Time, error)) *bridge.Time {
	value, given := q.one(name)
	if !given {
		return nil
	}
	at, err := parse(strings.Replace(value, " ", "+", 1))
	if err != nil {
		q.refuse("%s %v", name, err)
	}
	return &at
}

// path returns a part of the path, unescaped. chi does not unescape it if it routes by RawPath.
func (q *input) path(name string) string {
	value := chi.URLParam(q.r, name)
	if q.r.URL.RawPath == "" {
		return value
	}
	decoded, err := url.PathUnescape(value)
	if err != nil {
		q.refuse("the path is malformed")
	}
	return decoded
}

// pathID returns an id in the path. Senders choose ids, so it may have any characters.
func (q *input) pathID(name string) string {
	id, err := bridge.ParsePathID(q.path(name))
	if err != nil {
		q.refuse("the path: %v", err)
	}
	return id
}

func (q *input) pathChat(name string) bridge.JID {
	jid, err := content.ParseChat("the path", q.path(name))
	return keep(q, jid, err)
}

// pathStored returns a chat that can be read. Messages cannot be sent to an imported one.
func (q *input) pathStored(name string) bridge.JID {
	jid, err := content.ParseStored("the path", q.path(name))
	return keep(q, jid, err)
}

func (q *input) pathMessage(chat string) reference {
	return reference{q.pathChat(chat), q.pathID("msgId")}
}

func (q *input) pathStoredMessage(chat string) reference {
	return reference{q.pathStored(chat), q.pathID("msgId")}
}

func (q *input) pathPerson() bridge.JID {
	jid, err := content.ParsePerson("the path", q.path("jid"))
	return keep(q, jid, err)
}

// pathIndividual returns a chat with one person, or an imported chat.
func (q *input) pathIndividual() bridge.JID {
	jid, err := content.ParseAuthor("the path", q.path("jid"))
	return keep(q, jid, err)
}

func (q *input) pathGroup() bridge.JID {
	jid, err := content.ParseKind("the path", q.path("jid"), bridge.JID.IsGroup, "a group, as in 120363025246125486@g.us")
	return keep(q, jid, err)
}

// pathNumber returns a number in the path. Anything else is refused as not found.
func (q *input) pathNumber(name, nothing string) int64 {
	n, err := strconv.ParseInt(q.path(name), 10, 64)
	if (err != nil || n < 1) && q.err == nil {
		q.err = bridge.NotFound("%s", nothing)
	}
	return n
}
