package sending

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// TestForward_EveryKind forwards every kind of message and compares every field
// that arrives. Nothing is uploaded again.
func TestForward_EveryKind(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	annas, bens, hike, _ := c.Conversations(t)
	for _, way := range []struct {
		name     string
		from, to *Conversation
	}{{"group to person", hike, bens}, {"person to group", annas, hike}} {
		from, to := &room{Conversation: way.from, b: c.Bridge}, &room{Conversation: way.to, b: c.Bridge}
		for _, kind := range forwardedKinds(from) {
			t.Run(way.name+"/"+kind.name, func(t *testing.T) {
				from.TB, to.TB = t, t
				id := kind.write()
				original := from.stored(id)
				uploads := c.Network.CDN().Uploads()
				sent := to.forwards(from.In, id)
				want := kind.becomes(proto.Clone(decrypted(t, from.Me, id)).(*waE2E.Message))
				want.MessageContextInfo = nil
				to.arrives(sent, want)
				if got := c.Network.CDN().Uploads(); got != uploads {
					t.Errorf("%d files were uploaded again", got-uploads)
				}
				shows(t, to.stored(sent), original, kind.shownAs)
			})
		}
	}
}

// shows compares a forwarded message in the API with its original.
func shows(t *testing.T, got, original bridge.Message, kind string) {
	t.Helper()
	if kind == "" {
		kind = original.MessageType
	}
	if got.MessageType != kind || got.Content != original.Content || got.ContextInfo != nil || len(got.Reactions) != 0 {
		t.Errorf("the API shows %+v, the original was %+v", got, original)
	}
	if (got.Media == nil) != (original.Media == nil) {
		t.Fatalf("the API shows the file %+v, the original had %+v", got.Media, original.Media)
	}
	if got.Media != nil {
		a, b := *got.Media, *original.Media
		a.DownloadURL, b.DownloadURL = "", ""
		if diff := cmp.Diff(b, a); diff != "" {
			t.Errorf("the API shows another file (-original +forwarded):\n%s", diff)
		}
	}
}

// forwardedKind is one kind of message and its forwarded form.
type forwardedKind struct {
	name    string
	write   func() simnet.MessageID
	becomes func(original *waE2E.Message) *waE2E.Message
	shownAs string // the type in the API, if it is not the original's
}

// marked returns the context of a message forwarded a number of times.
func marked(score uint32) *waE2E.ContextInfo {
	return &waE2E.ContextInfo{IsForwarded: proto.Bool(true), ForwardingScore: &score}
}

func forwardedKinds(r *room) []forwardedKind {
	return append(append(forwardedTexts(r), forwardedFiles(r)...), forwardedThings(r)...)
}

func forwardedTexts(r *room) []forwardedKind {
	becomesText := func(text string, score uint32) func(*waE2E.Message) *waE2E.Message {
		return func(*waE2E.Message) *waE2E.Message { return extended(text, marked(score)) }
	}
	text := func(text string, options ...simnet.SendOption) func() simnet.MessageID {
		return func() simnet.MessageID { return Say(r, r.By, r.ToMe, text, options...) }
	}
	link := &waE2E.ExtendedTextMessage{
		Text: proto.String("see https://example.org"), MatchedText: proto.String("https://example.org"), Title: proto.String("Example"),
		Description: proto.String("a page"), JPEGThumbnail: []byte("small"),
	}
	return []forwardedKind{
		{"text", text("spread this"), becomesText("spread this", 1), "extendedTextMessage"},
		{"answer", text("answered", simnet.QuotingID("3EB0AAAA", r.BySelf, "what?")), becomesText("answered", 1), ""},
		{"mention", text("hey @"+r.MeHere.User, simnet.Mentioning(r.MeHere)), becomesText("hey @"+r.MeHere.User, 1), ""},
		{"disappearing", text("psst", simnet.Ephemeral(60)), becomesText("psst", 1), ""},
		{"forwarded before", text("chain", simnet.Forwarded(4)), becomesText("chain", 5), ""},
		{"forwarded many times", text("spam", simnet.Forwarded(127)), becomesText("spam", 127), ""},
		{"link preview", func() simnet.MessageID {
			return r.sendsRaw(&waE2E.Message{ExtendedTextMessage: link})
		}, func(*waE2E.Message) *waE2E.Message {
			kept := proto.Clone(link).(*waE2E.ExtendedTextMessage)
			kept.ContextInfo = marked(1)
			return &waE2E.Message{ExtendedTextMessage: kept}
		}, ""},
		{"edited", func() simnet.MessageID {
			id := r.hears("befor")
			Must(r.By.Edit(Within(r), r.ToMe, id, "after"))(r)
			Eventually(r, func() error {
				if got, _ := r.b.Message(r.List(), id); got.Content != "after" {
					return fmt.Errorf("the edited message is %q", got.Content)
				}
				return nil
			})
			return id
		}, becomesText("after", 1), "extendedTextMessage"},
	}
}

