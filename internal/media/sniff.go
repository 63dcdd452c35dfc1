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
	"bridged/internal/media/disk"
	"bridged/internal/media/probe"
	"bridged/internal/urlguard"
)

// kind is the format of a file to send.
type kind struct {
	probe.Kind
	mime string // the type that it is sent as
}

func sniffKind(file io.ReadSeeker) (kind, error) {
	p, err := probe.Sniff(file)
	return kind{Kind: p}, err
}

// decideKind decides on the type that a file is declared as: the caller's, else the server's if
// it is specific, else the type of the bytes, which must not contradict the kind of media. Computers
// open this type, see [bridge.DeclaredType].
func decideKind(req Request, result urlguard.Result, file io.ReadSeeker) (kind, error) {
	given, err := givenType(req)
	if err != nil {
		return kind{}, err
	}
	k, err := sniffKind(file)
	if err != nil {
		return kind{}, disk.Failed(err)
	}
	served := serverType(result.ContentType)
	if k.MIMEType == probe.HtmlType && req.URL != "" && !htmlIsMeant(req, given, result) {
		return k, bridge.Fail(bridge.CodeFetchFailed, "fetch failed: the server answered with an HTML page instead of the file")
	}
	if req.Type == bridge.MediaDocument {
		k.mime = cmp.Or(given, served, probe.DocumentType(k.Kind, req.FileName, result.FileName))
		return k, nil
	}
	actual := k.actual(req.Type, cmp.Or(given, served), file)
	if actual == "" {
		return k, k.contradiction(req.Type)
	}
	switch req.Type {
	case bridge.MediaSticker:
		k.mime = probe.WebpType
		return k, nil
	case bridge.MediaImage:
		if k.MIMEType != probe.JpegType && !k.isConverted(req.Type) {
			return k, notShown(k.MIMEType)
		}
		k.mime = probe.JpegType // which is sent, whatever the caller and the server say
		return k, nil
	}
	return k, k.declare(req, given, served, actual)
}

// declare sets the type under which an audio file or a video is sent.
func (k *kind) declare(req Request, given, served, actual string) error {
	var isOpened bool
	if k.mime, isOpened = bridge.DeclaredType(req.Type, actual); !isOpened && !req.PTT {
		format := k.MIMEType
		if format == bridge.UnknownMIMEType {
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
				probe.BaseType(given), strings.Join(bridge.OpenedTypes(req.Type), ", "))
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
	return declared, isOpened && (declared != bridge.VoiceType || k.Ogg != nil && k.Ogg.IsOpus)
}

// actual returns the MIME type of the bytes as a kind of media, empty if they are of another. Some formats
// have no signature: then a declared type without one counts.
func (k kind) actual(t bridge.MediaType, declared string, file io.ReadSeeker) string {
	if found := k.TypeAs(t); found != "" || k.MIMEType != bridge.UnknownMIMEType {
		return found
	}
	return unmarked(t, declared, file)
}

// unmarked returns the declared type unless bytes of that type would be recognised.
func unmarked(t bridge.MediaType, declared string, file io.ReadSeeker) string {
	declared = probe.BaseType(declared)
	if t == bridge.MediaSticker || !belongs(declared, t) {
		return ""
	}
	if declared == "audio/mpeg" { // MP3 after other bytes
		if _, err := probe.Guarded(file, probe.MP3Seconds); err != nil {
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
	if k.Ogg == nil || !k.Ogg.IsOpus || given != "" && !isVoice(given) {
		return notVoice(cmp.Or(probe.BaseType(given), k.MIMEType))
	}
	k.mime = bridge.VoiceType
	return nil
}

func notVoice(what string) error {
	return bridge.Fail(bridge.CodeUnsupportedMedia, "a voice note (ptt) must be Ogg with Opus (%s), not %s, and the bridge finds no ffmpeg to convert it: %s, or send it as audio without ptt",
		bridge.VoiceType, what, installFFmpeg)
}

func htmlIsMeant(req Request, given string, result urlguard.Result) bool {
	if req.Type != bridge.MediaDocument {
		return false
	}
	if given != "" {
		return probe.BaseType(given) == probe.HtmlType || probe.BaseType(given) == "application/xhtml+xml"
	}
	switch strings.ToLower(path.Ext(cmp.Or(req.FileName, result.FileName))) {
	case ".html", ".htm", ".xhtml":
		return true
	}
	return false
}

// contradiction returns the error of bytes that are not of a kind of media.
func (k kind) contradiction(t bridge.MediaType) error {
	what := k.MIMEType
	if k.MIMEType == bridge.UnknownMIMEType {
		what = "of no known format"
	}
	hint := "send it as a document"
	switch {
	case t == bridge.MediaVideo && k.AudioType() != "":
		hint = "send it as audio"
	case t == bridge.MediaAudio && k.IsVideo():
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
	return t == bridge.MediaImage && slices.Contains(convertible, k.MIMEType)
}

func notShown(sniffed string) error {
	return bridge.Fail(bridge.CodeUnsupportedMedia, "the file is %s, which the apps do not show as an image: send it as a document, or convert it to JPEG", sniffed)
}
