package urlguard

import (
	"cmp"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxNameBytes is the limit of file systems.
const maxNameBytes = 255

// contentType returns the header in its canonical form, or "".
func contentType(h http.Header) string {
	mediaType, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) || !strings.Contains(mediaType, "/") {
		return ""
	}
	return cmp.Or(mime.FormatMediaType(mediaType, params), mediaType)
}

// fileName returns the server's name for the file, or else the name in the URL. isNamed reports
// whether it is the server's.
func fileName(h http.Header, from *url.URL) (name string, isNamed bool) {
	if _, params, err := mime.ParseMediaType(h.Get("Content-Disposition")); err == nil {
		name := params["filename"]
		// RFC 2047 is not part of HTTP, but servers use it.
		if decoded, err := new(mime.WordDecoder).DecodeHeader(name); err == nil {
			name = decoded
		}
		if name = cleanName(name); name != "" {
			return name, true
		}
	}
	return cleanName(path.Base("/" + from.Path)), false
}

// cleanName removes directories, with either kind of slash, and unprintable characters.
func cleanName(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Zs, r):
			return ' '
		case r == utf8.RuneError || !unicode.IsPrint(r):
			return -1
		}
		return r
	}, name)
	return strings.Trim(shorten(name), " .")
}

// shorten shortens a name. It preserves a short extension.
func shorten(name string) string {
	if len(name) <= maxNameBytes {
		return name
	}
	ext := path.Ext(name)
	if len(ext) > 16 {
		ext = ""
	}
	keep := maxNameBytes - len(ext)
	for keep > 0 && !utf8.RuneStart(name[keep]) {
		keep--
	}
	return name[:keep] + ext
}
