package config

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
)

// Described is a variable as the comment of its field in [Config] describes it.
type Described struct {
	Name, Default string
	About         string // in Markdown, as a row of docs/configuration.md
}

//go:embed config.go
var source string

// describedField matches a field of [Config] with its comment.
var describedField = regexp.MustCompile("(?m)((?:^\t// .*\n)+)^\t\\w+ +\\S+ +`env:\"(\\w+)\"(?: envDefault:\"([^\"]*)\")?`$")

// Describe returns all variables in the order of [Config].
func Describe() (all []Described) {
	for _, field := range describedField.FindAllStringSubmatch(source, -1) {
		comment := strings.Join(strings.Fields(strings.ReplaceAll(field[1], "\t//", "")), " ")
		all = append(all, Described{Name: field[2], Default: field[3], About: strings.TrimSuffix(comment, ".")})
	}
	return all
}

// These are sources of values. A variable of a file has the file's name instead.
const (
	FromEnvironment = "environment"
	FromDefault     = "default"
)

// Explained is a variable with its value, its source and its fault.
type Explained struct {
	Described
	Value    string // the effective value, or the written one if it has a fault; "set" for a secret
	Secret   bool
	IsSet    bool
	From     string // [FromEnvironment], the name of a file, or [FromDefault]
	File     string // the name of the _FILE variable that names the value's file
	Override string // the file that sets this variable, too, but is overridden; "" if none
	Fault    string // "" if none
}

// Explanation is an explained configuration.
type Explanation struct {
	Variables []Explained
	Unknown   []Remark // about variables that bridged does not read
	Remarks   []Remark // about other variables
	Faults    Faults   // all faults, also those in Variables; bridged does not start while there are any
}

// Remark is a sentence without its subject.
type Remark struct{ Name, Sentence string }

func remarkOf(sentence string) Remark {
	name, rest, _ := strings.Cut(sentence, " ")
	return Remark{strings.TrimSuffix(name, ":"), rest}
}

// Explain explains the configuration of an environment, to which variables of a file were added.
func Explain(environ []string, file FileRead) Explanation {
	c, faults := Examine(environ)
	e := Explanation{Faults: faults}
	given, values := byCurrentName(environ), map[string]Setting{}
	for _, s := range c.Settings() {
		values[s.Name] = s
	}
	for _, d := range Describe() {
		v := Explained{Described: d, Value: values[d.Name].Value, Secret: isSecret(d.Name) && d.Default == "", From: FromDefault, Fault: faultOf(d.Name, faults)}
		written := given[d.Name]
		if written == "" && given[d.Name+"_FILE"] != "" && slices.Contains(Variables(), d.Name+"_FILE") {
			v.File = d.Name + "_FILE"
		}
		if v.IsSet = written != "" || v.File != ""; v.IsSet {
			v.From = sourceOf([]string{d.Name, v.File}, file)
		}
		if v.Fault != "" && written != "" {
			v.Value = shownSetting(d.Name, written)
		}
		if d.Name == "FFMPEG" && v.Value == "" {
			v.Value = c.FFmpegPath
		}
		if lists(file.Overridden, d.Name) {
			v.Override = file.Name
		}
		e.Variables = append(e.Variables, v)
	}
	for _, sentence := range slices.Concat(c.Warnings, faults) {
		if remark := remarkOf(sentence); !slices.Contains(Variables(), remark.Name) {
			e.Remarks = append(e.Remarks, remark)
		}
	}
	e.addUnknown(c.Misspelt, file)
	return e
}

// faultOf returns the fault of a variable without its name, which faults begin with.
func faultOf(name string, faults Faults) string {
	for _, fault := range faults {
		if remark := remarkOf(fault); remark.Name == name {
			return remark.Sentence
		}
	}
	return ""
}

// sourceOf returns the source of the first of some variables that is set.
func sourceOf(names []string, file FileRead) string {
	for _, name := range names {
		if lists(file.Set, name) {
			return file.Name
		}
	}
	return FromEnvironment
}

// lists reports whether a list has a variable, also under its former name.
func lists(list []string, variable string) bool {
	return slices.ContainsFunc(list, func(name string) bool { return currentName(name) == variable })
}

// readByCommands lists variables that [Config] does not have, because commands and libraries read them.
var readByCommands = append([]string{"BRIDGE_URL", "TZ", "NO_COLOR", "COLUMNS", "TMPDIR"}, chatwootVariables...)

// addUnknown adds variables that look misspelt, and those of the file that bridged does not read.
func (e *Explanation) addUnknown(misspelt []string, file FileRead) {
	known := slices.Concat(Variables(), readByCommands)
	for _, sentence := range misspelt {
		remark := remarkOf(sentence)
		e.Unknown = append(e.Unknown, remark)
		known = append(known, remark.Name)
	}
	for _, name := range slices.Concat(file.Set, file.Overridden) {
		if !slices.Contains(known, name) {
			e.Unknown = append(e.Unknown, Remark{name, "is set in " + file.Name + ", but not a variable of bridged"})
		}
	}
}
