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
	voiceType   = bridge.VoiceType
)

// kind describes the format of a file.
type kind struct {
	mime      string // the type that it is sent as
	sniffed   string // the type that its bytes look like, without parameters
	extension string // of the sniffed type, with its dot; may be empty
	movie     *movie // of containers whose tracks are known; nil otherwise
	ogg       *ogg   // of Ogg with Opus or Vorbis; nil otherwise
}

// decideKind decides on the type that a file is declared as: the caller's, else the server's if
// it is specific, else the type of the bytes, which must not contradict the kind of media. Computers
// open this type, see [bridge.DeclaredType].
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
	actual := k.actual(req.Type, cmp.Or(given, served), file)
	if actual == "" {
		return k, k.contradiction(req.Type)
	}
	switch req.Type {
	case bridge.MediaSticker:
		k.mime = webpType
		return k, nil
	case bridge.MediaImage:
		if k.sniffed != jpegType && !k.isConverted(req.Type) {
			return k, notShown(k.sniffed)
		}
		k.mime = jpegType // which is sent, whatever the caller and the server say
		return k, nil
	}
	return k, k.declare(req, given, served, actual)
}

// declare sets the type that a sound or a video is declared as.
func (k *kind) declare(req Request, given, served, actual string) error {
	var isOpened bool
	if k.mime, isOpened = bridge.DeclaredType(req.Type, actual); !isOpened && !req.PTT {
		format := k.sniffed
		if format == unknownType {
			format = k.mime
		}
		return bridge.NotOpened(req.Type, format, installFFmpeg)
	}
	if named, isOpened := k.named(req.Type, served); isOpened {
		k.mime = named
	}
	if given != "" && !req.PTT {
		if k.mime, isOpened = k.named(req.Type, given); !isOpened {
			return bridge.Fail(bridge.CodeUnsupportedMedia, "WhatsApp Web and the Windows app do not open this file as %s: leave mimetype out, or give one of %s",
				base(given), strings.Join(bridge.OpenedTypes(req.Type), ", "))
		}
	}
	return k.settleVoice(req, given)
}

// named returns the type that a caller or a server names, as it is declared, and whether computers open it. Only Ogg
// with Opus is declared as such.
func (k kind) named(t bridge.MediaType, name string) (declared string, isOpened bool) {
	if !belongs(name, t) {
		return "", false
	}
	declared, isOpened = bridge.DeclaredType(t, name)
	return declared, isOpened && (declared != voiceType || k.ogg != nil && k.ogg.isOpus)
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
	if k.sniffed == unknownType {
		if found, _ := guarded(file, sniffMore); found.sniffed != "" {
			k = found
		}
	}
	switch { // a file that these probes cannot read is not refused for that
	case isContainer(k.sniffed):
		k.movie, _ = guarded(file, readMovie)
	case k.sniffed == "video/webm", k.sniffed == "video/matroska":
		k.movie, _ = guarded(file, readMatroska)
	case k.sniffed == "video/x-ms-asf":
		k.movie, _ = guarded(file, readASF)
	case strings.HasSuffix(k.sniffed, "/ogg"):
		if k.movie, _ = guarded(file, readOggVideo); k.movie == nil {
			k.ogg, _ = guarded(file, readOgg)
		}
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
		case !k.isVideo():
			return ""
		case major == "audio":
			return "video/mp4"
		}
		return usual("video/" + minor)
	case bridge.MediaAudio:
		return k.soundType()
	}
	return ""
}

// isVideo reports whether a file has moving pictures, or is of a format that is made for them.
func (k kind) isVideo() bool {
	if k.movie != nil {
		return k.movie.hasVideo
	}
	return k.ogg == nil && strings.HasPrefix(k.sniffed, "video/")
}

// soundType returns the MIME type of a file as sound, empty for other files. It is empty for a video, whatever
// its container is.
func (k kind) soundType() string {
	major, minor, _ := strings.Cut(k.sniffed, "/")
	switch {
	case k.isVideo():
		return ""
	case k.ogg != nil && k.ogg.isOpus:
		return voiceType
	case k.ogg != nil:
		return "audio/ogg; codecs=vorbis"
	case minor == "ogg":
		return "audio/ogg; codecs=unknown"
	case minor == "mp4", minor == "x-m4v", strings.HasPrefix(minor, "3gpp") && k.movie != nil && k.movie.isSoundOf(codingAAC):
		return "audio/mp4"
	case major == "audio", k.movie != nil:
		return usual("audio/" + minor)
	}
	return ""
}

// actual returns the MIME type of the bytes as a kind of media, empty if they are of another. Some formats
// have no signature: then a declared type without one counts.
func (k kind) actual(t bridge.MediaType, declared string, file io.ReadSeeker) string {
	if found := k.family(t); found != "" || k.sniffed != unknownType {
		return found
	}
	return unmarked(t, declared, file)
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

// contradiction returns the error of bytes that are not of a kind of media.
func (k kind) contradiction(t bridge.MediaType) error {
	what := k.sniffed
	if k.sniffed == unknownType {
		what = "of no known format"
	}
	hint := "send it as a document"
	switch {
	case t == bridge.MediaVideo && k.soundType() != "":
		hint = "send it as audio"
	case t == bridge.MediaAudio && k.isVideo():
		hint = "send it as a video"
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

func notShown(sniffed string) error {
	return bridge.Fail(bridge.CodeUnsupportedMedia, "the file is %s, which the apps do not show as an image: send it as a document, or convert it to JPEG", sniffed)
}
