package mainjob

import (
	"fmt"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// shows records the next expected message of the history.
func shows(c *Conversation, m Object) { c.Shown = append(c.Shown, m) }

// wrote records a message by the person.
func wrote(c *Conversation, id simnet.MessageID, kind, content string, changes ...Object) {
	shows(c, Message(id, c.By, kind, content, changes...))
}

// everyKind writes one message of every kind, and everything that changes a message
// afterwards.
func everyKind(c *Conversation) {
	texts(c)
	pictures(c)
	sounds(c)
	documents(c)
	places(c)
	cards(c)
	polls(c)
	extensiblePolls(c)
	ads(c)
	albums(c)
	events(c)
	marks(c)
	reactions(c)
	edits(c)
	deletions(c)
	ownMessages(c)
}

func texts(c *Conversation) {
	first := Say(c, c.By, c.ToMe, "Grüße aus der STRASSE 🛣️")
	wrote(c, first, "conversation", "Grüße aus der STRASSE 🛣️")
	link := &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{
		Text: proto.String("see https://example.org"), MatchedText: proto.String("https://example.org"), Title: proto.String("Example"),
	}}
	wrote(c, sends(c, link), "extendedTextMessage", "see https://example.org", Object{
		"linkPreview": Object{"url": "https://example.org", "title": "Example", "description": ""},
	})
	wrote(c, Say(c, c.By, c.ToMe, "as I said", simnet.QuotingID(first, c.BySelf, "Grüße")), "extendedTextMessage", "as I said", Object{
		"contextInfo": RefersTo(first, c.By.PN().String()),
	}, Quoted(c.In, Message(first, c.By, "conversation", "Grüße aus der STRASSE 🛣️")))
	hail := "look, @" + c.MeHere.User
	wrote(c, Say(c, c.By, c.ToMe, hail, simnet.Mentioning(c.MeHere)), "extendedTextMessage", hail, Object{
		"contextInfo": RefersTo(nil, nil, Mention(c.Me, "@"+c.MeHere.User)),
	})
	all := &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: proto.String("@all lunch"), ContextInfo: &waE2E.ContextInfo{NonJIDMentions: proto.Uint32(1)}}}
	wrote(c, sends(c, all), "extendedTextMessage", "@all lunch", Object{"contextInfo": With(RefersTo(nil, nil), Object{"mentionsAll": true})})
	wrote(c, Say(c, c.By, c.ToMe, "gone tomorrow", simnet.Ephemeral(ChatTimer)), "extendedTextMessage", "gone tomorrow", Object{
		"expiresAt": AfterTimer,
	})
	wrote(c, Say(c, c.By, c.ToMe, "a chain letter", simnet.Forwarded(5)), "extendedTextMessage", "a chain letter", Object{"isForwarded": true})
}

func sends(c *Conversation, m *waE2E.Message) simnet.MessageID {
	c.Helper()
	return Must(c.By.Send(Within(c), c.ToMe, m))(c)
}