// sendsRaw makes by send any message.
func (r *room) sendsRaw(m *waE2E.Message, options ...simnet.SendOption) simnet.MessageID {
	r.Helper()
	return Must(r.By.Send(Within(r), r.ToMe, m, options...))(r)
}

func forwardedFiles(r *room) []forwardedKind {
	type send func(simnet.Media, ...simnet.SendOption) simnet.MessageID
	write := func(sending func() send, m simnet.Media, options ...simnet.SendOption) func() simnet.MessageID {
		return func() simnet.MessageID { return sending()(m, options...) }
	}
	image := func() send {
		return func(m simnet.Media, o ...simnet.SendOption) simnet.MessageID {
			return Must(r.By.SendImage(Within(r), r.ToMe, m, o...))(r)
		}
	}
	video := func() send {
		return func(m simnet.Media, o ...simnet.SendOption) simnet.MessageID {
			return Must(r.By.SendVideo(Within(r), r.ToMe, m, o...))(r)
		}
	}
	audio := func() send {
		return func(m simnet.Media, o ...simnet.SendOption) simnet.MessageID {
			return Must(r.By.SendAudio(Within(r), r.ToMe, m, o...))(r)
		}
	}
	document := func() send {
		return func(m simnet.Media, o ...simnet.SendOption) simnet.MessageID {
			return Must(r.By.SendDocument(Within(r), r.ToMe, m, o...))(r)
		}
	}
	sticker := func() send {
		return func(m simnet.Media, o ...simnet.SendOption) simnet.MessageID {
			return Must(r.By.SendSticker(Within(r), r.ToMe, m, o...))(r)
		}
	}
	return []forwardedKind{
		{"image", write(image, simnet.Media{Data: []byte("image"), Mimetype: "image/png", Caption: "look", Width: 3, Height: 4, Thumbnail: []byte("small")}), marksContent, ""},
		{"disappearing image", write(image, simnet.Media{Data: []byte("image 2"), Caption: "quick"}, simnet.Ephemeral(60)), marksContent, ""},
		{"video", write(video, simnet.Media{Data: []byte("video"), Caption: "waves", Seconds: 7, Width: 3, Height: 4}), marksContent, ""},
		{"GIF", write(video, simnet.Media{Data: []byte("gif"), Seconds: 1, GIF: true}), marksContent, ""},
		{"audio", write(audio, simnet.Media{Data: []byte("song"), Mimetype: "audio/mpeg", Seconds: 180}), marksContent, ""},
		{"voice note", write(audio, simnet.Media{Data: []byte("voice"), Seconds: 4, Voice: true, Waveform: []byte{1, 2, 3}}), marksContent, ""},
		{"document", write(document, simnet.Media{Data: []byte("paper"), FileName: "plan.pdf", Title: "plan", Pages: 3}), marksContent, ""},
		{"document with caption", write(document, simnet.Media{Data: []byte("paper 2"), FileName: "plan.pdf", Caption: "the plan"}), func(original *waE2E.Message) *waE2E.Message {
			return &waE2E.Message{DocumentWithCaptionMessage: &waE2E.FutureProofMessage{Message: marksContent(original)}}
		}, ""},
		{"sticker", write(sticker, simnet.Media{Data: []byte("sticker"), Width: 512, Height: 512, Animated: true}), marksContent, ""},
		{"round video", func() simnet.MessageID {
			file := Must(r.By.Upload(Within(r), []byte("round"), "WhatsApp Video Keys"))(r)
			return r.sendsRaw(&waE2E.Message{PtvMessage: &waE2E.VideoMessage{
				URL: &file.URL, DirectPath: &file.DirectPath, MediaKey: file.MediaKey, FileSHA256: file.FileSHA256, FileEncSHA256: file.FileEncSHA256,
				FileLength: &file.FileLength, Mimetype: proto.String("video/mp4"), Seconds: proto.Uint32(3),
			}})
		}, marksContent, ""},
	}
}

