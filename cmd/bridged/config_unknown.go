package main

import (
	"reflect"
	"slices"
	"strings"
)

// misspelling names a variable of the environment that bridged does not read,
// and the one that was probably meant.
type misspelling struct{ name, meant string }

func (m misspelling) String() string {
	return m.name + " is set, but not a variable of bridged: did you mean " + m.meant + "?"
}

// misspellings returns the variables that nearly have the name of one that
// bridged reads, in the order of the alphabet.
func misspellings(environ []string) (found []misspelling) {
	known := variables()
	for _, setting := range environ {
		name, _, _ := strings.Cut(setting, "=")
		if slices.Contains(known, name) {
			continue
		}
		if meant := meantVariable(name, known); meant != "" {
			found = append(found, misspelling{name, meant})
		}
	}
	slices.SortFunc(found, func(a, b misspelling) int { return strings.Compare(a.name, b.name) })
	return found
}

// meantVariable returns the known variable that differs from name in its case,
// in a letter or two, or in how its last word ends ("ENABLE_SENDING").
func meantVariable(name string, known []string) string {
	plain := strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
	for _, variable := range known {
		ending, longer := strings.CutPrefix(plain, variable)
		if longer && len(ending) <= len("ING") && !strings.Contains(ending, "_") {
			return variable
		}
	}
	// A third of a short name is another word.
	if len(plain) < len("CONSOLE") {
		return ""
	}
	return nearest(plain, known...)
}

// variables returns the names of all variables that bridged reads.
func variables() (names []string) {
	for field := range reflect.TypeFor[config]().Fields() {
		if name := field.Tag.Get("env"); name != "" {
			names = append(names, name)
		}
	}
	return names
}
