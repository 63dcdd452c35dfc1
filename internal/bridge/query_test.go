package bridge

import "testing"

func TestHasAddress_WantsASchemeAndAHost(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "http": false, "://": false, "https://": false, "http:// x": false, "https://.": false, "www.example.com": false,
		"ftp://example.com": false, "ttp://example.com": false, "http:/example.com": false, "\x00\xffhttps://\xff": false,
		"http://example.com": true, "HTTPS://EXAMPLE.COM": true, "(https://[::1]/)": true, "x http://1.2.3.4:80": true, "xhttp://a": true,
		"https://пример.рф": true, "http://日本.jp": true, "https://éa": true, "ftp://x https://y": true, "http:// http://a": true, "\x00https://a": true,
	} {
		if got := HasAddress(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestParseMessageType_RefusesMisspeltWords(t *testing.T) {
	for _, text := range []string{"media", "link", "image", "video", "audio", "document", "sticker", "conversation", "undecryptable", "call", "chat", "imageMessage", "pollCreationMessageV3"} {
		if got, err := ParseMessageType(text); err != nil || got != text {
			t.Errorf("%q is refused: %v", text, err)
		}
	}
	for _, text := range []string{"", " ", "images", "photo", "Image", "IMAGE", "ImageMessage", "image,video", "image message", "ímageMessage", "links"} {
		if _, err := ParseMessageType(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
