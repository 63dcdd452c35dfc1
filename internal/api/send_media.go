package api

import (
	"slices"
	"strings"
	"unicode/utf8"

	"bridged/internal/bridge"
	"bridged/internal/media"
)

// maxFileName bounds a document's name, in characters.
const maxFileName = 255

// sendMedia sends a file from a URL. What can be refused without fetching is
// refused first, and nothing is fetched that cannot be sent.
func (s *server) sendMedia(in *input) (any, error) {
	var req struct {
		addressed
		media.Request
	}
	body := in.body(&req, lenient)
	d := in.draftTo(req.addressed)
	d.file = &req.Request
	if in.err == nil {
		in.err = checkFile(req.Request, bridge.MediaImage, bridge.MediaVideo, bridge.MediaAudio, bridge.MediaDocument)
	}
	if req.URL == "" {
		in.refuse("url is required: a public http or https URL")
	}
	if in.err == nil {
		in.err = s.Preparer.Check(req.Request)
	}
	return s.sendOnce(in, body, d)
}

// checkFile reports fields that are missing, or do not belong to the type, which is one
// of some.
func checkFile(f media.Request, types ...bridge.MediaType) error {
	switch {
	case f.Type == "":
		return bridge.Invalid("type is required: image, video, audio or document")
	case !slices.Contains(types, f.Type):
		return bridge.Invalid("type must be one of %s", bridge.Join(types, ", "))
	case f.Caption != "" && (f.Type == bridge.MediaAudio || f.Type == bridge.MediaSticker):
		return bridge.Invalid("caption is for image, video and document only")
	case f.FileName != "" && f.Type != bridge.MediaDocument:
		return bridge.Invalid("fileName is for document only")
	case f.PTT && f.Type != bridge.MediaAudio:
		return bridge.Invalid("ptt is for audio only")
	case utf8.RuneCountInString(f.Caption) > maxText:
		return errCaptionTooLong()
	case !isFileName(f.FileName):
		return bridge.Invalid("fileName must be a name without directories, of at most %d characters", maxFileName)
	}
	return nil
}

// isFileName reports whether a recipient's device can use a name as it is.
func isFileName(name string) bool {
	return bridge.PlainFileName(name) == name && !strings.ContainsAny(name, "/\\\ufeff") && (name == "" || strings.Trim(name, ". ") != "")
}

func errCaptionTooLong() error {
	return bridge.Invalid("caption must have at most %d characters", maxText)
}
