package frame

import "html/template"

// WithBase is for tests of addresses in templates.
var WithBase = withBase

// Pages returns how each page is parsed, by name.
func Pages(t Templates) (map[string]func() (*template.Template, error), error) {
	l, err := NewLayout(t)
	return l.byName, err
}

// HasContentType reports whether assets with an extension have a content type.
func HasContentType(extension string) bool { return contentTypes[extension] != "" }

// BrowserOf is for tests of User-Agents.
var BrowserOf = browserOf
