package frame

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// entry is the script of all pages. It is served as one file with the scripts that it imports, since a browser takes longer
// for forty. Scripts that are imported by a call, import("./…"), stay files.
const entry = "console.js"

// The forms that imports and exports of scripts may have. Each begins a line.
var (
	importLine  = regexp.MustCompile(`^import (?:(\{[^}]*\}|\* as \w+) from )?"\./([a-z]+)\.js";(?m:$)`)
	exportLine  = regexp.MustCompile(`^export \{([^}]*)\};(?m:$)`)
	exportWord  = regexp.MustCompile(`^export ((?:async )?(?:function|const) (\w+))`)
	otherModule = regexp.MustCompile(`(?m)^(?:import|export)\b.*`)
)

// join is a script that consists of several modules. Each module becomes a function that returns its exports, as in
// const $base = (() => {…})();
type join struct {
	files    fs.FS
	script   bytes.Buffer
	exports  map[string]map[string]bool // of the scripts that are in it
	open     []string                   // the scripts that are being read, each imported by the one before
	sections []section
}

// section is a part of a source map in which each line is a line of one source.
type section struct {
	Offset struct {
		Line   int `json:"line"`
		Column int `json:"column"`
	} `json:"offset"`
	Map sourceMap `json:"map"`
}

// sourceMap tells a browser's debugger from which files a script was made (ECMA-426).
type sourceMap struct {
	Version  int       `json:"version"`
	Sources  []string  `json:"sources,omitempty"`
	Mappings string    `json:"mappings,omitempty"`
	Sections []section `json:"sections,omitempty"`
}

// joinScripts returns the entry with all that it imports, and its source map.
func joinScripts(files fs.FS) (script, sources []byte, err error) {
	j := join{files: files, exports: make(map[string]map[string]bool)}
	if err = j.add(strings.TrimSuffix(entry, ".js")); err != nil {
		return nil, nil, fmt.Errorf("join the scripts: %w", err)
	}
	sources, err = json.Marshal(sourceMap{Version: 3, Sections: j.sections})
	return j.script.Bytes(), sources, err
}

// add adds a script after those that it imports.
func (j *join) add(name string) error {
	if j.exports[name] != nil {
		return nil
	}
	if slices.Contains(j.open, name) {
		return fmt.Errorf("%s imports itself through %v", name, j.open)
	}
	j.open = append(j.open, name)
	source, err := fs.ReadFile(j.files, "assets/"+name+".js")
	exports := make(map[string]bool)
	joined := make([]byte, 0, len(source))
	for rest := source; len(rest) > 0; {
		if bytes.HasPrefix(rest, []byte("import ")) || bytes.HasPrefix(rest, []byte("export ")) {
			statement, replacement, invalid := j.replace(name, rest, exports)
			err = errors.Join(err, invalid)
			joined, rest = append(joined, replacement...), rest[len(statement):]
		}
		line, after, _ := bytes.Cut(rest, []byte("\n"))
		if bytes.HasPrefix(line, []byte("import")) || bytes.HasPrefix(line, []byte("export")) {
			if other := otherModule.Find(line); other != nil {
				err = errors.Join(err, fmt.Errorf("%s has an import or export in a form that cannot be joined: %s", name, other))
			}
		}
		joined, rest = append(joined, rest[:len(rest)-len(after)]...), after
	}
	j.open, j.exports[name] = j.open[:len(j.open)-1], exports
	j.write(name, joined)
	return err
}

// replace returns the import or export that a text of a script begins with, and what replaces it. It adds the scripts that
// are imported and the names that are exported. The statement is empty if it has none of the known forms.
func (j *join) replace(name string, text []byte, exports map[string]bool) (statement []byte, replacement string, err error) {
	if found := importLine.FindSubmatch(text); found != nil {
		replacement, err = j.importFrom(name, string(found[1]), string(found[2]))
		return found[0], replacement, err
	}
	if found := exportLine.FindSubmatch(text); found != nil {
		for one := range strings.SplitSeq(string(found[1]), ",") {
			exports[strings.TrimSpace(one)] = true
		}
		return found[0], "", nil
	}
	if found := exportWord.FindSubmatch(text); found != nil {
		exports[string(found[2])] = true
		return found[0], string(found[1]), nil
	}
	return nil, "", nil
}

// importFrom adds another script, and returns the statement that declares the imported names: "{ … }", "* as name" or none.
func (j *join) importFrom(name, names, other string) (string, error) {
	err := j.add(other)
	if names == "" {
		return "", err
	}
	if all, isAll := strings.CutPrefix(names, "* as "); isAll {
		return "const " + all + " = $" + other + ";", err
	}
	for one := range strings.SplitSeq(strings.Trim(names, "{}"), ",") {
		if one, _, _ = strings.Cut(strings.TrimSpace(one), " as "); !j.exports[other][one] {
			err = errors.Join(err, fmt.Errorf("%s imports %q, which %s does not export", name, one, other))
		}
	}
	return "const " + strings.ReplaceAll(names, " as ", ": ") + " = $" + other + ";", err
}

// write writes a script as a function, and its lines to the source map.
func (j *join) write(name string, source []byte) {
	fmt.Fprintf(&j.script, "const $%s = (() => {\n", name)
	part := section{Map: sourceMap{Version: 3, Sources: []string{name + ".js"}}}
	part.Offset.Line = bytes.Count(j.script.Bytes(), []byte("\n"))
	// The first line begins at the source's first, each other one a line after the one before.
	part.Map.Mappings = "AAAA" + strings.Repeat(";AACA", bytes.Count(source, []byte("\n")))
	j.sections = append(j.sections, part)
	j.script.Write(source)
	fmt.Fprintf(&j.script, "return { %s };\n})();\n", strings.Join(slices.Sorted(maps.Keys(j.exports[name])), ", "))
}
