package convert

import (
	"io"
	"mime/quotedprintable"
	"strings"
)

// vcardProperty is one line of a vCard. Names and parameters are in capitals.
type vcardProperty struct {
	name   string
	params map[string]string
	value  string // as it is written
}

// vcardProperties returns the lines of a card that the apps show, of versions
// 2.1 to 4.0. What is no property is left out.
func vcardProperties(card string) (properties []vcardProperty) {
	for _, line := range first(vcardLines(card)) {
		if p, ok := parseProperty(line); ok {
			properties = append(properties, p)
		}
	}
	return properties
}

// vcardLines returns a card's lines, with those put together again that were
// folded: by a space at the next one's beginning, or in quoted-printable by a
// = at their end.
func vcardLines(card string) (unfolded []string) {
	card = strings.NewReplacer("\r\n ", "", "\r\n\t", "", "\n ", "", "\n\t", "", "\r\n", "\n").Replace(card)
	var folded strings.Builder
	for line := range strings.SplitSeq(card, "\n") {
		if (folded.Len() > 0 || isQuotedPrintable(line)) && strings.HasSuffix(line, "=") {
			folded.WriteString(line[:len(line)-1])
			continue
		}
		folded.WriteString(line)
		unfolded = append(unfolded, folded.String())
		folded.Reset()
	}
	return append(unfolded, folded.String())
}

func isQuotedPrintable(line string) bool {
	head, _, _ := strings.Cut(line, ":")
	return strings.Contains(strings.ToUpper(head), "QUOTED-PRINTABLE")
}

// parseProperty reads "group.NAME;PARAM=value:value".
func parseProperty(line string) (vcardProperty, bool) {
	head, value, found := strings.Cut(line, ":")
	if !found {
		return vcardProperty{}, false
	}
	parts := strings.Split(head, ";")
	name := strings.ToUpper(strings.TrimSpace(parts[0]))
	p := vcardProperty{name: name[strings.LastIndexByte(name, '.')+1:], params: make(map[string]string), value: value}
	for _, param := range first(parts[1:]) {
		key, value, _ := strings.Cut(param, "=")
		p.params[strings.ToUpper(key)] = value
	}
	if isQuotedPrintable(line) {
		if decoded, err := io.ReadAll(quotedprintable.NewReader(strings.NewReader(value))); err == nil {
			p.value = string(decoded)
		}
	}
	return p, true
}

// vcardUnescaper takes back what vcardEscaper does.
var vcardUnescaper = strings.NewReplacer(`\\`, `\`, `\;`, ";", `\,`, ",", `\n`, "\n", `\N`, "\n")

func (p vcardProperty) text() string { return strings.TrimSpace(vcardUnescaper.Replace(p.value)) }

// components returns the parts of a value that are not empty.
func (p vcardProperty) components() (components []string) {
	const escaped = "\x00" // stands for a semicolon that separates nothing
	for part := range strings.SplitSeq(strings.ReplaceAll(p.value, `\;`, escaped), ";") {
		part = strings.TrimSpace(vcardUnescaper.Replace(strings.ReplaceAll(part, escaped, ";")))
		if part != "" {
			components = append(components, part)
		}
	}
	return components
}
