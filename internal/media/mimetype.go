package media

import (
	"cmp"
	"mime"
	"path"
	"strings"

	"github.com/gabriel-vasile/mimetype"

	"bridged/internal/bridge"
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

// extensions maps extensions to the types of common documents, many of whose bytes
// look like something more general. The system's own table differs between hosts.
var extensions = map[string]string{
	".csv": "text/csv", ".md": "text/markdown", ".json": "application/json", ".xml": "application/xml", ".yaml": "application/yaml", ".yml": "application/yaml",
	".txt": "text/plain", ".log": "text/plain", ".ics": "text/calendar", ".vcf": "text/vcard", ".rtf": "application/rtf", ".html": htmlType, ".htm": htmlType,
	".pdf": "application/pdf", ".zip": "application/zip", ".epub": "application/epub+zip", ".apk": "application/vnd.android.package-archive",
	".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document", ".doc": "application/msword",
	".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ".xls": "application/vnd.ms-excel",
	".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation", ".ppt": "application/vnd.ms-powerpoint",
	".odt": "application/vnd.oasis.opendocument.text", ".ods": "application/vnd.oasis.opendocument.spreadsheet",
	".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".gif": "image/gif", ".webp": "image/webp",
	".mp3": "audio/mpeg", ".ogg": "audio/ogg", ".mp4": "video/mp4", ".mov": "video/quicktime",
}

// scripts are the extensions of programs that generate a file, not of the file.
var scripts = map[string]bool{".php": true, ".asp": true, ".aspx": true, ".jsp": true, ".cgi": true, ".do": true, ".ashx": true}

// documentType returns the type of a document's bytes, or of its name if they are unspecific.
func documentType(k kind, names ...string) string {
	switch k.sniffed {
	case unknownType, "text/plain", "application/zip", "application/x-ole-storage":
		if byName := extensions[strings.ToLower(path.Ext(cmp.Or(names...)))]; byName != "" {
			return byName
		}
	}
	return usual(k.sniffed)
}

// documentName returns the caller's name of a document, else the server's with a fitting extension.
func documentName(given, fetched string, k kind) string {
	if given != "" {
		return given
	}
	mimeType := base(k.mime)
	extension := extensionOf(mimeType, k)
	name := strings.TrimSpace(fetched)
	if own := path.Ext(name); scripts[strings.ToLower(own)] && extension != "" {
		name = strings.TrimSuffix(name, own)
	}
	switch {
	case strings.Trim(name, ".") == "":
		return "document" + cmp.Or(extension, ".bin")
	case fits(path.Ext(name), mimeType):
		return name
	}
	return name + extension
}

// fits reports whether an extension suits a type, as any does that is unspecific.
func fits(extension, mimeType string) bool {
	if len(extension) < 2 {
		return false
	}
	switch mimeType {
	case unknownType, "text/plain", "application/zip":
		return true
	}
	extension = strings.ToLower(extension)
	if known := extensions[extension]; known != "" {
		return known == mimeType
	}
	return knownExtension(mimeType) == extension || base(mime.TypeByExtension(extension)) == mimeType
}

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
