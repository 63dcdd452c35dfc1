package e2e

import (
	"fmt"
	"testing"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// conversation is a chat of the account in which a person writes every kind of
// message, with the API's expected answers.
type conversation struct {
	testing.TB
	me, by  *simnet.Phone // the account's own phone, and the person's
	witness *simnet.Phone // another member of a group; nil in a direct chat
	in      simnet.JID    // the chat, from the account's side
	toMe    simnet.JID    // the chat, from by's side
	toThem  simnet.JID    // the chat, from the side of the account's phone
	bySelf  simnet.JID    // by's identity in this chat
	meHere  simnet.JID    // the account's identity in this chat
	shown   []object
}

// chatTimer is the disappearing timer of the direct chats, in seconds.
const chatTimer = 86400

// shows records the next expected message of the history.
func (c *conversation) shows(m object) { c.shown = append(c.shown, m) }

// wrote records a message by the person.
func (c *conversation) wrote(id simnet.MessageID, kind, content string, changes ...object) {
	c.shows(message(id, c.by, kind, content, changes...))
}

// download returns the path of a message's file.
func (c *conversation) download(id simnet.MessageID) string {
	return bridge.DownloadPath(bridge.JID(c.in.String()), id)
}

// everyKind writes one message of every kind, and everything that changes a message
// afterwards.
func (c *conversation) everyKind() {
	c.texts()
	c.pictures()
	c.sounds()
	c.documents()
	c.places()
	c.cards()
	c.polls()
	c.extensiblePolls()
	c.ads()
	c.albums()
	c.events()
	c.marks()
	c.reactions()
	c.edits()
	c.deletions()
	c.ownMessages()
}

func (c *conversation) texts() {
	first := say(c, c.by, c.toMe, "Grüße aus der STRASSE 🛣️")
	c.wrote(first, "conversation", "Grüße aus der STRASSE 🛣️")
	link := &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{
		Text: proto.String("see https://example.org"), MatchedText: proto.String("https://example.org"), Title: proto.String("Example"),
	}}
	c.wrote(c.sends(link), "extendedTextMessage", "see https://example.org", object{
		"linkPreview": object{"url": "https://example.org", "title": "Example", "description": ""},
	})
	c.wrote(say(c, c.by, c.toMe, "as I said", simnet.QuotingID(first, c.bySelf, "Grüße")), "extendedTextMessage", "as I said", object{
		"contextInfo": refersTo(first, c.by.PN().String()),
	}, quoted(c.in, message(first, c.by, "conversation", "Grüße aus der STRASSE 🛣️")))
	hail := "look, @" + c.meHere.User
	c.wrote(say(c, c.by, c.toMe, hail, simnet.Mentioning(c.meHere)), "extendedTextMessage", hail, object{
		"contextInfo": refersTo(nil, nil, mention(c.me, "@"+c.meHere.User)),
	})
	all := &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: proto.String("@all lunch"), ContextInfo: &waE2E.ContextInfo{NonJIDMentions: proto.Uint32(1)}}}
	c.wrote(c.sends(all), "extendedTextMessage", "@all lunch", object{"contextInfo": with(refersTo(nil, nil), object{"mentionsAll": true})})
	c.wrote(say(c, c.by, c.toMe, "gone tomorrow", simnet.Ephemeral(chatTimer)), "extendedTextMessage", "gone tomorrow", object{
		"expiresAt": afterTimer,
	})
	c.wrote(say(c, c.by, c.toMe, "a chain letter", simnet.Forwarded(5)), "extendedTextMessage", "a chain letter", object{"isForwarded": true})
}

func (c *conversation) sends(m *waE2E.Message) simnet.MessageID {
	c.Helper()
	return must(c.by.Send(within(c), c.toMe, m))(c)
}

