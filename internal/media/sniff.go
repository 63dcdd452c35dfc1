package media

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/gabriel-vasile/mimetype"

	"bridged/internal/bridge"
	"bridged/internal/urlguard"
)

const (
	unknownType = "application/octet-stream"
	htmlType    = "text/html"
	voiceType   = "audio/ogg; codecs=opus" // of voice notes: some phones play no other
)

// kind describes the format of a file.
type kind struct {
	mime      string // the type that it is sent as
	sniffed   string // the type that its bytes look like, without parameters
	extension string // of the sniffed type, with its dot; may be empty
	movie     *movie // of MP4 and its relatives; nil otherwise
	ogg       *ogg   // of Ogg with Opus or Vorbis; nil otherwise
}

// decideKind decides on the type that a file is sent as: the caller's, else the server's if
// it is specific, else that of the bytes, which must not contradict the kind of media.
func decideKind(req Request, result urlguard.Result, file io.ReadSeeker) (kind, error) {
	given, err := givenType(req)
	if err != nil {
		return kind{}, err
	}
	k, err := sniff(file)
	if err != nil {
		return kind{}, storageFailed(err)
	}
	served := serverType(result.ContentType)
	if k.sniffed == htmlType && req.URL != "" && !htmlIsMeant(req, given, result) {
		return k, bridge.Fail(bridge.CodeFetchFailed, "fetch failed: the server answered with an HTML page instead of the file")
	}
	if req.Type == bridge.MediaDocument {
		k.mime = cmp.Or(given, served, documentType(k, req.FileName, result.FileName))
		return k, nil
	}
	actual := k.family(req.Type)
	if actual == "" && k.sniffed == unknownType {
		// Some formats have no signature: then a declared type without one counts.
		actual = unmarked(req.Type, cmp.Or(given, served), file)
	}
	if actual == "" {
		return k, contradiction(req.Type, k.sniffed)
	}
	if !k.isShown(req.Type) {
		return k, notShown(req.Type, k.sniffed)
	}
	switch req.Type {
	case bridge.MediaSticker:
		k.mime = webpType
		return k, nil
	case bridge.MediaImage:
		k.mime = jpegType // which is sent, whatever the caller and the server say
		return k, nil
	}
	switch {
	case !belongs(served, req.Type):
		served = ""
	case served == "audio/ogg" && actual == voiceType: // the same, more precisely
		served = actual
	}
	k.mime = cmp.Or(given, served, actual)
	return k, k.settleVoice(req, given)
}

func sniff(file io.ReadSeeker) (kind, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return kind{}, err
	}
	m, err := mimetype.DetectReader(file)
	if err != nil {
		return kind{}, err
	}
	k := kind{sniffed: base(m.String()), extension: m.Extension()}
	switch { // a file that these probes cannot read is not refused for that
	case isContainer(k.sniffed):
		k.movie, _ = guarded(file, readMovie)
	case strings.HasSuffix(k.sniffed, "/ogg"):
		k.ogg, _ = guarded(file, readOgg)
	}
	return k, nil
}

func isContainer(sniffed string) bool {
	return slices.Contains([]string{
		"video/mp4", "audio/mp4", "audio/x-m4a", "video/x-m4v", "video/quicktime", "video/3gpp", "video/3gpp2",
	}, sniffed)
}

// family returns the MIME type of the bytes as a kind of media, empty if they are of another.
func (k kind) family(t bridge.MediaType) string {
	major, minor, _ := strings.Cut(k.sniffed, "/")
	switch t {
	case bridge.MediaImage:
		if major == "image" && k.sniffed != "image/svg+xml" {
			return usual(k.sniffed)
		}
	case bridge.MediaSticker:
		if k.isStickerFormat() {
			return usual(k.sniffed)
		}
	case bridge.MediaVideo:
		switch {
		case k.movie != nil && !k.movie.hasVideo, k.ogg != nil:
			return ""
		case k.movie != nil && major == "audio":
			return "video/mp4"
		case major == "video":
			return usual(k.sniffed)
		}
	case bridge.MediaAudio:
		switch {
		case k.ogg != nil && k.ogg.isOpus:
			return voiceType
		case major == "audio", k.sniffed == "application/ogg":
			return usual("audio/" + minor)
		case k.movie != nil && !k.movie.hasVideo:
			return "audio/mp4"
		case k.sniffed == "video/webm": // browsers record sound in it
			return "audio/webm"
		}
	}
	return ""
}

