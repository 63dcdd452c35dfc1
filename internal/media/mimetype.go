package media

import (
	"mime"
	"strings"

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

// serverType returns the type of a response if it is specific, empty otherwise:
// servers give the unspecific ones to files that they do not know.
func serverType(contentType string) string {
	base, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return ""
	}
	switch base {
	case unknownType, "binary/octet-stream", "application/x-download", "application/force-download", "application/download", "text/plain", htmlType:
		return ""
	}
	if usual, ok := usualTypes[base]; ok {
		base = usual
	}
	if base == "audio/ogg" && params["codecs"] != "" {
		return mime.FormatMediaType(base, map[string]string{"codecs": params["codecs"]})
	}
	return base
}

// usualTypes maps other names of types to those that the apps use.
var usualTypes = map[string]string{
	"image/jpg": "image/jpeg", "image/pjpeg": "image/jpeg", "image/x-png": "image/png", "image/apng": "image/png",
	"audio/mp3": "audio/mpeg", "audio/x-mpeg": "audio/mpeg", "audio/x-mp3": "audio/mpeg", "audio/x-m4a": "audio/mp4", "audio/m4a": "audio/mp4",
	"audio/x-wav": "audio/wav", "audio/x-aac": "audio/aac", "audio/opus": voiceType, "application/ogg": "audio/ogg", "audio/x-flac": "audio/flac",
	"video/x-m4v": "video/mp4", "application/x-pdf": "application/pdf",
}

func usual(base string) string {
	if u, ok := usualTypes[base]; ok {
		return u
	}
	return base
}

// isVoice reports whether a MIME type may be a voice note's.
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

// base returns a MIME type without its parameters.
func base(mimeType string) string {
	b, _, _ := strings.Cut(mimeType, ";")
	return strings.ToLower(strings.TrimSpace(b))
}
