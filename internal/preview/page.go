package preview

import (
	"bytes"
	"context"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
)

// page holds the metadata of a page, by the names of its tags.
type page map[string]string

func (p page) first(names ...string) string {
	for _, name := range names {
		if strings.TrimSpace(p[name]) != "" {
			return p[name]
		}
	}
	return ""
}

// read parses the tags of a page, the first of each name, until ctx ends.
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

// decode returns a page as UTF-8. A text that is valid UTF-8 is read as UTF-8, whatever the page
// declares, because texts in other character sets are not valid UTF-8.
func decode(body []byte, contentType string) (string, error) {
	marked := bytes.HasPrefix(body, []byte{0xFE, 0xFF}) || bytes.HasPrefix(body, []byte{0xFF, 0xFE})
	if text := whole(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))); !marked && utf8.Valid(text) && bytes.IndexByte(text, 0x1B) < 0 {
		return string(text), nil // an escape character indicates the other ISO 2022 sets
	}
	encoding, _, _ := charset.DetermineEncoding(body, contentType)
	text, err := encoding.NewDecoder().Bytes(body)
	if err != nil {
		return "", errCharset
	}
	return strings.TrimPrefix(string(text), "\uFEFF"), nil
}

// whole removes an incomplete character at the end of a truncated body.
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
