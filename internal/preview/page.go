package preview

import (
	"bytes"
	"context"
	"mime"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// page holds what a page says of itself, by the names of its tags.
type page map[string]string

func (p page) first(names ...string) string {
	for _, name := range names {
		if strings.TrimSpace(p[name]) != "" {
			return p[name]
		}
	}
	return ""
}

// read reads the tags of a page, the first of each name, until ctx ends.
func read(ctx context.Context, text string) page {
	found := make(page)
	add := func(name, value string) {
		if _, has := found[name]; !has && strings.TrimSpace(value) != "" {
			found[name] = value
		}
	}
	for z := html.NewTokenizer(strings.NewReader(text)); ctx.Err() == nil; {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		name, hasAttributes := z.TagName()
		switch tag := string(name); {
		case tag == "title":
			if z.Next() == html.TextToken {
				add("title", z.Token().Data)
			}
		case tag == "meta" && hasAttributes:
			add(readMeta(z))
		}
	}
	return found
}

func readMeta(z *html.Tokenizer) (name, content string) {
	for more := true; more; {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch string(key) {
		case "property", "name":
			name = strings.ToLower(strings.TrimSpace(string(value)))
		case "content":
			content = string(value)
		}
	}
	return name, content
}

// charsets has the names of the usual character sets of one byte, as pages spell them.
var charsets = map[string]string{
	"windows-1250": windows1250, "cp1250": windows1250, "iso-8859-2": iso8859x2, "latin2": iso8859x2,
	"windows-1251": windows1251, "cp1251": windows1251, "koi8-r": koi8r,
	"windows-1252": windows1252, "cp1252": windows1252, "iso-8859-1": windows1252, "latin1": windows1252, "us-ascii": windows1252, "iso-8859-15": iso8859x15,
	"windows-1253": windows1253, "iso-8859-7": iso8859x7, "windows-1254": windows1254, "iso-8859-9": windows1254,
	"windows-1255": windows1255, "windows-1256": windows1256, "windows-1257": windows1257, "windows-874": windows874, "tis-620": windows874,
	"": windows1252,
}

// declared matches the character set that a page names in its beginning.
var declared = regexp.MustCompile(`(?i)<meta[^>]{0,200}charset\s*=\s*["']?\s*([a-z0-9_:.-]{1,40})`)

// decode returns a page as UTF-8. What is valid as that is taken for it, whatever the page says:
// texts in other sets are not. Those of several bytes, of which their tables are large, are not read.
func decode(body []byte, contentType string) (string, error) {
	switch {
	case bytes.HasPrefix(body, []byte{0xFE, 0xFF}):
		return decode16(body[2:], 1), nil
	case bytes.HasPrefix(body, []byte{0xFF, 0xFE}):
		return decode16(body[2:], 0), nil
	}
	if text := whole(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))); utf8.Valid(text) && bytes.IndexByte(text, 0x1B) < 0 {
		return string(text), nil // without an escape, which begins the other sets of ISO 2022
	}
	_, parameters, _ := mime.ParseMediaType(contentType)
	name := parameters["charset"]
	if found := declared.FindSubmatch(body[:min(len(body), 4096)]); name == "" && found != nil {
		name = string(found[1])
	}
	switch name = strings.ToLower(strings.TrimSpace(name)); name {
	case "utf-16le", "utf-16":
		return decode16(body, 0), nil
	case "utf-16be":
		return decode16(body, 1), nil
	case "utf-8", "utf8": // with faults
		return strings.ToValidUTF8(string(body), "\uFFFD"), nil
	}
	set := []rune(charsets[name])
	if len(set) == 0 {
		return "", errCharset
	}
	var text strings.Builder
	for _, b := range body {
		if b < utf8.RuneSelf {
			text.WriteByte(b)
		} else {
			text.WriteRune(set[b-utf8.RuneSelf])
		}
	}
	return text.String(), nil
}

// whole leaves out the character that the end of a body has cut.
func whole(body []byte) []byte {
	for i := len(body) - 1; i >= max(0, len(body)-utf8.UTFMax); i-- {
		if utf8.RuneStart(body[i]) {
			if !utf8.FullRune(body[i:]) {
				return body[:i]
			}
			break
		}
	}
	return body
}

// decode16 decodes UTF-16 whose lower byte has a place, 0 or 1.
func decode16(body []byte, low int) string {
	units := make([]uint16, len(body)/2)
	for i := range units {
		units[i] = uint16(body[2*i+low]) | uint16(body[2*i+1-low])<<8
	}
	return string(utf16.Decode(units))
}
