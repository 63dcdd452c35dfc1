package compat

import (
	"cmp"
	"errors"
	"maps"
	"regexp"
	"strings"

	"bridged/internal/bridge"
)

// Fields has the upstream API's names for the fields that the API's refusals name.
type Fields map[string]string

// And returns the names of f and further. Those of further take precedence.
func (f Fields) And(further Fields) Fields {
	all := maps.Clone(f)
	maps.Copy(all, further)
	return all
}

// In returns an error that names its field.
func In(field string, err error) error {
	if known, ok := errors.AsType[*bridge.Error](err); ok && known.Code == bridge.CodeInvalid {
		return bridge.Invalid("%s: %s", field, known.Msg)
	}
	return err
}

// fieldPattern finds a field in a sentence, with its index in a list and its member.
var fieldPattern = regexp.MustCompile(`[A-Za-z]+(\[[0-9]+\])?(\.[A-Za-z]+)?`)

// Rename returns a refusal with the upstream API's names of fields. Refusals begin with the field. Many
// fields are ordinary words, so a later word counts as a field only if it has the form of one.
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

// rename returns the upstream API's name of a field. A member of a list is looked up without its index,
// such as "contacts[].phone".
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
