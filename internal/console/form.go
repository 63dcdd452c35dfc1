package console

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"bridged/internal/client"
)

// form is what a visitor has filled in, with the faults of its fields.
type form struct {
	url.Values
	Wrong map[string]string // sentences, by the names of fields
}

func (v *visit) form() *form { return &form{v.r.PostForm, make(map[string]string)} }

// refuse notes the fault of a field, unless it has one already.
func (f *form) refuse(field, sentence string) {
	if f.Wrong[field] == "" {
		f.Wrong[field] = sentence
	}
}

// words says how a page calls a field of the API.
type words struct{ Field, Label string }

// refusal puts the API's refusal of a form beside the field that it is about, and
// returns the status of the page that shows the form again. Faults of no field are
// announced above; those that concern more than the form are returned.
func (v *visit) refusal(f *form, err error, fields map[string]words) (status int, _ error) {
	refused, ok := errors.AsType[*client.Error](err)
	if !ok || refused.Status == http.StatusUnauthorized || refused.Status == http.StatusNotFound {
		return 0, err
	}
	text := refused.Error()
	end := strings.IndexFunc(text, func(r rune) bool { return r == ' ' || r == ':' || r == '[' })
	if end < 0 {
		end = len(text)
	}
	named, known := fields[text[:end]]
	if !known {
		v.session.notice.Store(&notice{Text: sentence(inWordsOf(fields, text)), Failed: true})
		return refused.Status, nil
	}
	rest := inWordsOf(fields, text[end:])
	if about, found := strings.CutPrefix(rest, ":"); found {
		f.refuse(named.Field, sentence(strings.TrimSpace(about)))
	} else {
		f.refuse(named.Field, sentence(named.Label+rest))
	}
	return refused.Status, nil
}

// inWordsOf replaces the API's names of fields, which are no words of English, by a page's.
func inWordsOf(fields map[string]words, text string) string {
	for name, named := range fields {
		if strings.ToLower(name) != name {
			text = strings.ReplaceAll(text, name, "“"+named.Label+"”")
		}
	}
	return text
}

// answerFaults answers the script with the faults of a form, which it shows beside the fields.
func (v *visit) answerFaults(f *form) error {
	answer := struct {
		problem
		Fields map[string]string `json:"fields"`
	}{problem{Text: "Check the marked fields."}, f.Wrong}
	if len(f.Wrong) == 1 {
		for _, fault := range f.Wrong {
			answer.Text = fault
		}
	}
	writeJSON(v.w, http.StatusBadRequest, answer)
	return nil
}
