package bridge

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Label is a label of a business account for chats and messages. It has an id that all of the
// account's devices know.
type Label struct {
	ID    string `json:"id" bound:"name"`
	Name  string `json:"name" bound:"label"`
	Color int    `json:"color"` // an index into the colours of the apps, 0 to 19
}

// StoredLabel is a label in the list of labels. Chats counts the chats that have it, and that the
// reader may see.
type StoredLabel struct {
	Label
	Chats int `json:"chats"`
}

// LabelChange reports that one of the account's devices created, changed or deleted a label. The
// last change counts. Predefined is the number of a label that the apps have from the beginning,
// or 0.
type LabelChange struct {
	Label
	Predefined int
	Deleted    bool
	Timestamp  Time
}

// ChatLabel reports that one of the account's devices labelled a chat, or removed the label. The
// last change counts. The chat may be stored later.
type ChatLabel struct {
	Chat      JID
	Label     string `bound:"name"`
	Labelled  bool
	Timestamp Time
}

// MessageLabel is a [ChatLabel] for one message. If By, the account, is empty, a label of a message
// that is not stored is ignored.
type MessageLabel struct {
	Chat      JID
	Target    string
	Label     string `bound:"name"`
	By        JID
	Labelled  bool
	Timestamp Time
}

func (LabelChange) fact()  {}
func (ChatLabel) fact()    {}
func (MessageLabel) fact() {}

// LabelUpdate is the content of an event about a label.
type LabelUpdate struct {
	Label
	Deleted bool `json:"isDeleted"`
}

// LabelQuery asks for labels: the one with an id, or all if it is empty. Only, if not nil, lists the
// chats that the reader may see: labels that none of them and none of their messages has are left
// out.
type LabelQuery struct {
	Only []JID
	ID   string
}

// LabelPatch creates or changes a label. Nil fields stay unchanged.
type LabelPatch struct {
	Name  *string `json:"name,omitempty"`
	Color *int    `json:"color,omitempty"`
}

const (
	maxLabelName = 100 // characters
	// LabelColors is the number of colours of labels.
	LabelColors = 20
)

// Check returns an error of [CodeInvalid] if no label can be changed so.
func (p LabelPatch) Check() error {
	switch {
	case p == (LabelPatch{}):
		return Invalid("give at least one of name and color")
	case p.Name != nil && (strings.TrimSpace(*p.Name) == "" || utf8.RuneCountInString(*p.Name) > maxLabelName || strings.ContainsFunc(*p.Name, unicode.IsControl)):
		return Invalid("name must have 1 to %d characters, in one line", maxLabelName)
	case p.Color != nil && (*p.Color < 0 || *p.Color >= LabelColors):
		return Invalid("color must be between 0 and %d", LabelColors-1)
	}
	return nil
}

// On returns a label after the change.
func (p LabelPatch) On(label Label) Label {
	SetIf(&label.Name, p.Name)
	SetIf(&label.Color, p.Color)
	return label
}

// NoLabel returns the error for a label that does not exist, or that a reader may not see.
func NoLabel(id string) *Error {
	return NotFound("there is no label %s: GET /api/labels lists the labels", id)
}

// HasLabels reports whether the account of a phone has labels, as far as its app says.
func (u User) HasLabels() bool { return u.Platform == "smba" || u.Platform == "smbi" }
