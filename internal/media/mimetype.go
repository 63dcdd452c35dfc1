package media

import (
	"cmp"
	"mime"
	"path"
	"regexp"
	"strings"
	"unicode"

	"bridged/internal/bridge"
	"bridged/internal/media/probe"
	"bridged/internal/urlguard"
)

// givenType returns the caller's MIME type, checked against the kind of media.
func givenType(req Request) (string, error) {
	if req.MimeType == "" {
		return "", nil
	}
	base, params, err := mime.ParseMediaType(req.MimeType)
	if err != nil || !strings.Contains(base, "/") {
		return "", bridge.Invalid("mimetype must be a MIME type such as image/jpeg")
	}
	if req.Type != bridge.MediaDocument && !belongs(base, req.Type) {
		return "", bridge.Fail(bridge.CodeUnsupportedMedia, "mimetype %s does not belong to type %s", base, req.Type)
	}
	return mime.FormatMediaType(base, params), nil
}

// serverType returns the type of a response, empty if servers give it to files they do not know.
func serverType(contentType string) string {
	base, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return ""
	}
	switch base {
	case bridge.UnknownMIMEType, "binary/octet-stream", "application/x-download", "application/force-download", "application/download", "text/plain", probe.HtmlType:
		return ""
	}
	if base = bridge.UsualType(base); base == "audio/ogg" && params["codecs"] != "" {
		return mime.FormatMediaType(base, map[string]string{"codecs": params["codecs"]})
	}
	return base
}

func isVoice(mimeType string) bool {
	return probe.BaseType(mimeType) == "audio/ogg" || probe.BaseType(mimeType) == "audio/opus"
}

func belongs(mimeType string, t bridge.MediaType) bool {
	if t == bridge.MediaAudio && probe.BaseType(mimeType) == "application/ogg" {
		return true
	}
	if t == bridge.MediaSticker {
		t = bridge.MediaImage
	}
	return strings.HasPrefix(mimeType, string(t)+"/") && probe.BaseType(mimeType) != "image/svg+xml"
}

// scripts are the extensions of programs that generate a file, not of the file.
var scripts = map[string]bool{".php": true, ".asp": true, ".aspx": true, ".jsp": true, ".cgi": true, ".do": true, ".ashx": true}

// documentName returns the name of a document to send: the caller's, or else the server's. The
// caller's name is not changed. A name from a URL gets an extension if it has none, or a script's.
func documentName(given string, result urlguard.Result, k kind) string {
	name := strings.TrimSpace(result.FileName)
	switch {
	case given != "":
		return given
	case result.IsNamed && !placeholders[name] && strings.Trim(name, ".") != "":
		return name
	}
	extension := k.ExtensionOf(probe.BaseType(k.mime))
	own := path.Ext(name)
	if scripts[strings.ToLower(own)] && extension != "" {
		name, own = strings.TrimSuffix(name, own), ""
	}
	switch {
	case strings.Trim(name, ".") == "":
		return "document" + cmp.Or(extension, ".bin")
	case strings.ContainsFunc(own, unicode.IsLetter) && !version.MatchString(own):
		return name
	}
	return name + extension
}

// version matches the end of a name like report.v2, which is not an extension.
var version = regexp.MustCompile(`^\.[vV][0-9]+$`)

// placeholders lists the names that programs give to a file without a name: browsers ("blob"), and our own clients.
var placeholders = map[string]bool{"blob": true, "file": true}
