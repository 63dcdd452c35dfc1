package frame

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/console/view"
)

// MaxChoice limits the name of a chat or a person in a form, in bytes. It bounds the page, which shows wrong names again.
const MaxChoice = 1 << 10

// ErrLongChoice is the error for a name that is longer than MaxChoice.
var ErrLongChoice = Titled(http.StatusBadRequest, "That’s too long", "Enter the name or number of a chat. Separate several with semicolons.")

// Form has the values of a form and the errors of its fields.
type Form struct {
	url.Values
	Wrong map[string]string // error sentences, by the names of fields
}

// NewForm returns a form with values and without errors.
func NewForm(values url.Values) *Form { return &Form{values, make(map[string]string)} }

// Filled returns the form that the request posts.
func (req *Request) Filled() *Form { return NewForm(req.PostForm) }

// Refuse sets the error of a field, unless it has one.
func (f *Form) Refuse(field, sentence string) {
	if f.Wrong[field] == "" {
		f.Wrong[field] = sentence
	}
}

// Label is the name of the form's field for a field of the API, and the label that the page shows for it.
type Label struct{ Field, Label string }

// Refusal shows the API's refusal of a form and returns the page's status. It shows the sentence next to the field that
// the sentence names, or at the top of the page if it names none. It returns errors that are not about the form.
func (req *Request) Refusal(f *Form, err error, fields map[string]Label) (status int, _ error) {
	refused, ok := errors.AsType[*client.Error](err)
	if !ok || refused.Status == http.StatusUnauthorized || refused.Status == http.StatusNotFound {
		return 0, err
	}
	text, known := refused.Message, new(bridge.Error)
	errors.As(err, &known)
	end := strings.IndexFunc(text, func(r rune) bool { return r == ' ' || r == ':' || r == '[' })
	if end < 0 {
		end = len(text)
	}
	named, isNamed := fields[text[:end]]
	rest := withLabels(fields, text[end:])
	sentence, isSentence := strings.CutPrefix(rest, ":")
	switch {
	case !isNamed:
		req.NotifyProblem(req.ProblemOf(err))
	case view.IsSpecific(known):
		f.Refuse(named.Field, view.Refusal(known))
	case isSentence:
		f.Refuse(named.Field, view.Sentence(strings.TrimSpace(sentence)))
	default:
		f.Refuse(named.Field, view.Sentence(named.Label+rest))
	}
	return refused.Status, nil
}

// withLabels replaces the API's names of fields by the page's labels. It leaves names in lower case, which are also words.
func withLabels(fields map[string]Label, text string) string {
	var pairs []string
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(fields))) { // chatJids before chatJid
		if strings.ToLower(name) != name {
			pairs = append(pairs, name, "“"+fields[name].Label+"”")
		}
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// AnswerFaults answers the script with the errors of a form, which it shows next to the fields.
func (req *Request) AnswerFaults(f *Form) error {
	answer := struct {
		Problem
		Fields map[string]string `json:"fields"`
	}{Problem{Text: "Check the marked fields."}, f.Wrong}
	if len(f.Wrong) == 1 {
		for _, fault := range f.Wrong {
			answer.Text = fault
		}
	}
	WriteJSON(req.W, http.StatusBadRequest, answer)
	return nil
}
