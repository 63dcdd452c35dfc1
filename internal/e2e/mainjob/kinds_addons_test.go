package mainjob

import (
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// ads sends the first messages after an ad: with everything that the apps add, and
// with only the field that they keep to themselves.
func ads(c *Conversation) {
	id := Must(c.By.SendText(Within(c), c.ToMe, "", simnet.ByAd(&waE2E.ContextInfo{
		ExternalAdReply: &waE2E.ContextInfo_ExternalAdReplyInfo{
			Title: proto.String("Boots at half price"), Body: proto.String("Only today"),
			MediaType: waE2E.ContextInfo_ExternalAdReplyInfo_IMAGE.Enum(), SourceType: proto.String("ad"), SourceID: proto.String("120208"),
			SourceURL: proto.String("https://fb.me/abc"), CtwaClid: proto.String("ARAkLk"),
		},
		EntryPointConversionSource: proto.String("ctwa_ad"),
	})))(c)
	ad := Object{
		"sourceType": "ad", "sourceId": "120208", "sourceUrl": "https://fb.me/abc", "headline": "Boots at half price", "body": "Only today", "mediaType": "image",
		"thumbnail": nil, "ctwaClid": "ARAkLk", "entryPoint": "ctwa_ad", "payload": "", "conversionSource": "",
	}
	wrote(c, id, "extendedTextMessage", "Boots at half price", Object{"referral": ad})

	id = Must(c.By.SendText(Within(c), c.ToMe, "Hello!", simnet.ByAd(&waE2E.ContextInfo{ConversionSource: proto.String("FB_Ads"), ConversionData: []byte{0, 1, 2}})))(c)
	wrote(c, id, "extendedTextMessage", "Hello!", Object{"referral": Object{
		"sourceType": "", "sourceId": "", "sourceUrl": "", "headline": "", "body": "", "mediaType": "",
		"thumbnail": nil, "ctwaClid": "", "entryPoint": "", "payload": "AAEC", "conversionSource": "FB_Ads",
	}})
}

// albums sends an album with two of its three pictures.
func albums(c *Conversation) {
	album := Must(c.By.SendAlbum(Within(c), c.ToMe, 3, 0))(c)
	wrote(c, album, "albumMessage", "", Object{"album": Object{"images": 3, "videos": 0, "arrived": 2}})
	for _, data := range []string{"the bytes of the first", "the bytes of the other"} {
		id := Must(c.By.SendImage(Within(c), c.ToMe, simnet.Media{Data: []byte(data), Mimetype: "image/png", Width: 4, Height: 3}, simnet.InAlbum(album)))(c)
		wrote(c, id, "imageMessage", "", Object{"albumId": album}, media(c, id, Object{
			"type": "image", "mimetype": "image/png", "size": len(data), "caption": "", "width": 4, "height": 3, "viewOnce": false,
		}))
	}
}

// events sends events with answers that change.
func events(c *Conversation) {
	id := Must(c.By.SendEvent(Within(c), c.ToMe, "Party", time.Date(2030, 1, 2, 3, 4, 0, 0, time.UTC)))(c)
	mine := Must(c.Me.ReceivedID(Within(c), id))(c)
	Must(c.Me.AnswerEvent(Within(c), mine, waE2E.EventResponseMessage_NOT_GOING, 0))(c)
	Must(c.Me.AnswerEvent(Within(c), mine, waE2E.EventResponseMessage_GOING, 2))(c)
	maybe := []string{}
	if c.Witness != nil {
		theirs := Must(c.Witness.ReceivedID(Within(c), id))(c)
		Must(c.Witness.AnswerEvent(Within(c), theirs, waE2E.EventResponseMessage_MAYBE, 0))(c)
		maybe = append(maybe, c.Witness.PN().String())
	}
	wrote(c, id, "eventMessage", "Party", Object{"event": Object{
		"name": "Party", "description": "", "location": nil,
		"startAt": "2030-01-02T03:04:00.000Z", "endAt": nil, "cancelled": false,
		"responses": Object{"going": []string{c.Me.PN().String()}, "maybe": maybe, "notGoing": []string{}, "guests": 2},
	}})
}

// extensiblePolls sends a poll with an added option and a vote for it.
func extensiblePolls(c *Conversation) {
	id := Must(c.By.Send(Within(c), c.ToMe, c.By.ExtensiblePoll("When?", []string{"now"})))(c)
	mine, me := Must(c.Me.ReceivedID(Within(c), id))(c), c.Me.PN().String()
	Must(c.Me.AddOption(Within(c), mine, "later"))(c)
	Must(c.Me.Vote(Within(c), mine, []string{"later"}))(c)
	wrote(c, id, "pollCreationMessage", "When?", Object{"poll": Object{"name": "When?", "selectableCount": 0, "options": []Object{
		{"name": "now", "votes": 0, "voters": []string{}, "addedBy": nil}, {"name": "later", "votes": 1, "voters": []string{me}, "addedBy": me},
	}}})
}

// marks pins and keeps messages, and undoes that. Only its admin, the account, may
// change the old group.
func marks(c *Conversation) {
	id := Say(c, c.By, c.ToMe, "remember this", simnet.Ephemeral(ChatTimer))
	Must(c.Me.Pin(Within(c), c.ToThem, c.BySelf, id, ChatTimer*time.Second))(c)
	Must(c.Me.Keep(Within(c), c.ToThem, c.BySelf, id, true))(c)
	wrote(c, id, "extendedTextMessage", "remember this", Object{"pinnedUntil": AfterTimer, "kept": true})

	id = Say(c, c.By, c.ToMe, "on second thoughts", simnet.Ephemeral(ChatTimer))
	Must(c.Me.Pin(Within(c), c.ToThem, c.BySelf, id, ChatTimer*time.Second))(c)
	Must(c.Me.Pin(Within(c), c.ToThem, c.BySelf, id, 0))(c)
	Must(c.By.Keep(Within(c), c.ToMe, simnet.JID{}, id, true))(c)
	Must(c.By.Keep(Within(c), c.ToMe, simnet.JID{}, id, false))(c)
	wrote(c, id, "extendedTextMessage", "on second thoughts", Object{"expiresAt": AfterTimer})
}
