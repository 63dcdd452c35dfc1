package mcp

import (
	"encoding/json"
	"reflect"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"bridged/internal/bridge"
)

const (
	// maxAnswer limits an answer as it is sent, in characters. Lists end earlier for it, with
	// a cursor.
	maxAnswer   = 40_000
	maxPage     = 50 // entries of a list
	defaultPage = 20 // entries of a list unless the call says how many
)

// answer is the answer of a tool, a resource or a prompt. Texts and names that other people chose
// are under the key "untrusted". A client gives a model the structure or the text of an answer, or
// both, so the text has the same content in a compact form: lists are rows under the names of their
// columns.
type answer interface {
	// compact returns the value whose JSON is the text.
	compact() any
}

// trusted has the fields that most answers have next to the untrusted part.
type trusted struct {
	ChatJID    bridge.JID `json:"chatJid,omitempty"`
	NextCursor *string    `json:"nextCursor,omitempty"` // of the next page, if there is one
}

// with returns the compact form of t with an untrusted part.
func (t trusted) with(untrusted map[string]any) map[string]any {
	compact := map[string]any{"untrusted": untrusted}
	if t.ChatJID != "" {
		compact["chatJid"] = t.ChatJID
	}
	if t.NextCursor != nil {
		compact["nextCursor"] = *t.NextCursor
	}
	return compact
}

// notes are the fields that only some entries of a list have. Zero values are left out.
type notes map[string]any

// row returns a row of the compact form: the cells, then the notes, if there are any.
func (n notes) row(cells ...any) []any {
	for name, value := range n {
		if value == nil || reflect.ValueOf(value).IsZero() {
			delete(n, name)
		}
	}
	if len(n) > 0 {
		cells = append(cells, n)
	}
	return cells
}

// compactRows returns the rows of a list.
func compactRows[T interface{ compact() []any }](list []T) []any {
	rows := make([]any, len(list))
	for i, one := range list {
		rows[i] = one.compact()
	}
	return rows
}

// The columns of rows, which notes may follow.
var (
	chatColumns    = []string{"jid", "name", "lastMessageAt"}
	personColumns  = []string{"jid", "name"}
	messageColumns = []string{"timestamp", "from", "name", "msgId", "text"}
)

// resultOf returns the protocol's result for an answer. A picture goes before the text.
func resultOf(a answer, picture *sdk.ImageContent) (*sdk.CallToolResult, error) {
	structure, err := bridge.EncodeJSON(a)
	if err != nil {
		return nil, err
	}
	text, err := bridge.EncodeJSON(a.compact())
	if err != nil {
		return nil, err
	}
	result := &sdk.CallToolResult{StructuredContent: json.RawMessage(structure)}
	if picture != nil {
		result.Content = append(result.Content, picture)
	}
	result.Content = append(result.Content, &sdk.TextContent{Text: string(text)})
	return result, nil
}

// sizeOf returns the length of the protocol's result for an answer, in characters.
func sizeOf(a answer) (int, error) {
	result, err := resultOf(a, nil)
	if err != nil {
		return 0, err
	}
	sent, err := json.Marshal(result)
	return utf8.RuneCount(sent), err
}

// maxTries limits how often fitting tries a smaller number of entries before it asks for only one.
const maxTries = 10

// fitting returns an answer with at most the given number of entries, and of at most maxAnswer
// characters. get returns an answer with at most some number of entries, and how many it has. If one
// entry alone is too long, get is called once more, and may shorten it.
func fitting[A answer](most int, get func(most int) (A, int, error)) (A, error) {
	for tries, alone := 1, false; ; tries++ {
		a, count, err := get(most)
		if err != nil || count == 0 || alone {
			return a, err
		}
		size, err := sizeOf(a)
		if err != nil || size <= maxAnswer {
			return a, err
		}
		alone = count == 1 || most == 1
		most = max(1, min(most-1, count-1, count*maxAnswer/size))
		if tries >= maxTries {
			most = 1
		}
	}
}
