package media

import (
	"mime"
	"path"
	"strings"

	"github.com/gabriel-vasile/mimetype"
)

// extensions name the types that documents often have and whose bytes are those
// of something more general. The system's own table differs from host to host.
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

// scripts end the paths of what made the file, not of the file.
var scripts = map[string]bool{".php": true, ".asp": true, ".aspx": true, ".jsp": true, ".cgi": true, ".do": true, ".ashx": true}

// documentType is the type of a document that nobody named: that of its bytes,
// or of its name where the bytes are only text, an archive or nothing known.
func documentType(k kind, names ...string) string {
	switch k.sniffed {
	case unknownType, "text/plain", "application/zip", "application/x-ole-storage":
		if byName := extensions[strings.ToLower(path.Ext(first(names...)))]; byName != "" {
			return byName
		}
	}
	return usual(k.sniffed)
}

// documentName is what a document is called: as the caller says, else as the
// server or the URL says with an extension that fits, else something plain.
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
		return "document" + first(extension, ".bin")
	case fits(path.Ext(name), mimeType):
		return name
	}
	return name + extension
}

// fits says whether an extension may stand before a type: it is the type's, or
// the type says so little that any may be right.
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
	if m := mimetype.Lookup(mimeType); m != nil && m.Extension() == extension {
		return true
	}
	return base(mime.TypeByExtension(extension)) == mimeType
}

// extensionOf is the usual extension of a type, with its dot, or empty.
func extensionOf(mimeType string, k kind) string {
	if m := mimetype.Lookup(mimeType); m != nil && m.Extension() != "" {
		return m.Extension()
	}
	found := ""
	for extension, known := range extensions {
		if known == mimeType && (found == "" || extension < found) {
			found = extension
		}
	}
	return first(found, k.extension)
}
