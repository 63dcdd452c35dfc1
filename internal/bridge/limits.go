package bridge

import (
	"cmp"
	"crypto/sha256"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// These limits apply to shown fields with content from other people. A longer text is cut, a
// longer list is shortened and a larger number becomes 0. The stored protobuf stays complete.
// Texts are counted in characters.
const (
	maxName       = 255 // of people, groups and files
	maxUsername   = 64
	maxTopic      = 4096
	maxOption     = 1024
	maxID         = 1024 // of buttons, products and orders
	maxNumber     = 64   // characters of a shown number
	maxEmoji      = 64
	maxMentions   = 1024
	maxOptions    = MaxPollOptions // also of a vote
	maxButtons    = 200            // the apps allow 10, and 10 rows
	maxContacts   = 300            // the apps allow 257
	maxPhones     = 50             // also addresses of one contact
	maxVCards     = 512 << 10      // bytes of all cards of a message
	maxMIMEType   = 255
	maxKey        = 64 // bytes; real ones have 32
	maxDirectPath = 4096
	maxURL        = 4096
	maxPayload    = 32 << 10 // bytes of base64
)

// MaxContent limits the text of a message.
const MaxContent = 65536

// MaxThumbnail limits the data URL of an ad's picture, in bytes.
const MaxThumbnail = 64 << 10

// MaxPollOptions limits the options of a poll, including options that are added later.
const MaxPollOptions = 100

// UnknownMIMEType is the type of a file whose type is missing or cannot be used in a header.
const UnknownMIMEType = "application/octet-stream"

// These are the limits that the tag bound of a field can name. Fields without a tag are not
// limited.
var (
	textLimits = map[string]func(string) string{
		"content": cutTo(MaxContent), "name": cutTo(maxName), "topic": cutTo(maxTopic), "option": cutTo(maxOption), "id": cutTo(maxID),
		"number": cutTo(maxNumber), "emoji": cutTo(maxEmoji), "preview": cutTo(MaxPreview), "emails": cutTo(maxName),
		"label": cutTo(100), // the apps have 30
		// A part of one of these would lead elsewhere, or mean nothing.
		"url": emptyOver(maxURL), "path": emptyOver(maxDirectPath), "payload": emptyOver(maxPayload),
		"mimeType": boundMIMEType, "fileName": PlainFileName,
	}
	countLimits = map[string]int64{
		"size": 2 << 30, "seconds": 30 * 24 * 60 * 60, "pixels": 1 << 16, "pages": 1_000_000, "votes": math.MaxInt32, "items": 1_000_000,
		"album":  1000, // the apps allow 100
		"guests": 1000, // of one person at an event; the apps offer one
	}
	listLimits = map[string]int{
		"mentions": maxMentions, "options": maxOptions, "buttons": maxButtons, "contacts": maxContacts, "phones": maxPhones, "emails": maxPhones,
		"members": math.MaxInt,
		"asking":  1024, // in one notification
	}
	neverNull = map[string]bool{"options": true, "buttons": true, "phones": true, "emails": true, "members": true}
)

func cutTo(most int) func(string) string { return func(s string) string { return cut(s, most) } }

// emptyOver returns a limit that replaces a text by an empty one if it has more than most bytes or is not UTF-8.
func emptyOver(most int) func(string) string {
	return func(s string) string {
		if len(s) > most || !utf8.ValidString(s) {
			return ""
		}
		return s
	}
}

// Bounded returns a fact within the limits.
func Bounded(fact Fact) Fact {
	bounded := reflect.New(reflect.TypeOf(fact)).Elem()
	bounded.Set(reflect.ValueOf(fact))
	bound(bounded)
	return bounded.Interface().(Fact)
}

// Bound applies the limits to m.
func (m *LastMessage) Bound() { bound(reflect.ValueOf(m).Elem()) }

// Bound applies the limits to q.
func (q *Quoted) Bound() { bound(reflect.ValueOf(q).Elem()) }

// bound applies the limits to the fields of a struct. It copies the values of pointers, because
// others may hold the fact, too.
func bound(v reflect.Value) {
	for _, f := range fieldsOf(v.Type()) {
		if !f.isBound {
			continue
		}
		field := v.Field(f.index)
		if field.Kind() == reflect.Pointer {
			if field.IsNil() {
				continue
			}
			copied := reflect.New(field.Type().Elem())
			copied.Elem().Set(field.Elem())
			field.Set(copied)
			field = copied.Elem()
		}
		boundField(field, f.limit)
	}
	if rest, has := v.Addr().Interface().(interface{ boundRest() }); has {
		rest.boundRest()
	}
}

func boundField(field reflect.Value, limit string) {
	switch field.Kind() {
	case reflect.Struct:
		bound(field)
	case reflect.String:
		field.SetString(textLimits[limit](field.String()))
	case reflect.Int, reflect.Int64:
		if n := field.Int(); n < 0 || n > countLimits[limit] {
			field.SetInt(0)
		}
	case reflect.Slice:
		boundList(field, limit)
	}
}

func boundList(field reflect.Value, limit string) {
	switch {
	case limit == "key" && field.Len() > maxKey:
		field.SetZero()
	case limit == "key" || field.IsNil() && !neverNull[limit]:
	default:
		list := reflect.MakeSlice(field.Type(), min(field.Len(), listLimits[limit]), min(field.Len(), listLimits[limit]))
		reflect.Copy(list, field)
		for i := range list.Len() {
			if kind := list.Index(i).Kind(); kind == reflect.Struct || textLimits[limit] != nil {
				boundField(list.Index(i), limit)
			}
		}
		field.Set(list)
	}
}

// field describes a field of a struct.
type field struct {
	index    int
	limit    string
	isBound  bool // it or its fields have a limit
	nameSize int  // size of its name in JSON, with quotes, colon and comma; 0 if it is not shown
}

// plans caches the fields of types.
var plans sync.Map // of []field, by reflect.Type

func fieldsOf(t reflect.Type) []field {
	if known, found := plans.Load(t); found {
		return known.([]field)
	}
	fields := make([]field, t.NumField())
	for i := range fields {
		declared := t.Field(i)
		inner, name := declared.Type, declared.Tag.Get("json")
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		f := field{index: i, limit: declared.Tag.Get("bound")}
		f.isBound = f.limit != "" || declared.IsExported() && inner.Kind() == reflect.Struct &&
			slices.ContainsFunc(fieldsOf(inner), func(f field) bool { return f.isBound })
		if name != "-" {
			f.nameSize = len(cmp.Or(name, declared.Name)) + len(`"":,`)
		}
		fields[i] = f
	}
	plans.Store(t, fields)
	return fields
}

// boundRest drops a location with impossible degrees, and the vCards beyond maxVCards.
func (p *Parts) boundRest() {
	p.Location = p.Location.onEarth()
	cards := 0
	for i := range p.Contacts {
		if cards += len(p.Contacts[i].VCard); cards > maxVCards {
			p.Contacts[i].VCard = ""
		}
	}
}

func (e *CalendarEvent) boundRest() { e.Location = e.Location.onEarth() }

// onEarth returns the location, or nil if its degrees are impossible.
func (p *Place) onEarth() *Place {
	if p == nil || !(math.Abs(p.Latitude) <= 90) || !(math.Abs(p.Longitude) <= 180) {
		return nil
	}
	return p
}

func (r *Referral) boundRest() {
	if r.Thumbnail != nil && len(*r.Thumbnail) > MaxThumbnail {
		r.Thumbnail = nil
	}
}

func (p *PollTally) boundRest() {
	if p.SelectableCount < 0 || p.SelectableCount > len(p.Options) {
		p.SelectableCount = 0
	}
}

// boundRest drops an invalid username. It is not cut, because a part of it may be another
// person's username.
func (c *Contact) boundRest() {
	if name := c.Username; name != nil && (!utf8.ValidString(*name) || utf8.RuneCountInString(*name) > maxUsername ||
		strings.ContainsFunc(*name, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) })) {
		c.Username = nil
	}
}

// boundRest drops hashes that do not have the size of SHA-256.
func (v *PollVote) boundRest() {
	fits := slices.DeleteFunc(slices.Clone(v.Hashes), func(hash []byte) bool { return len(hash) != sha256.Size })
	v.Hashes = fits[:min(len(fits), maxOptions)]
}

// IsDirectPath reports whether a path can belong to a file on the network's media servers:
// appended to a host, it must not lead to another host.
func IsDirectPath(path string) bool {
	if !strings.HasPrefix(path, "/") || strings.ContainsAny(path, "#\\") || textLimits["path"](path) == "" {
		return false
	}
	u, err := url.Parse("https://host" + path)
	return err == nil && u.Host == "host"
}

// boundMIMEType returns a type that can be used in a header.
func boundMIMEType(s string) string {
	essence, params, _ := strings.Cut(s, ";")
	kind, subtype, _ := strings.Cut(strings.TrimRight(essence, " "), "/")
	if len(s) > maxMIMEType || !isToken(kind) || !isToken(subtype) || strings.ContainsFunc(params, func(r rune) bool { return r < ' ' || r > '~' }) {
		return UnknownMIMEType
	}
	return s
}

// isToken reports whether s is a token of RFC 9110, section 5.6.2.
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}
