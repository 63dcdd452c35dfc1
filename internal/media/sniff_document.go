package media

import (
	"cmp"
	"mime"
	"path"
	"strings"

	"github.com/gabriel-vasile/mimetype"
)

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

// documentType returns the type of a document for which neither caller nor server
// gave one: by its bytes, or by its name if the bytes are just text, an archive or
// unknown.
func documentType(k kind, names ...string) string {
	switch k.sniffed {
	case unknownType, "text/plain", "application/zip", "application/x-ole-storage":
		if byName := extensions[strings.ToLower(path.Ext(cmp.Or(names...)))]; byName != "" {
			return byName
		}
	}
	return usual(k.sniffed)
}

// documentName returns the name of a document: the caller's, else that of the server
// or the URL with a fitting extension, else "document".
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

// fits reports whether an extension suits a type: it is the type's, or the type is so
// unspecific that any may be right.
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

// extensionOf returns the usual extension of a type, with its dot, or empty.
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
	return cmp.Or(found, k.extension)
}