// marksContent returns the message without wrappers, and with only the mark in its
// context.
func marksContent(m *waE2E.Message) *waE2E.Message {
	for _, wrapper := range []*waE2E.FutureProofMessage{m.EphemeralMessage, m.DocumentWithCaptionMessage} {
		if wrapper != nil {
			return marksContent(wrapper.GetMessage())
		}
	}
	m.MessageContextInfo = nil
	switch {
	case m.ImageMessage != nil:
		m.ImageMessage.ContextInfo = marked(1)
	case m.VideoMessage != nil:
		m.VideoMessage.ContextInfo = marked(1)
	case m.PtvMessage != nil:
		m.PtvMessage.ContextInfo = marked(1)
	case m.AudioMessage != nil:
		m.AudioMessage.ContextInfo = marked(1)
	case m.DocumentMessage != nil:
		m.DocumentMessage.ContextInfo = marked(1)
	case m.StickerMessage != nil:
		m.StickerMessage.ContextInfo = marked(1)
	case m.LocationMessage != nil:
		m.LocationMessage.ContextInfo = marked(1)
	case m.ContactMessage != nil:
		m.ContactMessage.ContextInfo = marked(1)
	case m.ContactsArrayMessage != nil:
		m.ContactsArrayMessage.ContextInfo = marked(1)
	case m.GroupInviteMessage != nil:
		m.GroupInviteMessage.ContextInfo = marked(1)
	}
	return m
}

func forwardedThings(r *room) []forwardedKind {
	one, two := simnet.NewCard("Dora", "491510000077"), simnet.NewCard("Emil", "491510000078")
	return []forwardedKind{
		{"location", func() simnet.MessageID {
			return Must(r.By.SendLocation(Within(r), r.ToMe, 52.5, 13.4, "Tor", "Platz"))(r)
		}, marksContent, ""},
		{"live location", func() simnet.MessageID {
			return r.sendsRaw(&waE2E.Message{LiveLocationMessage: &waE2E.LiveLocationMessage{
				DegreesLatitude: proto.Float64(48.2), DegreesLongitude: proto.Float64(16.4), SequenceNumber: proto.Int64(9),
				SpeedInMps: proto.Float32(3), TimeOffset: proto.Uint32(60), JPEGThumbnail: []byte("map"),
			}})
		}, func(*waE2E.Message) *waE2E.Message {
			return &waE2E.Message{LocationMessage: &waE2E.LocationMessage{
				DegreesLatitude: proto.Float64(48.2), DegreesLongitude: proto.Float64(16.4), JPEGThumbnail: []byte("map"), ContextInfo: marked(1),
			}}
		}, "locationMessage"},
		{"contact", func() simnet.MessageID {
			return Must(r.By.SendContacts(Within(r), r.ToMe, []simnet.Card{one}))(r)
		}, marksContent, ""},
		{"contacts", func() simnet.MessageID {
			return Must(r.By.SendContacts(Within(r), r.ToMe, []simnet.Card{one, two}))(r)
		}, marksContent, ""},
		{"poll", func() simnet.MessageID {
			id := Must(r.By.SendPoll(Within(r), r.ToMe, "Wohin?", []string{"Berge", "Meer"}, 2))(r)
			Must(r.Me.Vote(Within(r), Must(r.Me.ReceivedID(Within(r), id))(r), []string{"Meer"}))(r)
			return id
		}, func(*waE2E.Message) *waE2E.Message { return poll("Wohin?", 2, marked(1), "Berge", "Meer") }, ""},
		{"newer poll", func() simnet.MessageID {
			creation := poll("Ja?", 1, nil, "ja", "nein").PollCreationMessage
			creation.EncKey = []byte("a secret of the original's own..")
			return r.sendsRaw(&waE2E.Message{PollCreationMessageV3: creation, MessageContextInfo: &waE2E.MessageContextInfo{MessageSecret: make([]byte, 32)}})
		}, func(*waE2E.Message) *waE2E.Message { return poll("Ja?", 1, marked(1), "ja", "nein") }, "pollCreationMessage"},
		{"group invite", func() simnet.MessageID {
			return r.sendsRaw(&waE2E.Message{GroupInviteMessage: &waE2E.GroupInviteMessage{
				GroupJID: proto.String("120363000000000000@g.us"), InviteCode: proto.String("code"), GroupName: proto.String("Come"), Caption: proto.String("join us"),
			}})
		}, marksContent, ""},
		{"kind without a context", func() simnet.MessageID {
			return r.sendsRaw(&waE2E.Message{Chat: &waE2E.Chat{DisplayName: proto.String("a chat"), ID: proto.String("1")}})
		}, marksContent, ""},
		{"payment", func() simnet.MessageID {
			return r.sendsRaw(&waE2E.Message{SendPaymentMessage: &waE2E.SendPaymentMessage{NoteMessage: conversationText("thanks")}})
		}, func(*waE2E.Message) *waE2E.Message { return extended("Payment\nthanks", marked(1)) }, "extendedTextMessage"},
		{"kind that is yet to come", func() simnet.MessageID {
			future := new(waE2E.Message)
			future.ProtoReflect().SetUnknown(protowire.AppendBytes(protowire.AppendTag(nil, 9999, protowire.BytesType), []byte("new")))
			return r.sendsRaw(future)
		}, marksContent, ""},
	}
}

