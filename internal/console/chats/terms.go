package chats

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/console/frame"
	"bridged/internal/console/names"
	"bridged/internal/console/view"
	"bridged/internal/folding"
)

// terms are the words and filters of a search. In and From are names as typed, or JIDs; From may
// also be "me".
type terms struct {
	Words, In, From, Kind, Accents, Since, Until string
}

// kind is a kind of messages to search for. Its name is used in addresses and operators.
type kind struct {
	Name, Text string
	Type       string // in the API; empty for a mark
	aliases    []string
}

// Kinds that are marks of messages of any type.
const (
	starred    = "starred"
	pinnedKind = "pinned"
)

var searchKinds = []kind{
	{"pictures", "Photos", string(bridge.MediaImage), []string{"picture", "image", "images", "photo", "photos"}},
	{"videos", "Videos", string(bridge.MediaVideo), []string{"video"}},
	{"sound", "Audio", string(bridge.MediaAudio), []string{"sounds", "voice", "audio"}},
	{"files", "Files", string(bridge.MediaDocument), []string{"file", "document", "documents"}},
	{"links", "Links", bridge.TypeLink, []string{"link"}},
	{"stickers", "Stickers", string(bridge.MediaSticker), []string{"sticker"}},
	{starred, "Starred", "", []string{"star", "stars"}},
	{pinnedKind, "Pinned", "", []string{"pin", "pins"}},
}

// kindCalled finds a kind by its name or an alias.
func kindCalled(name string) (kind, bool) {
	name = strings.ToLower(name)
	i := slices.IndexFunc(searchKinds, func(k kind) bool { return k.Name == name || slices.Contains(k.aliases, name) })
	if i < 0 {
		return kind{}, false
	}
	return searchKinds[i], true
}

// operatorPattern matches filters among the words: in:Name, from:"Full Name".
var operatorPattern = regexp.MustCompile(`(?i)(^|\s)(in|from|kind|accents|since|until):("[^"]*"?|“[^”]*”?|\S*)`)

// termsOf reads a search from an address. Filters among the words win over the fields of the form.
func termsOf(query url.Values) terms {
	t := terms{In: query.Get("in"), From: query.Get("from"), Kind: query.Get("kind"), Accents: query.Get("accents"), Since: query.Get("since"), Until: query.Get("until")}
	if t.In == "" {
		t.In = query.Get("chat")
	}
	fields := map[string]*string{"in": &t.In, "from": &t.From, "kind": &t.Kind, "accents": &t.Accents, "since": &t.Since, "until": &t.Until}
	q := query.Get("q")
	for _, found := range operatorPattern.FindAllStringSubmatch(q, -1) {
		if value := strings.Trim(found[3], `"“”`); value != "" {
			*fields[strings.ToLower(found[2])] = value
		}
	}
	t.Words = strings.TrimSpace(operatorPattern.ReplaceAllString(q, "$1"))
	for _, field := range fields {
		*field = strings.TrimSpace(*field)
	}
	return t
}

// query returns the terms as an address has them.
func (t terms) query() url.Values {
	all := map[string]string{"q": t.Words, "in": t.In, "from": t.From, "kind": t.Kind, "accents": t.Accents, "since": t.Since, "until": t.Until}
	maps.DeleteFunc(all, func(_, value string) bool { return value == "" })
	query := make(url.Values, len(all))
	for name, value := range all {
		query.Set(name, value)
	}
	return query
}

func (t terms) path() string { return view.Root + "/search?" + t.query().Encode() }

// isNarrowed reports whether the search has filters.
func (t terms) isNarrowed() bool { return t != terms{Words: t.Words} }

// asTyped is the value of Accents that distinguishes letters with and without accents.
const asTyped = "typed"

// fold returns the folding of a search: accents are ignored unless the words match as typed.
func (t terms) fold() bridge.Fold {
	if t.Words == "" || t.Accents != "" {
		return ""
	}
	return bridge.FoldAccents
}

// isFromMe reports whether the search is for own messages.
func (t terms) isFromMe() bool { return strings.EqualFold(t.From, "me") }

const maxMatches = 8 // suggestions for a name

// chatsCalled returns the chats that match a name: the only exact match, or all that contain it.
func chatsCalled(req *frame.Request, name string) ([]names.Entry, error) {
	page, err := req.API.Chats(req.Context(), bridge.ChatQuery{Q: name, Limit: pageOfChats})
	meant := make([]names.Entry, len(page.Items))
	for i, chat := range page.Items {
		meant[i] = names.EntryOf(chat)
	}
	return exactly(meant, name), err
}

// peopleCalled returns the people who match a name.
func peopleCalled(req *frame.Request, name string) ([]names.Entry, error) {
	page, err := req.API.Contacts(req.Context(), bridge.ContactQuery{Q: name, Limit: pageOfChats})
	meant := make([]names.Entry, len(page.Items))
	for i, contact := range page.Items {
		meant[i] = namedPerson(contact)
	}
	return exactly(meant, name), err
}

// personName returns the name of a person, or the number.
func personName(c bridge.KnownContact) string {
	if name := view.ContactName(c); name != "" {
		return name
	}
	return view.Phone(c.JID)
}

func namedPerson(c bridge.KnownContact) names.Entry {
	return names.Entry{JID: c.JID, Name: personName(c), About: view.Phone(c.JID)}
}

// exactly returns the only exact match, or all.
func exactly(meant []names.Entry, name string) []names.Entry {
	same := slices.DeleteFunc(slices.Clone(meant), func(one names.Entry) bool { return folding.FoldStripped(one.Name) != folding.FoldStripped(name) })
	if len(same) == 1 {
		return same
	}
	return meant
}
