package compat

import (
	"cmp"
	"errors"
	"maps"
	"regexp"
	"strings"

	"bridged/internal/bridge"
)

// Fields has the upstream API's names of the fields that bridged's refusals name.
type Fields map[string]string

// And returns f with further names, which come first.
func (f Fields) And(further Fields) Fields {
	all := maps.Clone(f)
	maps.Copy(all, further)
	return all
}

// Of returns a route whose refusals name the upstream API's fields.
func (f Fields) Of(route func(*Call) (Answer, error)) func(*Call) (Answer, error) {
	return func(c *Call) (Answer, error) {
		c.Fields = f
		return route(c)
	}
}

// In returns an error that says which field it is about.
func In(field string, err error) error {
	if known, ok := errors.AsType[*bridge.Error](err); ok && known.Code == bridge.CodeInvalid {
		return bridge.Invalid("%s: %s", field, known.Msg)
	}
	return err
}

// fieldPattern finds a field in a sentence, with its place in a list and its member.
var fieldPattern = regexp.MustCompile(`[A-Za-z]+(\[[0-9]+\])?(\.[A-Za-z]+)?`)

// Rename returns a refusal of bridged with the upstream API's names of fields. Refusals begin
// with the field; later words are only taken for one if they are written like one: many
// fields are ordinary words.
func (f Fields) Rename(sentence string) string {
	out, rest := "", sentence
	for at := fieldPattern.FindStringIndex(rest); at != nil; at = fieldPattern.FindStringIndex(rest) {
		word := rest[at[0]:at[1]]
		isFirst := out == "" && at[0] == 0
		if isFirst || strings.ToLower(word) != word || strings.ContainsAny(word, "[.") {
			word = f.rename(word)
		}
		out, rest = out+rest[:at[0]]+word, rest[at[1]:]
	}
	return out + rest
}

// rename returns the name of one field: of a member of a list, the list and the member are
// looked up, as in "contacts[].phone".
func (f Fields) rename(field string) string {
	list, member, isMember := strings.Cut(field, ".")
	name, index, isList := strings.Cut(list, "[")
	if isList {
		index = "[" + index
	}
	if isMember {
		if renamed, known := f[name+"[]."+member]; known && isList {
			return strings.Replace(renamed, "[]", index, 1)
		}
		return cmp.Or(f[field], field)
	}
	if renamed, known := f[name]; known {
		return renamed + index
	}
	return field
}