func pictures(c *Conversation) {
	image := simnet.Media{Data: []byte("the bytes of a picture"), Mimetype: "image/png", Caption: "sunrise", Width: 640, Height: 480}
	id := Must(c.By.SendImage(Within(c), c.ToMe, image))(c)
	shown := Object{"type": "image", "mimetype": "image/png", "size": len(image.Data), "caption": "sunrise", "width": 640, "height": 480, "viewOnce": false}
	wrote(c, id, "imageMessage", "sunrise", media(c, id, shown))

	image.Caption = ""
	id = Must(c.By.SendImage(Within(c), c.ToMe, image, simnet.ViewOnce()))(c)
	wrote(c, id, "imageMessage", "", media(c, id, With(shown, Object{"caption": "", "viewOnce": true})), Object{"viewOnce": true})

	// Real linked devices only learn of a view-once message, and the phone gives
	// them no more.
	c.Me.IgnoreRequests(true)
	id = Must(c.By.SendImage(Within(c), c.ToMe, image, simnet.HiddenViewOnce()))(c)
	wrote(c, id, "undecryptable", "", Object{"viewOnce": true})

	video := simnet.Media{Data: []byte("the bytes of a film"), Mimetype: "video/mp4", Caption: "waves", Width: 320, Height: 240, Seconds: 7}
	id = Must(c.By.SendVideo(Within(c), c.ToMe, video))(c)
	wrote(c, id, "videoMessage", "waves", media(c, id, Object{
		"type": "video", "mimetype": "video/mp4", "size": len(video.Data), "caption": "waves", "durationSec": 7, "width": 320, "height": 240, "gif": false, "viewOnce": false,
	}))

	sticker := simnet.Media{Data: []byte("the bytes of a sticker"), Mimetype: "image/webp", Width: 512, Height: 512, Animated: true}
	id = Must(c.By.SendSticker(Within(c), c.ToMe, sticker))(c)
	wrote(c, id, "stickerMessage", "", media(c, id, Object{
		"type": "sticker", "mimetype": "image/webp", "size": len(sticker.Data), "width": 512, "height": 512, "isAnimated": true,
	}))
}

// media returns the field for a message's file.
func media(c *Conversation, id simnet.MessageID, descriptor Object) Object {
	return Object{"media": With(descriptor, Object{"downloadUrl": c.Download(id)})}
}

func sounds(c *Conversation) {
	song := simnet.Media{Data: []byte("the bytes of a song"), Mimetype: "audio/mpeg", Seconds: 180}
	id := Must(c.By.SendAudio(Within(c), c.ToMe, song))(c)
	wrote(c, id, "audioMessage", "", media(c, id, Object{
		"type": "audio", "mimetype": "audio/mpeg", "size": len(song.Data), "durationSec": 180, "ptt": false, "viewOnce": false,
	}))
	voice := simnet.Media{Data: []byte("the bytes of a voice"), Mimetype: "audio/ogg; codecs=opus", Seconds: 4, Voice: true}
	id = Must(c.By.SendAudio(Within(c), c.ToMe, voice))(c)
	wrote(c, id, "audioMessage", "", media(c, id, Object{
		"type": "audio", "mimetype": "audio/ogg; codecs=opus", "size": len(voice.Data), "durationSec": 4, "ptt": true, "viewOnce": false,
	}))
}

func documents(c *Conversation) {
	paper := simnet.Media{Data: []byte("the bytes of a paper"), Mimetype: "application/pdf", FileName: "plan & costs.pdf", Pages: 3}
	shown := Object{"type": "document", "mimetype": "application/pdf", "size": len(paper.Data), "fileName": "plan & costs.pdf", "caption": "", "pages": 3}
	id := Must(c.By.SendDocument(Within(c), c.ToMe, paper))(c)
	wrote(c, id, "documentMessage", "", media(c, id, shown))
	paper.Caption = "the plan"
	id = Must(c.By.SendDocument(Within(c), c.ToMe, paper))(c)
	wrote(c, id, "documentMessage", "the plan", media(c, id, With(shown, Object{"caption": "the plan"})))
}

func places(c *Conversation) {
	named := Must(c.By.SendLocation(Within(c), c.ToMe, 52.5163, 13.3777, "Brandenburger Tor", "Pariser Platz"))(c)
	wrote(c, named, "locationMessage", "Brandenburger Tor, Pariser Platz", place(52.5163, 13.3777, Object{"name": "Brandenburger Tor", "address": "Pariser Platz"}))
	bare := Must(c.By.SendLocation(Within(c), c.ToMe, -33.8568, 151.2153, "", ""))(c)
	wrote(c, bare, "locationMessage", "-33.8568,151.2153", place(-33.8568, 151.2153))
	live := sends(c, &waE2E.Message{LiveLocationMessage: &waE2E.LiveLocationMessage{
		DegreesLatitude: proto.Float64(48.2), DegreesLongitude: proto.Float64(16.37), SequenceNumber: proto.Int64(1),
	}})
	wrote(c, live, "liveLocationMessage", "48.2,16.37", place(48.2, 16.37, Object{"isLive": true}))
}