// unmarked returns the declared type unless bytes of that type would be recognised.
func unmarked(t bridge.MediaType, declared string, file io.ReadSeeker) string {
	declared = base(declared)
	if t == bridge.MediaSticker || !belongs(declared, t) {
		return ""
	}
	if declared == "audio/mpeg" { // MP3 behind bytes that belong to no frame
		if _, err := guarded(file, mp3Seconds); err != nil {
			return ""
		}
	} else if mimetype.Lookup(declared) != nil {
		return ""
	}
	return declared
}

func (k *kind) settleVoice(req Request, given string) error {
	if !req.PTT {
		return nil
	}
	if k.ogg == nil || !k.ogg.isOpus || given != "" && !isVoice(given) {
		return notVoice(cmp.Or(base(given), k.sniffed))
	}
	k.mime = voiceType
	return nil
}

func notVoice(what string) error {
	return bridge.Fail(bridge.CodeUnsupportedMedia, "a voice note (ptt) must be Ogg with Opus (%s), not %s, and the bridge finds no ffmpeg to convert it: %s, or send it as audio without ptt",
		voiceType, what, installFFmpeg)
}

func htmlIsMeant(req Request, given string, result urlguard.Result) bool {
	if req.Type != bridge.MediaDocument {
		return false
	}
	if given != "" {
		return base(given) == htmlType || base(given) == "application/xhtml+xml"
	}
	switch strings.ToLower(path.Ext(cmp.Or(req.FileName, result.FileName))) {
	case ".html", ".htm", ".xhtml":
		return true
	}
	return false
}

func contradiction(t bridge.MediaType, sniffed string) error {
	what := sniffed
	if sniffed == unknownType {
		what = "of no known format"
	}
	hint := "send it as a document"
	if t == bridge.MediaVideo && strings.HasPrefix(sniffed, "audio/") {
		hint = "send it as audio"
	}
	return bridge.Fail(bridge.CodeUnsupportedMedia, "the file is %s, not %s: %s, or check the file", what, article(t), hint).
		Because(errors.New("bytes contradict the type"))
}

func article(t bridge.MediaType) string {
	switch t {
	case bridge.MediaImage:
		return "an image"
	case bridge.MediaAudio:
		return "audio"
	}
	return fmt.Sprintf("a %s", t)
}

// convertible are the formats that are sent as JPEG, the only one that all apps show.
var convertible = []string{"image/png", "image/apng", "image/gif", "image/webp", "image/bmp"}

func (k kind) isConverted(t bridge.MediaType) bool {
	return t == bridge.MediaImage && slices.Contains(convertible, k.sniffed)
}

// isShown reports whether the apps show a file as this kind of media, perhaps converted. A
// video of no known format may be MP4.
func (k kind) isShown(t bridge.MediaType) bool {
	switch t {
	case bridge.MediaImage:
		return k.sniffed == jpegType || k.isConverted(t)
	case bridge.MediaVideo:
		return isContainer(k.sniffed) || k.sniffed == unknownType
	}
	return true
}

func notShown(t bridge.MediaType, sniffed string) error {
	shown := "JPEG"
	if t == bridge.MediaVideo {
		shown = "MP4, as convert does"
	}
	return bridge.Fail(bridge.CodeUnsupportedMedia, "the file is %s, which the apps do not show as %s: send it as a document, or convert it to %s",
		sniffed, article(t), shown)
}
