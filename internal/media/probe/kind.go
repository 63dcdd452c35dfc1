// Package probe recognises the formats of files and measures them. The files are untrusted: every
// probe limits its time and memory.
package probe

import (
	"io"
	"slices"
	"strings"

	"github.com/gabriel-vasile/mimetype"

	"bridged/internal/bridge"
)

// Kind describes the format of a file.
type Kind struct {
	MIMEType  string // the type that its bytes look like, without parameters
	extension string // of the sniffed type, with its dot; may be empty
	Movie     *Movie // of containers whose tracks are known; nil otherwise
	Ogg       *ogg   // of Ogg with Opus or Vorbis; nil otherwise
}

func Sniff(file io.ReadSeeker) (Kind, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return Kind{}, err
	}
	m, err := mimetype.DetectReader(file)
	if err != nil {
		return Kind{}, err
	}
	k := Kind{MIMEType: BaseType(m.String()), extension: m.Extension()}
	if k.MIMEType == bridge.UnknownMIMEType {
		if found, _ := Guarded(file, sniffMore); found.MIMEType != "" {
			k = found
		}
	}
	switch { // a file that these probes cannot read is not refused for that
	case isContainer(k.MIMEType):
		k.Movie, _ = Guarded(file, readMovie)
	case k.MIMEType == "video/webm", k.MIMEType == "video/matroska":
		k.Movie, _ = Guarded(file, readMatroska)
	case k.MIMEType == "video/x-ms-asf":
		k.Movie, _ = Guarded(file, readASF)
	case strings.HasSuffix(k.MIMEType, "/ogg"):
		if k.Movie, _ = Guarded(file, readOggVideo); k.Movie == nil {
			k.Ogg, _ = Guarded(file, readOgg)
		}
	}
	return k, nil
}

func isContainer(sniffed string) bool {
	return slices.Contains([]string{
		"video/mp4", "audio/mp4", "audio/x-m4a", "video/x-m4v", "video/quicktime", "video/3gpp", "video/3gpp2",
	}, sniffed)
}

// TypeAs returns the MIME type of the bytes as a kind of media, empty if they are of another.
func (k Kind) TypeAs(t bridge.MediaType) string {
	major, minor, _ := strings.Cut(k.MIMEType, "/")
	switch t {
	case bridge.MediaImage:
		if major == "image" && k.MIMEType != "image/svg+xml" {
			return bridge.UsualType(k.MIMEType)
		}
	case bridge.MediaSticker:
		if k.isStickerFormat() {
			return bridge.UsualType(k.MIMEType)
		}
	case bridge.MediaVideo:
		switch {
		case !k.IsVideo():
			return ""
		case major == "audio":
			return "video/mp4"
		}
		return bridge.UsualType("video/" + minor)
	case bridge.MediaAudio:
		return k.AudioType()
	}
	return ""
}

// IsVideo reports whether a file has moving pictures, or is of a format that is made for them.
func (k Kind) IsVideo() bool {
	if k.Movie != nil {
		return k.Movie.HasVideo
	}
	return k.Ogg == nil && strings.HasPrefix(k.MIMEType, "video/")
}

// AudioType returns the MIME type of an audio file, empty for other files. It is empty for a video, whatever
// its container is.
func (k Kind) AudioType() string {
	major, minor, _ := strings.Cut(k.MIMEType, "/")
	switch {
	case k.IsVideo():
		return ""
	case k.Ogg != nil && k.Ogg.IsOpus:
		return bridge.VoiceType
	case k.Ogg != nil:
		return "audio/ogg; codecs=vorbis"
	case minor == "ogg":
		return "audio/ogg; codecs=unknown"
	case minor == "mp4", minor == "x-m4v", strings.HasPrefix(minor, "3gpp") && k.Movie != nil && k.Movie.IsAudioOf(CodingAAC):
		return "audio/mp4"
	case major == "audio", k.Movie != nil:
		return bridge.UsualType("audio/" + minor)
	}
	return ""
}

// isStickerFormat reports whether a file can be sent as a sticker, perhaps converted.
func (k Kind) isStickerFormat() bool {
	return k.MIMEType == WebpType || k.MIMEType == "image/png" || k.MIMEType == JpegType
}