// place returns the field for a message's location.
func place(latitude, longitude float64, changes ...Object) Object {
	return Object{"location": With(Object{"latitude": latitude, "longitude": longitude, "name": "", "address": "", "url": "", "isLive": false}, changes...)}
}

func cards(c *Conversation) {
	one, two := simnet.NewCard("Dora, née Ö", "491510000077"), simnet.NewCard("Emil", "491510000078")
	wrote(c, Must(c.By.SendContacts(Within(c), c.ToMe, []simnet.Card{one}))(c), "contactMessage", "Dora, née Ö", contacts(one))
	wrote(c, Must(c.By.SendContacts(Within(c), c.ToMe, []simnet.Card{one, two}))(c), "contactsArrayMessage", "Dora, née Ö, Emil", contacts(one, two))
}

// contacts returns the field for a message's contacts, with the numbers of
// [conversation.cards].
func contacts(cards ...simnet.Card) Object {
	shown := []Object{}
	for i, card := range cards {
		number := fmt.Sprintf("4915100000%d", 77+i)
		shown = append(shown, Object{
			"displayName": card.Name, "phones": []Object{{"number": "+" + number, "jid": number + "@s.whatsapp.net"}}, "emails": []any{},
			"organization": "", "title": "", "vcard": card.VCard,
		})
	}
	return Object{"contacts": shown}
}

// polls sends one poll with changing votes, and one without votes.
func polls(c *Conversation) {
	id := Must(c.By.SendPoll(Within(c), c.ToMe, "Wohin?", []string{"Berge", "Meer", "Stadt"}, 2))(c)
	mine := Must(c.Me.ReceivedID(Within(c), id))(c)
	Must(c.Me.Vote(Within(c), mine, []string{"Berge"}))(c)
	Must(c.Me.Vote(Within(c), mine, []string{"Meer", "Stadt"}))(c)
	sea, town := []string{c.Me.PN().String()}, []string{c.Me.PN().String()}
	if c.Witness != nil {
		theirs := Must(c.Witness.ReceivedID(Within(c), id))(c)
		Must(c.Witness.Vote(Within(c), theirs, []string{"Stadt"}))(c)
		town = append(town, c.Witness.PN().String())
	}
	wrote(c, id, "pollCreationMessage", "Wohin?", Object{"poll": Object{
		"name": "Wohin?", "selectableCount": 2, "options": []Object{
			{"name": "Berge", "votes": 0, "voters": []string{}, "addedBy": nil},
			{"name": "Meer", "votes": len(sea), "voters": sea, "addedBy": nil},
			{"name": "Stadt", "votes": len(town), "voters": town, "addedBy": nil},
		},
	}})
	id = Must(c.By.SendPoll(Within(c), c.ToMe, "Ja?", []string{"ja", "nein"}, 0))(c)
	wrote(c, id, "pollCreationMessage", "Ja?", Object{"poll": Object{
		"name": "Ja?", "selectableCount": 0, "options": []Object{
			{"name": "ja", "votes": 0, "voters": []string{}, "addedBy": nil}, {"name": "nein", "votes": 0, "voters": []string{}, "addedBy": nil},
		},
	}})
}

// reactions sets, changes and removes reactions.
func reactions(c *Conversation) {
	id := Say(c, c.By, c.ToMe, "react to this")
	mine := Must(c.Me.ReceivedID(Within(c), id))(c)
	// Reactions are ordered by time, and those of one millisecond by JID.
	Must(c.Me.React(Within(c), mine, "👎"))(c)
	Must(c.Me.React(Within(c), mine, "👍🏽"))(c)
	Must(c.By.ReactTo(Within(c), c.ToMe, simnet.JID{}, id, "😀"))(c)
	left := []Object{Reaction(c.Me, "👍🏽"), Reaction(c.By, "😀")}
	if c.Witness != nil {
		theirs := Must(c.Witness.ReceivedID(Within(c), id))(c)
		Must(c.Witness.React(Within(c), theirs, "❤️"))(c)
		left = append(left, Reaction(c.Witness, "❤️"))
	}
	wrote(c, id, "conversation", "react to this", Object{"reactions": left})

	id = Say(c, c.By, c.ToMe, "do not react")
	mine = Must(c.Me.ReceivedID(Within(c), id))(c)
	Must(c.Me.React(Within(c), mine, "🤷"))(c)
	Must(c.Me.React(Within(c), mine, ""))(c)
	wrote(c, id, "conversation", "do not react")
}

