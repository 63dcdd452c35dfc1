package convert

import (
	"cmp"
	"encoding/base64"
	"net/http"
	"strings"

	"go.mau.fi/whatsmeow/proto/waE2E"

	"bridged/internal/bridge"
)

// adEntry is the prefix of entry points that are ads ("click to WhatsApp"). Others, such as a search
// or a link, are not referrals by themselves.
const adEntry = "ctwa"

var adMedia = map[waE2E.ContextInfo_ExternalAdReplyInfo_MediaType]string{
	waE2E.ContextInfo_ExternalAdReplyInfo_IMAGE: "image", waE2E.ContextInfo_ExternalAdReplyInfo_VIDEO: "video",
}

// referralOf returns the ad or the app through which a person opened the chat, or nil. It does not
// fetch anything.
func referralOf(c *waE2E.ContextInfo) *bridge.Referral {
	ad := c.GetExternalAdReply()
	entry := cmp.Or(c.GetEntryPointConversionSource(), c.GetEntryPointConversionExternalSource())
	payload := c.GetCtwaPayload() // opaque, in the newest of its forms
	for _, older := range [][]byte{c.GetConversionData(), []byte(c.GetCtwaSignals())} {
		if len(payload) == 0 {
			payload = older
		}
	}
	if ad == nil && len(payload) == 0 && c.GetConversionSource() == "" && !strings.HasPrefix(entry, adEntry) {
		return nil
	}
	return &bridge.Referral{
		SourceType: ad.GetSourceType(), SourceID: ad.GetSourceID(), SourceURL: ad.GetSourceURL(),
		Headline: ad.GetTitle(), Body: ad.GetBody(), MediaType: adMedia[ad.GetMediaType()], Thumbnail: thumbnailOf(ad.GetThumbnail()),
		CTWAClid: ad.GetCtwaClid(), EntryPoint: entry, Payload: base64.StdEncoding.EncodeToString(payload), ConversionSource: c.GetConversionSource(),
	}
}

// thumbnailOf returns a picture as a data URL; nil for other data, or too large.
func thumbnailOf(data []byte) *string {
	switch kind := http.DetectContentType(data); kind {
	case "image/jpeg", "image/png", "image/webp":
		url := "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data)
		if len(url) <= bridge.MaxThumbnail {
			return &url
		}
	}
	return nil
}

// withHeadline shows the headline of a message that has nothing but an ad.
func withHeadline(s shown, ad *bridge.Referral) shown {
	if ad != nil && s.text == "" && s.file == nil && s.poll == nil && s.parts.IsZero() {
		s.text = cmp.Or(ad.Headline, ad.Body)
	}
	s.parts.Referral = ad
	return s
}
