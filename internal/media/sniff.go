package media

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"path"
	"strings"

	"github.com/gabriel-vasile/mimetype"

	"bridged/internal/bridge"
	"bridged/internal/urlguard"
)

const (
	unknownType = "application/octet-stream"
	htmlType    = "text/html"
	// voiceType is what voice notes must be: some phones play nothing else.
	voiceType = "audio/ogg; codecs=opus"
)

// kind is what a file was found to be.
type kind struct {
	mime      string // what it is sent as
	sniffed   string // what its bytes look like, without parameters
	extension string // that belongs to the bytes, with its dot; may be empty
	movie     *movie // of MP4 and its relatives; nil otherwise
	ogg       *ogg   // of Ogg with Opus or Vorbis; nil otherwise
}

// isUnknown says that the bytes look like nothing in particular.
func (k kind) isUnknown() bool { return k.sniffed == unknownType }

// decideKind decides what a file is sent as: the caller's type, else the server's
// specific one, else what the bytes look like. Bytes that contradict the kind of
// media are refused: the recipient could not open them.
func decideKind(req Request, result urlguard.Result, file io.ReadSeeker) (kind, error) {
	given, err := givenType(req)
	if err != nil {
		return kind{}, err
	}
	k, err := sniff(file)
	if err != nil {
		return kind{}, storageFailed(err)
	}
	told := serverType(result.ContentType)
	if k.sniffed == htmlType && !htmlIsMeant(req, given, result) {
		return k, bridge.Fail(bridge.CodeFetchFailed, "fetch failed: the server answered with an HTML page in place of the file")
	}
	if req.Type == bridge.MediaDocument {
		k.mime = first(given, told, documentType(k, req.FileName, result.FileName))
		return k, nil
	}
	actual := k.family(req.Type)
	if actual == "" && k.isUnknown() {
		// Some formats have no mark to know them by: then the words count, unless
		// they name a format that does have one, which is missing.
		actual = unmarked(req.Type, first(given, told), file)
	}
	if actual == "" {
		return k, contradiction(req.Type, k.sniffed)
	}
	switch {
	case !belongs(told, req.Type):
		told = ""
	case told == "audio/ogg" && actual == voiceType: // the same, said better
		told = actual
	}
	k.mime = first(given, told, actual)
	return k, k.settleVoice(req, given)
}

// givenType is the caller's MIME type, checked against the kind of media.
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

// serverType is the response's type where it says something: servers answer the
// unspecific ones for whatever they do not know.
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

// usualTypes are the names under which the apps know what others call otherwise.
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

// sniff looks at the bytes.
func sniff(file io.ReadSeeker) (kind, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return kind{}, err
	}
	m, err := mimetype.DetectReader(file)
	if err != nil {
		return kind{}, err
	}
	k := kind{sniffed: base(m.String()), extension: m.Extension()}
	// What the probes below cannot read is no reason to refuse the file.
	switch {
	case isContainer(k.sniffed):
		_ = guarded(file, func(r io.ReadSeeker) (err error) { k.movie, err = readMovie(r); return err })
	case strings.HasSuffix(k.sniffed, "/ogg"):
		_ = guarded(file, func(r io.ReadSeeker) (err error) { k.ogg, err = readOgg(r); return err })
	}
	return k, nil
}

// isContainer says whether a type is MP4 or one of its relatives.
func isContainer(sniffed string) bool {
	switch sniffed {
	case "video/mp4", "audio/mp4", "audio/x-m4a", "video/x-m4v", "video/quicktime", "video/3gpp", "video/3gpp2":
		return true
	}
	return false
}

// family is the MIME type of the bytes as a kind of media, empty where they are
// of another kind. Containers may hold sound, pictures or both.
func (k kind) family(t bridge.MediaType) string {
	major, minor, _ := strings.Cut(k.sniffed, "/")
	switch t {
	case bridge.MediaImage:
		if major == "image" && k.sniffed != "image/svg+xml" {
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
		case k.sniffed == "video/webm": // browsers record sound alone so
			return "audio/webm"
		}
	}
	return ""
}

// unmarked is the declared type of bytes that look like nothing, where that type
// can look like nothing.
func unmarked(t bridge.MediaType, declared string, file io.ReadSeeker) string {
	declared = base(declared)
	if !belongs(declared, t) {
		return ""
	}
	if declared == "audio/mpeg" { // MP3 behind some rubbish
		if guarded(file, func(r io.ReadSeeker) error { _, err := mp3Seconds(r); return err }) == nil {
			return declared
		}
		return ""
	}
	if mimetype.Lookup(declared) != nil {
		return ""
	}
	return declared
}

// settleVoice makes sure that a voice note is one.
func (k *kind) settleVoice(req Request, given string) error {
	if !req.PTT {
		return nil
	}
	if k.ogg == nil || !k.ogg.isOpus || given != "" && !isVoice(given) {
		return notVoice(first(base(given), k.sniffed))
	}
	k.mime = voiceType
	return nil
}

// isVoice says whether a MIME type may be a voice note's.
func isVoice(mimeType string) bool {
	return base(mimeType) == "audio/ogg" || base(mimeType) == "audio/opus"
}

func notVoice(what string) error {
	return bridge.Fail(bridge.CodeUnsupportedMedia, "a voice note (ptt) must be Ogg with Opus (%s), not %s: convert it, or send it as audio without ptt", voiceType, what)
}

// htmlIsMeant says whether a document is supposed to be a web page.
func htmlIsMeant(req Request, given string, result urlguard.Result) bool {
	if req.Type != bridge.MediaDocument {
		return false
	}
	if given != "" {
		return base(given) == htmlType || base(given) == "application/xhtml+xml"
	}
	switch strings.ToLower(path.Ext(first(req.FileName, result.FileName))) {
	case ".html", ".htm", ".xhtml":
		return true
	}
	return false
}

func belongs(mimeType string, t bridge.MediaType) bool {
	if t == bridge.MediaAudio && base(mimeType) == "application/ogg" {
		return true
	}
	return strings.HasPrefix(mimeType, string(t)+"/") && base(mimeType) != "image/svg+xml"
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
	return bridge.Fail(bridge.CodeUnsupportedMedia, "the file at the URL is %s, not %s: %s, or check the URL", what, article(t), hint).
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

// base is a MIME type without its parameters.
func base(mimeType string) string {
	b, _, _ := strings.Cut(mimeType, ";")
	return strings.ToLower(strings.TrimSpace(b))
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