// TestForward_PollStartsAnew: the new poll has a secret of its own and no votes,
// and accepts votes.
func TestForward_PollStartsAnew(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	annas, bens, _, _ := c.Conversations(t)
	from, to := &room{Conversation: annas, b: c.Bridge}, &room{Conversation: bens, b: c.Bridge}
	id := Must(c.Anna.SendPoll(Within(t), c.Owner.PN(), "Wohin?", []string{"Berge", "Meer"}, 1))(t)
	Must(c.Owner.Vote(Within(t), Must(c.Owner.ReceivedID(Within(t), id))(t), []string{"Meer"}))(t)
	Eventually(t, func() error {
		if m, ok := c.Bridge.Message(from.List(), id); !ok || m.Poll.Options[1].Votes != 1 {
			return fmt.Errorf("the vote is not counted: %+v", m)
		}
		return nil
	})
	sent := to.forwards(from.In, id)
	theirs := Must(c.Ben.ReceivedID(Within(t), sent))(t)
	old, fresh := decrypted(t, c.Owner, id).MessageContextInfo.GetMessageSecret(), decrypted(t, c.Ben, sent).MessageContextInfo.GetMessageSecret()
	if len(fresh) != 32 || string(old) == string(fresh) {
		t.Errorf("the forwarded poll has the secret %x, the original's was %x", fresh, old)
	}
	if m := to.stored(sent); m.Poll.Options[0].Votes+m.Poll.Options[1].Votes != 0 {
		t.Errorf("the forwarded poll begins with votes: %+v", m.Poll)
	}
	Must(c.Ben.Vote(Within(t), theirs, []string{"Berge"}))(t)
	Eventually(t, func() error {
		if m := to.stored(sent); m.Poll.Options[0].Votes != 1 || m.Poll.Options[1].Votes != 0 {
			return fmt.Errorf("the tally is %+v", m.Poll)
		}
		return nil
	})
	if m := from.stored(id); m.Poll.Options[0].Votes != 0 || m.Poll.Options[1].Votes != 1 {
		t.Errorf("the original's tally became %+v", m.Poll)
	}
}

// TestForward_OwnMessagesAreNotMarked when first forwarded; messages that were
// forwarded before are.
func TestForward_OwnMessagesAreNotMarked(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	annas, bens, _, _ := c.Conversations(t)
	from, to := &room{Conversation: annas, b: c.Bridge}, &room{Conversation: bens, b: c.Bridge}
	from.TB, to.TB = t, t
	heard := from.hears("tell everybody")
	own := from.sends("send", Object{"text": "mine", "quotedMsgId": heard, "mentions": []string{c.Anna.PN().String()}})
	first := to.forwards(from.In, own)
	to.arrives(first, extended("mine @"+c.Anna.LID().User, nil))

	once := to.forwards(from.In, heard)
	to.arrives(once, extended("tell everybody", marked(1)))
	twice := from.forwards(to.In, once)
	from.arrives(twice, extended("tell everybody", marked(2)))
}

