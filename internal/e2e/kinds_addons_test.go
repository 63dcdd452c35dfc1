package e2e

import (
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/simnet"
)

// ads sends the first messages after an ad: with everything that the apps add, and
// with only the field that they keep to themselves.
func (c *conversation) ads() {
	id := must(c.by.SendText(within(c), c.toMe, "", simnet.ByAd(&waE2E.ContextInfo{
		ExternalAdReply: &waE2E.ContextInfo_ExternalAdReplyInfo{
			Title: proto.String("Boots at half price"), Body: proto.String("Only today"),
			MediaType: waE2E.ContextInfo_ExternalAdReplyInfo_IMAGE.Enum(), SourceType: proto.String("ad"), SourceID: proto.String("120208"),
			SourceURL: proto.String("https://fb.me/abc"), CtwaClid: proto.String("ARAkLk"),
		},
		EntryPointConversionSource: proto.String("ctwa_ad"),
	})))(c)
	ad := object{
		"sourceType": "ad", "sourceId": "120208", "sourceUrl": "https://fb.me/abc", "headline": "Boots at half price", "body": "Only today", "mediaType": "image",
		"thumbnail": nil, "ctwaClid": "ARAkLk", "entryPoint": "ctwa_ad", "payload": "", "conversionSource": "",
	}
	c.wrote(id, "extendedTextMessage", "Boots at half price", object{"referral": ad})

	id = must(c.by.SendText(within(c), c.toMe, "Hello!", simnet.ByAd(&waE2E.ContextInfo{ConversionSource: proto.String("FB_Ads"), ConversionData: []byte{0, 1, 2}})))(c)
	c.wrote(id, "extendedTextMessage", "Hello!", object{"referral": object{
		"sourceType": "", "sourceId": "", "sourceUrl": "", "headline": "", "body": "", "mediaType": "",
		"thumbnail": nil, "ctwaClid": "", "entryPoint": "", "payload": "AAEC", "conversionSource": "FB_Ads",
	}})
}

// albums sends an album with two of its three pictures.
func (c *conversation) albums() {
	album := must(c.by.SendAlbum(within(c), c.toMe, 3, 0))(c)
	c.wrote(album, "albumMessage", "", object{"album": object{"images": 3, "videos": 0, "arrived": 2}})
	for _, data := range []string{"the bytes of the first", "the bytes of the other"} {
		id := must(c.by.SendImage(within(c), c.toMe, simnet.Media{Data: []byte(data), Mimetype: "image/png", Width: 4, Height: 3}, simnet.InAlbum(album)))(c)
		c.wrote(id, "imageMessage", "", object{"albumId": album}, c.media(id, object{
			"type": "image", "mimetype": "image/png", "size": len(data), "caption": "", "width": 4, "height": 3,
		}))
	}
}

// events sends events with answers that change.
func (c *conversation) events() {
	id := must(c.by.SendEvent(within(c), c.toMe, "Party", time.Date(2030, 1, 2, 3, 4, 0, 0, time.UTC)))(c)
	mine := must(c.me.ReceivedID(within(c), id))(c)
	must(c.me.AnswerEvent(within(c), mine, waE2E.EventResponseMessage_NOT_GOING, 0))(c)
	must(c.me.AnswerEvent(within(c), mine, waE2E.EventResponseMessage_GOING, 2))(c)
	maybe := []string{}
	if c.witness != nil {
		theirs := must(c.witness.ReceivedID(within(c), id))(c)
		must(c.witness.AnswerEvent(within(c), theirs, waE2E.EventResponseMessage_MAYBE, 0))(c)
		maybe = append(maybe, c.witness.PN().String())
	}
	c.wrote(id, "eventMessage", "Party", object{"event": object{
		"name": "Party", "description": "", "location": nil,
		"startAt": "2030-01-02T03:04:00.000Z", "endAt": nil, "cancelled": false,
		"responses": object{"going": []string{c.me.PN().String()}, "maybe": maybe, "notGoing": []string{}, "guests": 2},
	}})
}

// extensiblePolls sends a poll with an added option and a vote for it.
func (c *conversation) extensiblePolls() {
	id := must(c.by.Send(within(c), c.toMe, c.by.ExtensiblePoll("When?", []string{"now"})))(c)
	mine, me := must(c.me.ReceivedID(within(c), id))(c), c.me.PN().String()
	must(c.me.AddOption(within(c), mine, "later"))(c)
	must(c.me.Vote(within(c), mine, []string{"later"}))(c)
	c.wrote(id, "pollCreationMessage", "When?", object{"poll": object{"name": "When?", "selectableCount": 0, "options": []object{
		{"name": "now", "votes": 0, "voters": []string{}, "addedBy": nil}, {"name": "later", "votes": 1, "voters": []string{me}, "addedBy": me},
	}}})
}

// marks pins and keeps messages, and undoes that. Only its admin, the account, may
// change the old group.
func (c *conversation) marks() {
	id := say(c, c.by, c.toMe, "remember this", simnet.Ephemeral(chatTimer))
	must(c.me.Pin(within(c), c.toThem, c.bySelf, id, chatTimer*time.Second))(c)
	must(c.me.Keep(within(c), c.toThem, c.bySelf, id, true))(c)
	c.wrote(id, "extendedTextMessage", "remember this", object{"pinnedUntil": afterTimer, "kept": true})

	id = say(c, c.by, c.toMe, "on second thoughts", simnet.Ephemeral(chatTimer))
	must(c.me.Pin(within(c), c.toThem, c.bySelf, id, chatTimer*time.Second))(c)
	must(c.me.Pin(within(c), c.toThem, c.bySelf, id, 0))(c)
	must(c.by.Keep(within(c), c.toMe, simnet.JID{}, id, true))(c)
	must(c.by.Keep(within(c), c.toMe, simnet.JID{}, id, false))(c)
	c.wrote(id, "extendedTextMessage", "on second thoughts", object{"expiresAt": afterTimer})
}
