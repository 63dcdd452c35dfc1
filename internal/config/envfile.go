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

	"github.com/caarlos0/env/v11"
)

// EnvFile is the file in the working directory that holds variables, if it is private.
const EnvFile = ".env"

const maxEnvFile = 1 << 20 // bytes

// WithEnvFile returns an environment with the variables of a file, where it does not set them
// itself: one with a name counts as set if its twin with _FILE is. An empty name is [EnvFile],
// which may be missing; if others than its owner may read it, it is left out, and warning says
// why.
func WithEnvFile(environ []string, name string) (_ []string, warning string, err error) {
	isDefault := name == ""
	if isDefault {
		name = EnvFile
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
			return environ, "", nil
		}
	}
	text, err := readEnvFile(name)
	if exposed, is := errors.AsType[exposedFile](err); is && isDefault {
		return environ, exposed.Error() + "; until then it is not read", nil
	}
	if err != nil {
		return nil, "", Faults{err.Error()}
	}
	own := env.ToMap(environ)
	read, err := parseEnvFile(text, own)
	if err != nil {
		fault := fmt.Sprintf("%s %v", name, err)
		if isDefault {
			fault += "; if the file is another program's, leave it out with: --env-file " + os.DevNull
		}
		return nil, "", Faults{fault}
	}
	var settings []string
	for _, v := range read {
		twin := v.name + "_FILE"
		if of, isFile := strings.CutSuffix(v.name, "_FILE"); isFile {
			twin = of
		}
		_, isSet := own[v.name]
		if own[twin] == "" && !isSet {
			settings = append(settings, v.name+"="+v.value)
		}
	}
	return slices.Concat(settings, environ), "", nil
}

// exposedFile says what makes a file private.
type exposedFile string

func (e exposedFile) Error() string { return string(e) }

// readEnvFile reads a file that nobody but its owner, who runs this, may read.
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
	case info.Mode()&fs.ModeCharDevice != 0: // such as the null device, which has none
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

// variable is one that a file sets.
type variable struct{ name, value string }

// envLine matches the beginning of a line: a name, and what sets it apart from its value. One
// without a value takes that of the environment.
var (
	envLine = regexp.MustCompile(`^(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.-]*)[ \t]*(?:[=:][ \t]*|$)`)
	comment = regexp.MustCompile(`^[ \t]*(?:#|$)`)
)

// lineFault is what is wrong with a line. It never tells the value.
func lineFault(line int, format string, args ...any) error {
	return fmt.Errorf("line %d %s", line, fmt.Sprintf(format, args...))
}

// parseEnvFile reads variables as docker compose reads them: comments, quotes, which may go over
// several lines, export, and ${NAME} outside single quotes. It runs nothing.
func parseEnvFile(text string, environ map[string]string) (read []variable, err error) {
	lines := strings.Split(strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n"), "\n")
	known := func(name string) (string, bool) {
		if value, isSet := environ[name]; isSet {
			return value, true
		}
		for _, v := range slices.Backward(read) {
			if v.name == name {
				return v.value, true
			}
		}
		return "", false
	}
	for at := 0; at < len(lines); {
		line := strings.TrimLeft(lines[at], " \t")
		if comment.MatchString(line) {
			at++
			continue
		}
		begin := at + 1
		found := envLine.FindStringSubmatch(line)
		if found == nil {
			return nil, lineFault(begin, "must be NAME=value, or a comment that begins with #")
		}
		if !strings.ContainsAny(found[0], "=:") {
			at++
			continue
		}
		value, last, err := envValue(lines, at, line[len(found[0]):])
		if err != nil {
			return nil, err
		}
		at = last + 1
		if value.expands {
			if value.text, err = expand(value.text, known); err != nil {
				return nil, lineFault(begin, "%v", err)
			}
		}
		if strings.ContainsRune(value.text, 0) {
			return nil, lineFault(begin, "has a zero byte")
		}
		read = append(read, variable{found[1], value.text})
	}
	return read, nil
}

// rawValue is a value before its variables are replaced.
type rawValue struct {
	text    string
	expands bool // not in single quotes
}

// envValue returns the value that begins with rest in a line, and the line that it ends in.
func envValue(lines []string, at int, rest string) (value rawValue, last int, err error) {
	if rest == "" || rest[0] != '"' && rest[0] != '\'' {
		if i := strings.Index(rest, " #"); i >= 0 {
			rest = rest[:i]
		}
		if i := strings.Index(rest, "\t#"); i >= 0 {
			rest = rest[:i]
		}
		if strings.HasPrefix(rest, "#") {
			rest = ""
		}
		return rawValue{strings.TrimRight(rest, " \t"), true}, at, nil
	}
	quote, begin := rest[0], at
	for rest = rest[1:]; ; rest += "\n" + lines[at] {
		if end := closing(rest, quote); end >= 0 {
			if !comment.MatchString(rest[end+1:]) {
				return value, at, lineFault(at+1, "goes on behind the closing quote")
			}
			value = rawValue{rest[:end], quote == '"'}
			if value.expands {
				value.text = escapes.Replace(value.text)
			}
			return value, at, nil
		}
		if at++; at == len(lines) {
			return value, at, lineFault(begin+1, "opens a quote that nothing closes")
		}
	}
}

// closing returns where a quote closes; negative if it does not. In double quotes a backslash
// takes its meaning.
func closing(text string, quote byte) int {
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote == '"':
			i++
		case text[i] == quote:
			return i
		}
	}
	return -1
}

// escapes are those in double quotes. A dollar that stands for itself is two of them until
// variables are replaced.
var escapes = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\$`, `$$`, `\n`, "\n", `\r`, "\r", `\t`, "\t")

// reference matches a dollar with what it refers to.
var reference = regexp.MustCompile(`\$(?:(\$)|([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?:(:?-)([^{}$]*))?\})?`)

// expand replaces the variables in a value. A dollar that means anything else is a fault, as it
// would be to docker compose.
func expand(value string, known func(string) (string, bool)) (_ string, err error) {
	expanded := reference.ReplaceAllStringFunc(value, func(found string) string {
		part := reference.FindStringSubmatch(found)
		name := part[2] + part[3]
		switch {
		case part[1] != "":
			return "$"
		case name == "":
			err = errors.New("has a $ that names no variable: put the value in single quotes, or write $$")
			return ""
		}
		of, isSet := known(name)
		if !isSet && part[4] != "" || of == "" && part[4] == ":-" {
			return part[5]
		}
		return of
	})
	return expanded, err
}
