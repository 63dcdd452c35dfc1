package bridge

import (
	"mime"
	"slices"
	"strings"
)

// VoiceType is the MIME type of voice notes. Some phones play no other type.
const VoiceType = "audio/ogg; codecs=opus"

// openedTypes lists the declared MIME types that WhatsApp Web and the Windows app open for each
// kind of file. They compare them character by character before they download a file, and
// silently refuse every other type (WhatsApp Web's modules of October 2026; whatsapp-web.js
// 201908). A document may have any type except [drawingType]. The first type of each kind is the
// one that the apps send.
var openedTypes = map[MediaType][]string{
	MediaImage:   {"image/jpeg", "image/png", "image/webp"},
	MediaVideo:   {"video/mp4", "video/3gpp"}, // GIFs and round videos, too
	MediaAudio:   {VoiceType, "audio/mp4", "audio/mpeg", "audio/aac", "audio/amr"},
	MediaSticker: {"image/webp"},
}

// drawingType is refused for documents, too, in upper and lower case.
const drawingType = "image/svg+xml"

// otherNames maps other names of types to the usual ones.
var otherNames = map[string]string{
	"image/jpg": "image/jpeg", "image/pjpeg": "image/jpeg", "image/x-png": "image/png", "image/apng": "image/png",
	"audio/mp3": "audio/mpeg", "audio/mpeg3": "audio/mpeg", "audio/x-mpeg": "audio/mpeg", "audio/x-mp3": "audio/mpeg",
	"audio/x-m4a": "audio/mp4", "audio/m4a": "audio/mp4", "audio/x-mp4a": "audio/mp4", "audio/x-aac": "audio/aac", "audio/amr-nb": "audio/amr",
	"audio/x-wav": "audio/wav", "audio/wave": "audio/wav", "audio/vnd.wave": "audio/wav", "audio/x-flac": "audio/flac", "audio/x-aiff": "audio/aiff",
	"audio/opus": VoiceType, "application/ogg": "audio/ogg",
	"video/x-m4v": "video/mp4", "video/3gp": "video/3gpp", "video/3g2": "video/3gpp2", "application/x-pdf": "application/pdf",
}

// UsualType returns the usual name of a MIME type without parameters.
func UsualType(base string) string {
	if usual, known := otherNames[base]; known {
		return usual
	}
	return base
}

// OpenedTypes returns the declared types that computers open as a kind of file, or nil for
// documents.
func OpenedTypes(t MediaType) []string { return slices.Clone(openedTypes[t]) }

// DeclaredType returns the MIME type to declare when a file is sent: the given type, in the form
// that computers compare. Ogg without codecs is declared as Opus, and a missing type as the type
// that the apps send. ok is false if computers do not open such a file as this kind: it must be
// converted, or sent as a document.
func DeclaredType(t MediaType, mimeType string) (declared string, ok bool) {
	base, params, err := mime.ParseMediaType(mimeType)
	if err != nil { // the parameters may be damaged
		base, _, _ = strings.Cut(mimeType, ";")
		base = strings.ToLower(strings.TrimSpace(base))
	}
	opened, limited := openedTypes[t]
	switch {
	case !limited && base == drawingType:
		return "application/octet-stream", true
	case !limited:
		return mimeType, true
	case base == "":
		return opened[0], true
	}
	base = UsualType(base)
	if base == "audio/ogg" && (params["codecs"] == "" || strings.EqualFold(params["codecs"], "opus")) {
		base = VoiceType
	}
	return base, slices.Contains(opened, base)
}

// NotOpened returns the error for a file in a format that computers do not open as a kind. The
// remedy follows "send it as a document, or".
func NotOpened(t MediaType, format, remedy string) *Error {
	return Fail(CodeUnsupportedMedia, "the file is %s, which WhatsApp Web and the Windows app do not open as %s: send it as a document, or %s", format, t, remedy)
}