// TestForward_AsksThePhone for a file that the CDN has lost: once, after which the
// message has the new path.
func TestForward_AsksThePhone(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	_, bens, hike, _ := c.Conversations(t)
	from, to := &room{Conversation: hike, b: c.Bridge}, &room{Conversation: bens, b: c.Bridge}
	from.TB, to.TB = t, t
	picture := func(text string) (simnet.MessageID, string) {
		file := simnet.Media{Data: []byte("the bytes of " + text), Mimetype: "image/png", Caption: text}
		id := Must(c.Anna.SendImage(Within(t), from.ToMe, file))(t)
		from.stored(id)
		return id, decrypted(t, c.Owner, id).GetImageMessage().GetDirectPath()
	}
	for _, status := range []int{http.StatusGone, http.StatusNotFound, http.StatusForbidden} {
		id, place := picture(fmt.Sprintf("a picture lost with %d", status))
		c.Network.CDN().ExpireWith(place, status)
		uploads := c.Network.CDN().Uploads()
		sent := to.forwards(from.In, id)
		theirs := Must(c.Ben.ReceivedID(Within(t), sent))(t)
		data, err := c.Ben.Download(Within(t), theirs)
		if err != nil || string(data) != fmt.Sprintf("the bytes of a picture lost with %d", status) {
			t.Errorf("Ben downloads %q, %v", data, err)
		}
		// The next forward works without the phone.
		c.Owner.AnswerMedia(simnet.MediaGone)
		to.forwards(from.In, id)
		c.Owner.AnswerMedia(simnet.MediaReupload)
		if got := c.Network.CDN().Uploads(); got != uploads {
			t.Errorf("the bridge uploaded %d files", got-uploads)
		}
	}
	for _, answer := range []simnet.MediaAnswer{simnet.MediaGone, simnet.MediaNotFound, simnet.MediaGeneralError} {
		c.Owner.AnswerMedia(answer)
		id, place := picture(fmt.Sprintf("a picture lost for good, %d", answer))
		c.Network.CDN().Expire(place)
		sent := c.Device.Counters().Sent
		Refused(t, c.Bridge.Post("/api/messages/forward", Object{"sourceChatJid": from.In.String(), "sourceMsgId": id, "destJid": to.In.String()}),
			http.StatusInternalServerError, bridge.CodeMediaGone, "no longer has the file")
		if got := c.Device.Counters().Sent; got != sent {
			t.Errorf("%d messages left", got-sent)
		}
	}
}

// TestForward_Refuses messages that must not or cannot be forwarded.
func TestForward_Refuses(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	annas, bens, _, _ := c.Conversations(t)
	from := &room{Conversation: annas, b: c.Bridge}
	from.TB = t
	file := simnet.Media{Data: []byte("a secret"), Caption: "secret"}

	deleted := from.hears("I regret this")
	Must(c.Anna.Revoke(Within(t), from.ToMe, deleted))(t)
	viewOnce := Must(c.Anna.SendImage(Within(t), from.ToMe, file, simnet.ViewOnce()))(t)
	hidden := Must(c.Anna.SendImage(Within(t), from.ToMe, file, simnet.HiddenViewOnce()))(t)
	from.stored(viewOnce)
	from.stored(hidden)
	c.Anna.IgnoreRequests(true)
	Eventually(t, func() error {
		if from.stored(deleted).DeletedAt == nil {
			return fmt.Errorf("the message is not deleted yet")
		}
		return nil
	})
	for id, want := range map[simnet.MessageID]refusal{
		deleted:    {http.StatusBadRequest, bridge.CodeInvalid, []string{"deleted"}},
		viewOnce:   {http.StatusBadRequest, bridge.CodeInvalid, []string{"view-once"}},
		hidden:     {http.StatusBadRequest, bridge.CodeInvalid, []string{"view-once"}},
		"3EB0FFFF": {http.StatusNotFound, bridge.CodeNotFound, nil},
	} {
		want.of(t, c.Bridge.Post("/api/messages/forward", Object{"sourceChatJid": from.In.String(), "sourceMsgId": id, "destJid": bens.In.String()}))
	}
	for _, m := range c.Ben.Messages() {
		t.Errorf("Ben got %v", m.Message.Message)
	}
}
