package probe

import (
	"cmp"
	"path"
	"strings"

	"github.com/gabriel-vasile/mimetype"

	"bridged/internal/bridge"
)

// Types of files that are treated specially.
const (
	JpegType = "image/jpeg"
	WebpType = "image/webp"
	HtmlType = "text/html"
)

func BaseType(mimeType string) string {
	b, _, _ := strings.Cut(mimeType, ";")
	return strings.ToLower(strings.TrimSpace(b))
}

// macroType is the end of the types of Office documents with macros, whose bytes look like documents
// without macros.
const macroType = ".macroenabled.12"

// extensions maps extensions to the types of common documents, because the bytes of many fit a more
// general type. The operating system's table differs between hosts.
var extensions = map[string]string{
	".csv": "text/csv", ".md": "text/markdown", ".json": "application/json", ".xml": "application/xml", ".yaml": "application/yaml", ".yml": "application/yaml",
	".txt": "text/plain", ".log": "text/plain", ".ics": "text/calendar", ".vcf": "text/vcard", ".rtf": "application/rtf", ".html": HtmlType, ".htm": HtmlType,
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

// DocumentType returns the type of a document's bytes. If they fit several formats, the document's name decides.
func DocumentType(k Kind, names ...string) string {
	byName := extensions[strings.ToLower(path.Ext(cmp.Or(names...)))]
	switch k.MIMEType {
	case bridge.UnknownMIMEType, "text/plain", "text/csv", "text/tab-separated-values", "text/xml", "application/zip", "application/x-ole-storage":
		return cmp.Or(byName, bridge.UsualType(k.MIMEType))
	}
	if strings.HasSuffix(byName, macroType) && strings.HasPrefix(k.MIMEType, "application/vnd.openxmlformats-officedocument.") {
		return byName
	}
	return bridge.UsualType(k.MIMEType)
}

// Extension returns the usual extension of a type's files, with its dot.
func Extension(mimeType string) string {
	switch mimeType = BaseType(mimeType); mimeType {
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

// knownExtension returns the extension that package mimetype has for a type, or "".
func knownExtension(mimeType string) string {
	if known := mimetype.Lookup(mimeType); known != nil {
		return known.Extension()
	}
	return ""
}

// ExtensionOf returns the usual extension of a type, otherwise the extension of the bytes' format.
func (k Kind) ExtensionOf(mimeType string) string {
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