func (c *conversation) pictures() {
	image := simnet.Media{Data: []byte("the bytes of a picture"), Mimetype: "image/png", Caption: "sunrise", Width: 640, Height: 480}
	id := must(c.by.SendImage(within(c), c.toMe, image))(c)
	shown := object{"type": "image", "mimetype": "image/png", "size": len(image.Data), "caption": "sunrise", "width": 640, "height": 480}
	c.wrote(id, "imageMessage", "sunrise", c.media(id, shown))

	image.Caption = ""
	id = must(c.by.SendImage(within(c), c.toMe, image, simnet.ViewOnce()))(c)
	c.wrote(id, "imageMessage", "", c.media(id, with(shown, object{"caption": ""})))

	// Real linked devices only learn of a view-once message, and the phone gives
	// them no more.
	c.me.IgnoreRequests(true)
	id = must(c.by.SendImage(within(c), c.toMe, image, simnet.HiddenViewOnce()))(c)
	c.wrote(id, "undecryptable", "")

	video := simnet.Media{Data: []byte("the bytes of a film"), Mimetype: "video/mp4", Caption: "waves", Width: 320, Height: 240, Seconds: 7}
	id = must(c.by.SendVideo(within(c), c.toMe, video))(c)
	c.wrote(id, "videoMessage", "waves", c.media(id, object{
		"type": "video", "mimetype": "video/mp4", "size": len(video.Data), "caption": "waves", "durationSec": 7, "width": 320, "height": 240,
	}))

	sticker := simnet.Media{Data: []byte("the bytes of a sticker"), Mimetype: "image/webp", Width: 512, Height: 512, Animated: true}
	id = must(c.by.SendSticker(within(c), c.toMe, sticker))(c)
	c.wrote(id, "stickerMessage", "", c.media(id, object{
		"type": "sticker", "mimetype": "image/webp", "size": len(sticker.Data), "width": 512, "height": 512, "isAnimated": true,
	}))
}

// media returns the field for a message's file.
func (c *conversation) media(id simnet.MessageID, descriptor object) object {
	return object{"media": with(descriptor, object{"downloadUrl": c.download(id)})}
}

func (c *conversation) sounds() {
	song := simnet.Media{Data: []byte("the bytes of a song"), Mimetype: "audio/mpeg", Seconds: 180}
	id := must(c.by.SendAudio(within(c), c.toMe, song))(c)
	c.wrote(id, "audioMessage", "", c.media(id, object{
		"type": "audio", "mimetype": "audio/mpeg", "size": len(song.Data), "durationSec": 180, "ptt": false,
	}))
	voice := simnet.Media{Data: []byte("the bytes of a voice"), Mimetype: "audio/ogg; codecs=opus", Seconds: 4, Voice: true}
	id = must(c.by.SendAudio(within(c), c.toMe, voice))(c)
	c.wrote(id, "audioMessage", "", c.media(id, object{
		"type": "audio", "mimetype": "audio/ogg; codecs=opus", "size": len(voice.Data), "durationSec": 4, "ptt": true,
	}))
}

func (c *conversation) documents() {
	paper := simnet.Media{Data: []byte("the bytes of a paper"), Mimetype: "application/pdf", FileName: "plan & costs.pdf", Pages: 3}
	shown := object{"type": "document", "mimetype": "application/pdf", "size": len(paper.Data), "fileName": "plan & costs.pdf", "caption": "", "pages": 3}
	id := must(c.by.SendDocument(within(c), c.toMe, paper))(c)
	c.wrote(id, "documentMessage", "", c.media(id, shown))
	paper.Caption = "the plan"
	id = must(c.by.SendDocument(within(c), c.toMe, paper))(c)
	c.wrote(id, "documentMessage", "the plan", c.media(id, with(shown, object{"caption": "the plan"})))
}

