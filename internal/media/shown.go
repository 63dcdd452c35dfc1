package media

import (
	"slices"

	"bridged/internal/bridge"
)

// convertible are the formats of pictures that are sent as JPEG, the only one that all
// apps show.
var convertible = []string{"image/png", "image/apng", "image/gif", "image/webp", "image/bmp"}

// isConverted reports whether a file is sent as JPEG instead.
func (k kind) isConverted(t bridge.MediaType) bool {
	return t == bridge.MediaImage && slices.Contains(convertible, k.sniffed)
}

// isShown reports whether the apps show a file as this kind of media, perhaps after
// it was converted: an image that is JPEG, a video that is MP4. A video of no known
// format may be one.
func (k kind) isShown(t bridge.MediaType) bool {
	switch t {
	case bridge.MediaImage:
		return k.sniffed == jpegType || k.isConverted(t)
	case bridge.MediaVideo:
		return isContainer(k.sniffed) || k.isUnknown()
	}
	return true
}

func notShown(t bridge.MediaType, sniffed string) error {
	shown := "JPEG"
	if t == bridge.MediaVideo {
		shown = "MP4"
	}
	return bridge.Fail(bridge.CodeUnsupportedMedia, "the file is %s, which the apps do not show as %s: send it as a document, or convert it to %s",
		sniffed, article(t), shown)
}
