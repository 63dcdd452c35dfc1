package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
)

// EnvFile is the file in the working directory that holds variables, if it is private.
const EnvFile = ".env"

const maxEnvFile = 1 << 20 // bytes

// FileRead is the result of reading a file with variables.
type FileRead struct {
	Name       string   // "" if no file was read
	Set        []string // the names of the variables that it sets
	Overridden []string // the names of the others, which the environment sets
	Warning    string   // a sentence that says why the file was left out
}

// WithEnvFile returns an environment with the variables of a file added. A variable that the
// environment sets wins over the file, also in its other form with or without _FILE. An empty name
// means [EnvFile]: it may be missing, and if other users may read it, it is left out and the warning
// says why.
func WithEnvFile(environ []string, name string) (_ []string, file FileRead, err error) {
	isDefault := name == ""
	if isDefault {
		name = EnvFile
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
			return environ, file, nil
		}
	}
	text, err := readEnvFile(name)
	if exposed, ok := errors.AsType[exposedFile](err); ok && isDefault {
		return environ, FileRead{Warning: exposed.Error() + "; until then it is not read"}, nil
	}
	if err != nil {
		return nil, file, Faults{err.Error()}
	}
	file.Name = name
	own := byCurrentName(environ)
	read, err := parseEnvFile(text)
	if err != nil {
		fault := fmt.Sprintf("%s %v", name, err)
		if isDefault {
			fault += "; if the file is another program's, leave it out with: --env-file " + os.DevNull
		}
		return nil, file, Faults{fault}
	}
	var settings []string
	for _, v := range read {
		name := currentName(v.name)
		_, isSet := own[name]
		if own[twinOf(name)] != "" || isSet {
			file.Overridden = append(file.Overridden, v.name)
			continue
		}
		file.Set = append(file.Set, v.name)
		settings = append(settings, v.name+"="+v.value)
	}
	return slices.Concat(settings, environ), file, nil
}

// exposedFile is the error of a file that other users may read: a sentence with its remedy.
type exposedFile string

func (e exposedFile) Error() string { return string(e) }

// readEnvFile reads a file that only the user who runs this process may read.
func readEnvFile(name string) (text string, err error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrPermission) {
		return "", exposedFile(fmt.Sprintf("%s cannot be read: %v", name, err))
	}
	if err != nil {
		return "", fmt.Errorf("the file with the variables cannot be read: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	switch {
	case info.IsDir():
		return "", fmt.Errorf("%s is a directory, not a file with variables", name)
	case info.Mode()&fs.ModeCharDevice != 0: // such as the null device
	default:
		if remedy := exposure(name, info); remedy != "" {
			return "", exposedFile(remedy)
		}
	}
	data, err := io.ReadAll(io.LimitReader(f, maxEnvFile+1))
	if err != nil {
		return "", fmt.Errorf("%s cannot be read: %w", name, err)
	}
	if len(data) > maxEnvFile {
		return "", fmt.Errorf("%s is too large for a file with variables", name)
	}
	return string(data), nil
}

// variable is a variable that a file sets.
type variable struct{ name, value string }

var (
	comment = regexp.MustCompile(`^[ \t]*([#;].*)?$`)
	setting = regexp.MustCompile(`^[ \t]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*(.*?)[ \t]*$`)
	// plain matches values that systemd and docker compose read in the same way.
	plain = regexp.MustCompile(`^(?:'([^'\x00]*)'|"([^"\\$\x00]*)"|((?:[^'"\\$#\x00 \t](?:[ \t]*[^'"\\$\x00# \t]|#)*)?))$`)
)

// parseEnvFile parses lines NAME=value, with quotes around the value if it needs some, and comments
// on lines of their own. Its error has the number of the line and never the value.
func parseEnvFile(text string) (read []variable, err error) {
	lines := strings.Split(strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n"), "\n")
	for i, line := range lines {
		if comment.MatchString(line) {
			continue
		}
		found := setting.FindStringSubmatch(line)
		if found == nil {
			return nil, fmt.Errorf("line %d must be NAME=value, or a comment that starts with #", i+1)
		}
		value := plain.FindStringSubmatch(found[2])
		if value == nil {
			return nil, fmt.Errorf("line %d has a quote, backslash, $ or # that programs read in different ways: put the value in single quotes, and a comment on a line of its own", i+1)
		}
		read = append(read, variable{found[1], value[1] + value[2] + value[3]})
	}
	return read, nil
}
