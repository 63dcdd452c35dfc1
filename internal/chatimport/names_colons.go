package chatimport

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"bridged/internal/bridge"
	"bridged/internal/folding"
)

// colonNames returns a function that reports whether a text with colons is a name: of the request, in the name of the export's
// file, or of a person who is not hidden from the caller.
func (j *job) colonNames(ctx context.Context) (func(name string) bool, error) {
	known := make(map[string]bool)
	for name := range j.r.Names {
		known[foldName(name)] = true
	}
	people := j.i.o.Store.NamesWithColons()
	hidden, err := j.r.hidden(ctx, slices.Concat(slices.Collect(maps.Values(people))...))
	if err != nil {
		return nil, err
	}
	for name, all := range people {
		if slices.ContainsFunc(all, func(jid bridge.JID) bool { return !hidden[jid] }) {
			known[foldName(name)] = true
		}
	}
	files := []string{lettersOf(j.r.FileName), lettersOf(j.archive.TextName())}
	return func(name string) bool {
		letters := lettersOf(name + ".")
		return known[foldName(name)] || letters != "" && slices.ContainsFunc(files, func(file string) bool { return strings.HasSuffix(file, letters) })
	}, nil
}

// lettersOf returns the letters and digits of a file's name, without its extension and the number of a copy. File systems and
// browsers replace colons, so the other characters do not count.
func lettersOf(file string) string {
	file = strings.TrimSuffix(file, path.Ext(file))
	if i := strings.LastIndex(file, " ("); i > 0 && strings.Trim(file[i:], " (0123456789)") == "" {
		file = file[:i]
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, folding.Fold(file))
}
