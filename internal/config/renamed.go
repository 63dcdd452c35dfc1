package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/caarlos0/env/v11"
)

// rename is the new name of a variable.
type rename struct {
	name string
	// until is the minor version that no longer reads the former name, such as 1.4: the next one after
	// the version that renamed it. In that version the entry is moved to retired.
	until string
}

// renamed has the variables with a new name, by their former names. It also applies to their forms
// with _FILE. A test fails in the version in which an entry has to be moved.
var renamed = map[string]rename{}

// renameOf returns the new name of a variable, and whether it has one.
func renameOf(name string) (rename, bool) {
	if to, ok := renamed[name]; ok {
		return to, true
	}
	base, isFile := strings.CutSuffix(name, "_FILE")
	to, ok := renamed[base]
	to.name += "_FILE"
	return to, isFile && ok && slices.Contains(Variables(), to.name)
}

// currentName returns the name by which bridged knows a variable.
func currentName(name string) string {
	if to, ok := renameOf(name); ok {
		return to.name
	}
	return name
}

// byCurrentName returns the variables of an environment. It adds the new name of each variable with a
// former name, unless the new one is set, with or without _FILE.
func byCurrentName(environ []string) map[string]string {
	values := env.ToMap(environ)
	former := make(map[string]string)
	for name, value := range values {
		if to, ok := renameOf(name); ok && values[to.name] == "" && values[twinOf(to.name)] == "" {
			former[to.name] = value
		}
	}
	maps.Copy(values, former)
	return values
}

// twinOf returns the other form of a variable, with or without _FILE.
func twinOf(name string) string {
	if of, isFile := strings.CutSuffix(name, "_FILE"); isFile {
		return of
	}
	return name + "_FILE"
}

// renameWarning returns a sentence about a variable with a former name; empty for other names.
func renameWarning(name string, values map[string]string) string {
	to, ok := renameOf(name)
	switch {
	case !ok:
		return ""
	case values[to.name] != "":
		return name + " is ignored, because " + to.name + " is set, which is its new name: remove " + name
	}
	return name + " has a new name, " + to.name + ": rename it, because bridged " + to.until + " no longer reads " + name
}