func (c *conversation) places() {
	named := must(c.by.SendLocation(within(c), c.toMe, 52.5163, 13.3777, "Brandenburger Tor", "Pariser Platz"))(c)
	c.wrote(named, "locationMessage", "Brandenburger Tor, Pariser Platz", place(52.5163, 13.3777, object{"name": "Brandenburger Tor", "address": "Pariser Platz"}))
	bare := must(c.by.SendLocation(within(c), c.toMe, -33.8568, 151.2153, "", ""))(c)
	c.wrote(bare, "locationMessage", "-33.8568,151.2153", place(-33.8568, 151.2153))
	live := c.sends(&waE2E.Message{LiveLocationMessage: &waE2E.LiveLocationMessage{
		DegreesLatitude: proto.Float64(48.2), DegreesLongitude: proto.Float64(16.37), SequenceNumber: proto.Int64(1),
	}})
	c.wrote(live, "liveLocationMessage", "48.2,16.37", place(48.2, 16.37, object{"isLive": true}))
}

// place returns the field for a message's location.
func place(latitude, longitude float64, changes ...object) object {
	return object{"location": with(object{"latitude": latitude, "longitude": longitude, "name": "", "address": "", "url": "", "isLive": false}, changes...)}
}

func (c *conversation) cards() {
	one, two := simnet.NewCard("Dora, née Ö", "491510000077"), simnet.NewCard("Emil", "491510000078")
	c.wrote(must(c.by.SendContacts(within(c), c.toMe, []simnet.Card{one}))(c), "contactMessage", "Dora, née Ö", contacts(one))
	c.wrote(must(c.by.SendContacts(within(c), c.toMe, []simnet.Card{one, two}))(c), "contactsArrayMessage", "Dora, née Ö, Emil", contacts(one, two))
}

// contacts returns the field for a message's contacts, with the numbers of
// [conversation.cards].
func contacts(cards ...simnet.Card) object {
	shown := []object{}
	for i, card := range cards {
		number := fmt.Sprintf("4915100000%d", 77+i)
		shown = append(shown, object{
			"displayName": card.Name, "phones": []object{{"number": "+" + number, "jid": number + "@s.whatsapp.net"}}, "emails": []any{},
			"organization": "", "title": "", "vcard": card.VCard,
		})
	}
	return object{"contacts": shown}
}

// polls sends one poll with changing votes, and one without votes.
func (c *conversation) polls() {
	id := must(c.by.SendPoll(within(c), c.toMe, "Wohin?", []string{"Berge", "Meer", "Stadt"}, 2))(c)
	mine := must(c.me.ReceivedID(within(c), id))(c)
	must(c.me.Vote(within(c), mine, []string{"Berge"}))(c)
	must(c.me.Vote(within(c), mine, []string{"Meer", "Stadt"}))(c)
	sea, town := []string{c.me.PN().String()}, []string{c.me.PN().String()}
	if c.witness != nil {
		theirs := must(c.witness.ReceivedID(within(c), id))(c)
		must(c.witness.Vote(within(c), theirs, []string{"Stadt"}))(c)
		town = append(town, c.witness.PN().String())
	}
	c.wrote(id, "pollCreationMessage", "Wohin?", object{"poll": object{
		"name": "Wohin?", "selectableCount": 2, "options": []object{
			{"name": "Berge", "votes": 0, "voters": []string{}, "addedBy": nil},
			{"name": "Meer", "votes": len(sea), "voters": sea, "addedBy": nil},
			{"name": "Stadt", "votes": len(town), "voters": town, "addedBy": nil},
		},
	}})
	id = must(c.by.SendPoll(within(c), c.toMe, "Ja?", []string{"ja", "nein"}, 0))(c)
	c.wrote(id, "pollCreationMessage", "Ja?", object{"poll": object{
		"name": "Ja?", "selectableCount": 0, "options": []object{
			{"name": "ja", "votes": 0, "voters": []string{}, "addedBy": nil}, {"name": "nein", "votes": 0, "voters": []string{}, "addedBy": nil},
		},
	}})
}

