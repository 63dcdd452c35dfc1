package bridge

import "testing"

func TestDeclaredType(t *testing.T) {
	for _, c := range []struct {
		kind        MediaType
		given, want string
		ok          bool
	}{
		{MediaImage, "image/jpeg", "image/jpeg", true},
		{MediaImage, "IMAGE/JPG; q=1", "image/jpeg", true},
		{MediaImage, "image/gif", "image/gif", false},
		{MediaImage, "", "image/jpeg", true},
		{MediaVideo, "video/mp4; codecs=avc1", "video/mp4", true},
		{MediaVideo, "video/x-m4v", "video/mp4", true},
		{MediaVideo, "video/3gp", "video/3gpp", true},
		{MediaVideo, "video/3gpp2", "video/3gpp2", false},
		{MediaVideo, "video/quicktime", "video/quicktime", false},
		{MediaAudio, "audio/ogg;codecs=opus", VoiceType, true},
		{MediaAudio, `audio/ogg; codecs="Opus"`, VoiceType, true},
		{MediaAudio, "audio/ogg", VoiceType, true},
		{MediaAudio, "audio/opus", VoiceType, true},
		{MediaAudio, "audio/ogg; codecs=vorbis", "audio/ogg", false},
		{MediaAudio, "audio/mp3", "audio/mpeg", true},
		{MediaAudio, "audio/x-m4a", "audio/mp4", true},
		{MediaAudio, "audio/mpeg; charset", "audio/mpeg", true},
		{MediaAudio, "audio/x-wav", "audio/wav", false},
		{MediaSticker, "image/webp", "image/webp", true},
		{MediaSticker, "image/png", "image/png", false},
		{MediaDocument, "application/pdf", "application/pdf", true},
		{MediaDocument, "audio/wav", "audio/wav", true},
		{MediaDocument, "", "", true},
		{MediaDocument, "image/svg+xml", "application/octet-stream", true},
		{MediaDocument, "Image/SVG+XML ;charset=utf-8", "application/octet-stream", true},
		{MediaDocument, "image/svg+xml; =", "application/octet-stream", true},
		{MediaDocument, "text/plain; charset=iso-8859-1", "text/plain; charset=iso-8859-1", true},
	} {
		if declared, ok := DeclaredType(c.kind, c.given); declared != c.want || ok != c.ok {
			t.Errorf("%s as %s: %q, %v; want %q, %v", c.given, c.kind, declared, ok, c.want, c.ok)
		}
		if again, ok := DeclaredType(c.kind, c.want); ok != c.ok && c.want != "audio/ogg" || c.ok && again != c.want {
			t.Errorf("%s as %s, declared again: %q, %v", c.want, c.kind, again, ok)
		}
	}
}
