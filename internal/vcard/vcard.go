// Package vcard reads the cards of contacts, of the versions 2.1 to 4.0 (RFC 2426, RFC 6350).
package vcard

import (
	"io"
	"mime/quotedprintable"
	"slices"
	"strings"
)

// most bounds how many lines of a card, and parameters of a line, are read.
const most = 4096

// Property holds one line of a card. Names and parameters are in capitals.
type Property struct {
	Name   string
	Params map[string]string
	value  string // as it is written
}

// Properties returns the properties of a card, without the lines that are none.
func Properties(card string) (properties []Property) {
	card = strings.NewReplacer("\r\n ", "", "\r\n\t", "", "\n ", "", "\n\t", "", "\r\n", "\n").Replace(card)
	var folded strings.Builder // in quoted-printable, by a = at the end
	lines := 0
	for line := range strings.SplitSeq(card+"\n", "\n") {
		if lines == most {
			break
		}
		if (folded.Len() > 0 || isQuotedPrintable(line)) && strings.HasSuffix(line, "=") {
			folded.WriteString(line[:len(line)-1])
			continue
		}
		folded.WriteString(line)
		if p, ok := parse(folded.String()); ok {
			properties = append(properties, p)
		}
		folded.Reset()
		lines++
	}
	return properties
}

// NameIn returns whom a card is about: the formatted name, else the parts of the name in the
// order in which people say them, the organization, the e-mail address or the number. It is
// empty for a card that says none of these.
func NameIn(card string) string {
	found := make(map[string]string)
	for _, p := range Properties(card) {
		text := p.Text()
		switch p.Name {
		case "N":
			parts := append(p.Components(), "")
			if len(parts) > 2 { // family name, given name
				parts[0], parts[1] = parts[1], parts[0]
			}
			text = strings.TrimSpace(strings.Join(parts[:min(len(parts), 2)], " "))
		case "ORG":
			text = strings.Join(p.Components(), ", ")
		}
		if text != "" && found[p.Name] == "" {
			found[p.Name] = text
		}
	}
	for _, name := range []string{"FN", "N", "ORG", "EMAIL", "TEL"} {
		if found[name] != "" {
			return strings.TrimPrefix(found[name], "tel:")
		}
	}
	return ""
}

func isQuotedPrintable(line string) bool {
	head, _, _ := strings.Cut(line, ":")
	return strings.Contains(strings.ToUpper(head), "QUOTED-PRINTABLE")
}

// parse reads "group.NAME;PARAM=value:value".
func parse(line string) (Property, bool) {
	head, value, found := strings.Cut(line, ":")
	if !found {
		return Property{}, false
	}
	parts := strings.Split(head, ";")
	name := strings.ToUpper(strings.TrimSpace(parts[0]))
	p := Property{Name: name[strings.LastIndexByte(name, '.')+1:], Params: make(map[string]string), value: value}
	for param := range slices.Values(parts[1:min(len(parts), most)]) {
		key, value, _ := strings.Cut(param, "=")
		p.Params[strings.ToUpper(key)] = value
	}
	if isQuotedPrintable(line) {
		if decoded, err := io.ReadAll(quotedprintable.NewReader(strings.NewReader(value))); err == nil {
			p.value = string(decoded)
		}
	}
	return p, true
}

var unescaper = strings.NewReplacer(`\\`, `\`, `\;`, ";", `\,`, ",", `\n`, "\n", `\N`, "\n")

// Text returns the value as one text.
func (p Property) Text() string { return strings.TrimSpace(unescaper.Replace(p.value)) }

// Components returns the parts of the value that are not empty.
func (p Property) Components() (components []string) {
	const escaped = "\x00" // stands for a semicolon that separates nothing
	for part := range strings.SplitSeq(strings.ReplaceAll(p.value, `\;`, escaped), ";") {
		part = strings.TrimSpace(unescaper.Replace(strings.ReplaceAll(part, escaped, ";")))
		if part != "" {
			components = append(components, part)
		}
	}
	return components
}
