package media

import (
	"cmp"
	"mime"
	"path"
	"regexp"
	"strings"
	"unicode"

	"github.com/gabriel-vasile/mimetype"

	"bridged/internal/bridge"
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
	case unknownType, "binary/octet-stream", "application/x-download", "application/force-download", "application/download", "text/plain", htmlType:
		return ""
	}
	if base = usual(base); base == "audio/ogg" && params["codecs"] != "" {
		return mime.FormatMediaType(base, map[string]string{"codecs": params["codecs"]})
	}
	return base
}

// usual returns the usual name of a type without parameters.
func usual(base string) string { return bridge.UsualType(base) }

func isVoice(mimeType string) bool {
	return base(mimeType) == "audio/ogg" || base(mimeType) == "audio/opus"
}

func belongs(mimeType string, t bridge.MediaType) bool {
	if t == bridge.MediaAudio && base(mimeType) == "application/ogg" {
		return true
	}
	if t == bridge.MediaSticker {
		t = bridge.MediaImage
	}
	return strings.HasPrefix(mimeType, string(t)+"/") && base(mimeType) != "image/svg+xml"
}

func base(mimeType string) string {
	b, _, _ := strings.Cut(mimeType, ";")
	return strings.ToLower(strings.TrimSpace(b))
}

// macroType ends the types of Office documents with macros, whose bytes are those of documents without.
const macroType = ".macroenabled.12"

// extensions maps extensions to the types of common documents, many of whose bytes
// look like something more general. The system's own table differs between hosts.
var extensions = map[string]string{
	".csv": "text/csv", ".md": "text/markdown", ".json": "application/json", ".xml": "application/xml", ".yaml": "application/yaml", ".yml": "application/yaml",
	".txt": "text/plain", ".log": "text/plain", ".ics": "text/calendar", ".vcf": "text/vcard", ".rtf": "application/rtf", ".html": htmlType, ".htm": htmlType,
	".pdf": "application/pdf", ".zip": "application/zip", ".epub": "application/epub+zip", ".apk": "application/vnd.android.package-archive",
	".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document", ".doc": "application/msword",
	".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ".xls": "application/vnd.ms-excel",
	".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation", ".ppt": "application/vnd.ms-powerpoint",
	".docm": "application/vnd.ms-word.document" + macroType, ".xlsm": "application/vnd.ms-excel.sheet" + macroType, ".pptm": "application/vnd.ms-powerpoint.presentation" + macroType,
	".gpx": "application/gpx+xml", ".kml": "application/vnd.google-earth.kml+xml",
	".odt": "application/vnd.oasis.opendocument.text", ".ods": "application/vnd.oasis.opendocument.spreadsheet",
	".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".gif": "image/gif", ".webp": "image/webp",
	".mp3": "audio/mpeg", ".ogg": "audio/ogg", ".mp4": "video/mp4", ".mov": "video/quicktime",
}

// scripts are the extensions of programs that generate a file, not of the file.
var scripts = map[string]bool{".php": true, ".asp": true, ".aspx": true, ".jsp": true, ".cgi": true, ".do": true, ".ashx": true}

// documentType returns the type of a document's bytes. If they fit several formats, the document's name decides.
func documentType(k kind, names ...string) string {
	byName := extensions[strings.ToLower(path.Ext(cmp.Or(names...)))]
	switch k.sniffed {
	case unknownType, "text/plain", "text/csv", "text/tab-separated-values", "text/xml", "application/zip", "application/x-ole-storage":
		return cmp.Or(byName, usual(k.sniffed))
	}
	if strings.HasSuffix(byName, macroType) && strings.HasPrefix(k.sniffed, "application/vnd.openxmlformats-officedocument.") {
		return byName
	}
	return usual(k.sniffed)
}

// documentName returns the name under which a document is sent: the caller's, else the server's. A given name is sent
// as it is. A name from a URL gets an extension if it has none, or the one of a script.
func documentName(given string, result urlguard.Result, k kind) string {
	name := strings.TrimSpace(result.FileName)
	switch {
	case given != "":
		return given
	case result.IsNamed && !placeholders[name] && strings.Trim(name, ".") != "":
		return name
	}
	extension := extensionOf(base(k.mime), k)
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

// version matches the end of a name like report.v2, which is no extension.
var version = regexp.MustCompile(`^\.[vV][0-9]+$`)

// placeholders lists the names that programs give to a file without a name: browsers ("blob"), and our own clients.
var placeholders = map[string]bool{"blob": true, "file": true}

// Extension returns the usual extension of a type's files, with its dot.
func Extension(mimeType string) string {
	switch mimeType = base(mimeType); mimeType {
	case "audio/ogg", "application/ogg", "audio/opus":
		return ".ogg"
	case "audio/mp4", "audio/x-m4a", "audio/m4a":
		return ".m4a"
	case "audio/mp3":
		return ".mp3"
	case "image/jpg":
		return ".jpg"
	}
	return cmp.Or(knownExtension(mimeType), ".bin")
}

// knownExtension returns the extension that the library knows of a type, empty for none.
func knownExtension(mimeType string) string {
	if known := mimetype.Lookup(mimeType); known != nil {
		return known.Extension()
	}
	return ""
}

func extensionOf(mimeType string, k kind) string {
	if known := knownExtension(mimeType); known != "" {
		return known
	}
	found := ""
	for extension, known := range extensions {
		if known == mimeType && (found == "" || extension < found) {
			found = extension
		}
	}
	return cmp.Or(found, k.extension)
}
