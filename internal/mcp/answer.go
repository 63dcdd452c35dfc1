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
	maxAnswer = 40_000
	// maxPage limits the entries of a list.
	maxPage = 50
	// usualPage is the number of entries where none is asked for.
	usualPage = 20
)

// answer is what a tool, a resource or a prompt shows: facts of the bridge and, below a
// key named "untrusted", the texts and names that other people chose. Clients give a
// model either the structure or the text of an answer, some both. So the text has the
// same in short: lists as rows below the names of their columns.
type answer interface {
	// brief returns the short form, as a value to encode.
	brief() any
}

// facts are what most answers have beside the untrusted part.
type facts struct {
	ChatJID    bridge.JID `json:"chatJid,omitempty"`
	NextCursor *string    `json:"nextCursor,omitempty"` // of the next page, if there is one
}

// short returns the short form of facts and an untrusted part.
func (f facts) short(untrusted map[string]any) map[string]any {
	shown := map[string]any{"untrusted": untrusted}
	if f.ChatJID != "" {
		shown["chatJid"] = f.ChatJID
	}
	if f.NextCursor != nil {
		shown["nextCursor"] = *f.NextCursor
	}
	return shown
}

// notes are the parts of an entry that only some have; zero values are left out.
type notes map[string]any

// behind returns a row of the short form that ends with the notes, if there are any.
func (n notes) behind(cells ...any) []any {
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

// rows returns a list in short.
func rows[T interface{ brief() []any }](list []T) []any {
	short := make([]any, len(list))
	for i, one := range list {
		short[i] = one.brief()
	}
	return short
}

// The columns of rows. Notes may follow them.
var (
	chatColumns    = []string{"jid", "name", "lastMessageAt"}
	personColumns  = []string{"jid", "name"}
	messageColumns = []string{"timestamp", "from", "name", "msgId", "text"}
)

// resultOf returns an answer as the protocol has it. A picture goes before the text.
func resultOf(a answer, picture *sdk.ImageContent) (*sdk.CallToolResult, error) {
	structure, err := bridge.EncodeJSON(a)
	if err != nil {
		return nil, err
	}
	text, err := bridge.EncodeJSON(a.brief())
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

// sizeOf returns the length of an answer as it is sent, in characters.
func sizeOf(a answer) (int, error) {
	result, err := resultOf(a, nil)
	if err != nil {
		return 0, err
	}
	sent, err := json.Marshal(result)
	return utf8.RuneCount(sent), err
}

// fitting returns the answer with as many entries as asked for, or as fit. get returns an
// answer of at most so many entries, and how many it has. One that does not fit alone is
// asked for once more.
func fitting[A answer](most int, get func(most int) (A, int, error)) (A, error) {
	for tried := false; ; {
		a, count, err := get(most)
		if err != nil || count == 0 || tried {
			return a, err
		}
		size, err := sizeOf(a)
		if err != nil || size <= maxAnswer {
			return a, err
		}
		tried = count == 1
		most = max(1, min(count-1, count*maxAnswer/size))
	}
}