// reactions sets, changes and removes reactions.
func (c *conversation) reactions() {
	id := say(c, c.by, c.toMe, "react to this")
	mine := must(c.me.ReceivedID(within(c), id))(c)
	// Reactions are ordered by time, and those of one millisecond by JID.
	must(c.me.React(within(c), mine, "👎"))(c)
	must(c.me.React(within(c), mine, "👍🏽"))(c)
	must(c.by.ReactTo(within(c), c.toMe, simnet.JID{}, id, "😀"))(c)
	left := []object{reaction(c.me, "👍🏽"), reaction(c.by, "😀")}
	if c.witness != nil {
		theirs := must(c.witness.ReceivedID(within(c), id))(c)
		must(c.witness.React(within(c), theirs, "❤️"))(c)
		left = append(left, reaction(c.witness, "❤️"))
	}
	c.wrote(id, "conversation", "react to this", object{"reactions": left})

	id = say(c, c.by, c.toMe, "do not react")
	mine = must(c.me.ReceivedID(within(c), id))(c)
	must(c.me.React(within(c), mine, "🤷"))(c)
	must(c.me.React(within(c), mine, ""))(c)
	c.wrote(id, "conversation", "do not react")
}

// edits checks that only the author's edits count.
func (c *conversation) edits() {
	id := say(c, c.by, c.toMe, "teh text")
	must(c.by.Edit(within(c), c.toMe, id, "teh txt"))(c)
	must(c.by.Edit(within(c), c.toMe, id, "the text"))(c)
	c.wrote(id, "conversation", "the text", object{"editedAt": recent})

	id = say(c, c.by, c.toMe, "my words")
	must(c.me.Edit(within(c), c.toThem, id, "your words"))(c)
	c.wrote(id, "conversation", "my words")
}

// deletions checks that deletions count from the author, or from an admin of the
// group. The account owns the groups of these tests; the witness is a plain member.
func (c *conversation) deletions() {
	gone := object{"deletedAt": recent}
	id := say(c, c.by, c.toMe, "I regret this")
	must(c.by.Revoke(within(c), c.toMe, id))(c)
	c.wrote(id, "conversation", "", gone)

	id = say(c, c.by, c.toMe, "everybody may see this")
	if c.witness != nil {
		must(c.witness.RevokeAsAdmin(within(c), c.in, c.bySelf, id))(c)
	} else {
		must(c.me.Revoke(within(c), c.toThem, id))(c)
	}
	c.wrote(id, "conversation", "everybody may see this")

	if c.witness != nil {
		id = say(c, c.by, c.toMe, "against the rules")
		must(c.me.RevokeAsAdmin(within(c), c.in, c.bySelf, id))(c)
		c.wrote(id, "conversation", "", gone)
	}
	file := simnet.Media{Data: []byte("the bytes of a secret"), Mimetype: "image/png", Caption: "secret"}
	id = must(c.by.SendImage(within(c), c.toMe, file))(c)
	must(c.by.Revoke(within(c), c.toMe, id))(c)
	c.wrote(id, "imageMessage", "", gone)
}

// ownMessages types messages on the account's phone, which the other side reads.
func (c *conversation) ownMessages() {
	id := say(c, c.me, c.toThem, "typed on the phone")
	theirs := must(c.by.ReceivedID(within(c), id))(c)
	if err := c.by.MarkRead(within(c), theirs); err != nil {
		c.Fatal(err)
	}
	c.shows(ownMessage(id, c.me, "conversation", "typed on the phone", bridge.DeliveryRead))

	voice := simnet.Media{Data: []byte("the bytes of my voice"), Mimetype: "audio/ogg; codecs=opus", Seconds: 2, Voice: true}
	id = must(c.me.SendAudio(within(c), c.toThem, voice))(c)
	theirs = must(c.by.ReceivedID(within(c), id))(c)
	if err := c.by.MarkPlayed(within(c), theirs); err != nil {
		c.Fatal(err)
	}
	c.shows(ownMessage(id, c.me, "audioMessage", "", bridge.DeliveryPlayed, c.media(id, object{
		"type": "audio", "mimetype": "audio/ogg; codecs=opus", "size": len(voice.Data), "durationSec": 2, "ptt": true,
	})))

	id = say(c, c.me, c.toThem, "seen by nobody yet")
	c.shows(ownMessage(id, c.me, "conversation", "seen by nobody yet", bridge.DeliveryDelivered))
}