// edits checks that only the author's edits count.
func edits(c *Conversation) {
	id := Say(c, c.By, c.ToMe, "teh text")
	Must(c.By.Edit(Within(c), c.ToMe, id, "teh txt"))(c)
	Must(c.By.Edit(Within(c), c.ToMe, id, "the text"))(c)
	wrote(c, id, "conversation", "the text", Object{"editedAt": Recent})

	id = Say(c, c.By, c.ToMe, "my words")
	Must(c.Me.Edit(Within(c), c.ToThem, id, "your words"))(c)
	wrote(c, id, "conversation", "my words")
}

// deletions checks that deletions count from the author, or from an admin of the
// group. The account owns the groups of these tests; the witness is a plain member.
func deletions(c *Conversation) {
	gone := Object{"deletedAt": Recent}
	id := Say(c, c.By, c.ToMe, "I regret this")
	Must(c.By.Revoke(Within(c), c.ToMe, id))(c)
	wrote(c, id, "conversation", "", gone)

	id = Say(c, c.By, c.ToMe, "everybody may see this")
	if c.Witness != nil {
		Must(c.Witness.RevokeAsAdmin(Within(c), c.In, c.BySelf, id))(c)
	} else {
		Must(c.Me.Revoke(Within(c), c.ToThem, id))(c)
	}
	wrote(c, id, "conversation", "everybody may see this")

	if c.Witness != nil {
		id = Say(c, c.By, c.ToMe, "against the rules")
		Must(c.Me.RevokeAsAdmin(Within(c), c.In, c.BySelf, id))(c)
		wrote(c, id, "conversation", "", gone)
	}
	file := simnet.Media{Data: []byte("the bytes of a secret"), Mimetype: "image/png", Caption: "secret"}
	id = Must(c.By.SendImage(Within(c), c.ToMe, file))(c)
	Must(c.By.Revoke(Within(c), c.ToMe, id))(c)
	wrote(c, id, "imageMessage", "", gone)
}

// ownMessages types messages on the account's phone, which the other side reads.
func ownMessages(c *Conversation) {
	id := Say(c, c.Me, c.ToThem, "typed on the phone")
	theirs := Must(c.By.ReceivedID(Within(c), id))(c)
	if err := c.By.MarkRead(Within(c), theirs); err != nil {
		c.Fatal(err)
	}
	shows(c, OwnMessage(id, c.Me, "conversation", "typed on the phone", bridge.DeliveryRead))

	voice := simnet.Media{Data: []byte("the bytes of my voice"), Mimetype: "audio/ogg; codecs=opus", Seconds: 2, Voice: true}
	id = Must(c.Me.SendAudio(Within(c), c.ToThem, voice))(c)
	theirs = Must(c.By.ReceivedID(Within(c), id))(c)
	if err := c.By.MarkPlayed(Within(c), theirs); err != nil {
		c.Fatal(err)
	}
	shows(c, OwnMessage(id, c.Me, "audioMessage", "", bridge.DeliveryPlayed, media(c, id, Object{
		"type": "audio", "mimetype": "audio/ogg; codecs=opus", "size": len(voice.Data), "durationSec": 2, "ptt": true, "viewOnce": false,
	})))

	id = Say(c, c.Me, c.ToThem, "seen by nobody yet")
	shows(c, OwnMessage(id, c.Me, "conversation", "seen by nobody yet", bridge.DeliveryDelivered))
}
