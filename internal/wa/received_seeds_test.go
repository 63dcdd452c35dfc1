package wa_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"bridged/internal/simnet"
)

// specimen is an input of FuzzReceived.
type specimen struct {
	data         []byte
	id, pushName string
	at           int64
	from         byte
}

// specimenTime is the time of most of them.
const specimenTime = 1_790_000_000

// sentByPhones returns messages of each kind as phones send them.
func (l *lab) sentByPhones(t testing.TB) (all []specimen) {
	t.Helper()
	ctx, to, by := testContext(t), l.phone.PN(), l.friend
	file := simnet.Media{Data: []byte("the bytes of a file"), Caption: "a caption", Width: 4, Height: 3, Seconds: 2, FileName: "plan.pdf", Pages: 2}
	bare := file
	bare.Caption = ""
	sent := func(id simnet.MessageID, err error) simnet.MessageID {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	text := sent(by.SendText(ctx, to, "hello"))
	poll := sent(by.SendPoll(ctx, to, "Where to?", []string{"hills", "sea"}, 1))
	ids := []simnet.MessageID{
		text, poll,
		sent(by.SendText(ctx, to, "an answer", simnet.QuotingID(text, by.LID(), "hello"))),
		sent(by.SendText(ctx, to, "look, @15550100200", simnet.Mentioning(l.phone.PN()))),
		sent(by.SendText(ctx, to, "gone soon", simnet.Ephemeral(86400))),
		sent(by.SendText(ctx, to, "passed on", simnet.Forwarded(5))),
		sent(by.SendImage(ctx, to, file)), sent(by.SendImage(ctx, to, file, simnet.ViewOnce())),
		sent(by.SendVideo(ctx, to, file)), sent(by.SendAudio(ctx, to, bare)), sent(by.SendSticker(ctx, to, bare)),
		sent(by.SendDocument(ctx, to, bare)), sent(by.SendDocument(ctx, to, file)),
		sent(by.SendLocation(ctx, to, 52.5, 13.4, "Tor", "Platz 1")),
		sent(by.SendText(ctx, to, "", simnet.ByAd(anAd()))), sent(by.SendAlbum(ctx, to, 1, 0, simnet.WithID("ALBUM"))), sent(by.SendImage(ctx, to, bare, simnet.InAlbum("ALBUM"))),
		sent(by.SendEvent(ctx, to, "Party", time.Unix(specimenTime, 0))), sent(by.Send(ctx, to, by.ExtensiblePoll("When?", []string{"now"}))),
		sent(by.SendContacts(ctx, to, []simnet.Card{simnet.NewCard("Dora", "491510000077")})),
		sent(by.SendContacts(ctx, to, []simnet.Card{simnet.NewCard("Dora", "491510000077"), simnet.NewCard("Emil", "491510000078")})),
	}
	for _, id := range ids {
		var raw []byte
		eventually(t, "message "+id, func() bool {
			m, err := l.store.Message(ctx, jidOf(by), id)
			raw = m.Raw
			return err == nil
		})
		all = append(all, specimen{raw, "PHONE" + id, "Sam", specimenTime, 0}, specimen{raw, "GROUP" + id, "Sam", specimenTime, InGroup})
	}
	l.phone.Forget()
	return append(all, changes(text, poll)...)
}

// changes returns messages that act on earlier ones.
func changes(text, poll simnet.MessageID) (all []specimen) {
	key := func(id string, fromMe bool) *waCommon.MessageKey {
		return &waCommon.MessageKey{ID: &id, FromMe: &fromMe, RemoteJID: proto.String("1@lid")}
	}
	edit := func(to string, edited *waE2E.Message) *waE2E.Message {
		return &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{Type: waE2E.ProtocolMessage_MESSAGE_EDIT.Enum(), Key: key(to, true), EditedMessage: edited}}
	}
	option := func(poll, name string) *waE2E.Message {
		return &waE2E.Message{PollAddOptionMessage: &waE2E.PollAddOptionMessage{PollCreationMessageKey: key(poll, true), AddOption: &waE2E.PollCreationMessage_Option{OptionName: &name}}}
	}
	pin := func(id string, kind waE2E.PinInChatMessage_Type, seconds uint32) *waE2E.Message {
		return &waE2E.Message{
			PinInChatMessage:   &waE2E.PinInChatMessage{Key: key(id, true), Type: &kind, SenderTimestampMS: proto.Int64(math.MinInt64)},
			MessageContextInfo: &waE2E.MessageContextInfo{MessageAddOnDurationInSecs: &seconds},
		}
	}
	for i, msg := range []*waE2E.Message{
		edit(text, &waE2E.Message{Conversation: proto.String("hello again")}), edit(text, nil), edit(text, &waE2E.Message{}), edit("", nil),
		edit(text, &waE2E.Message{EphemeralMessage: &waE2E.FutureProofMessage{}}), edit(poll, image(&waE2E.ImageMessage{Caption: proto.String("now")})),
		edit(text, edit(text, &waE2E.Message{Conversation: proto.String("nested")})),
		{ReactionMessage: &waE2E.ReactionMessage{Key: key(text, true), Text: proto.String("👍"), SenderTimestampMS: proto.Int64(math.MaxInt64)}},
		{ReactionMessage: &waE2E.ReactionMessage{Key: key(text, true), Text: proto.String("x\xff\x00"), SenderTimestampMS: proto.Int64(9_407_000_000_000_000)}},
		{ReactionMessage: &waE2E.ReactionMessage{Key: key("REACTION", true), Text: proto.String("👍")}},
		{ReactionMessage: &waE2E.ReactionMessage{}},
		{PollUpdateMessage: &waE2E.PollUpdateMessage{PollCreationMessageKey: key(poll, true), Vote: &waE2E.PollEncValue{EncPayload: []byte("x"), EncIV: []byte("y")}}},
		{PollUpdateMessage: &waE2E.PollUpdateMessage{}},
		{EncReactionMessage: &waE2E.EncReactionMessage{}},
		{SecretEncryptedMessage: &waE2E.SecretEncryptedMessage{TargetMessageKey: key(text, true)}},
		{EncEventResponseMessage: &waE2E.EncEventResponseMessage{}},
		{EncEventResponseMessage: &waE2E.EncEventResponseMessage{EventCreationMessageKey: key(text, true), EncPayload: []byte("x"), EncIV: []byte("y")}},
		{SecretEncryptedMessage: &waE2E.SecretEncryptedMessage{TargetMessageKey: key(poll, true), EncIV: []byte("short"), SecretEncType: waE2E.SecretEncryptedMessage_POLL_ADD_OPTION.Enum()}},
		option(poll, "valley"), option(poll, strings.Repeat("o", 100_000)), option(poll, "bad \xff\x00"), option(text, "no poll"), option("", ""),
		{PollAddOptionMessage: &waE2E.PollAddOptionMessage{}},
		pin(text, waE2E.PinInChatMessage_PIN_FOR_ALL, 86400), pin(text, waE2E.PinInChatMessage_UNPIN_FOR_ALL, 0), pin(poll, waE2E.PinInChatMessage_PIN_FOR_ALL, math.MaxUint32),
		pin(text, 77, 1), pin("NOT STORED", waE2E.PinInChatMessage_PIN_FOR_ALL, 0),
		{PinInChatMessage: &waE2E.PinInChatMessage{}},
		{KeepInChatMessage: &waE2E.KeepInChatMessage{}},
		{KeepInChatMessage: &waE2E.KeepInChatMessage{Key: key(text, true), KeepType: waE2E.KeepType_KEEP_FOR_ALL.Enum(), TimestampMS: proto.Int64(math.MaxInt64)}},
		{KeepInChatMessage: &waE2E.KeepInChatMessage{Key: key(text, true), KeepType: waE2E.KeepType_UNDO_KEEP_FOR_ALL.Enum(), TimestampMS: proto.Int64(math.MinInt64)}},
		{ProtocolMessage: &waE2E.ProtocolMessage{Type: waE2E.ProtocolMessage_EPHEMERAL_SETTING.Enum(), EphemeralExpiration: proto.Uint32(math.MaxUint32)}},
		{ProtocolMessage: &waE2E.ProtocolMessage{Type: waE2E.ProtocolMessage_REVOKE.Enum(), Key: key(poll, true)}},
		{ProtocolMessage: &waE2E.ProtocolMessage{}},
	} {
		for _, from := range []byte{0, ownMessage, InGroup} {
			all = append(all, specimen{encode(msg), fmt.Sprintf("CHANGE%d-%d", i, from), "Sam", specimenTime + 1, from})
		}
	}
	return all
}

func image(m *waE2E.ImageMessage) *waE2E.Message { return &waE2E.Message{ImageMessage: m} }

func encode(msg *waE2E.Message) []byte {
	data, err := proto.Marshal(msg)
	if err != nil {
		panic(err) // proto2 cannot refuse it
	}
	return data
}

// hostile returns messages, ids, names and times that no honest phone sends.
func hostile() (all []specimen) {
	for i, msg := range slices.Concat(emptyMessages(), absurdMessages(), absurdBusiness()) {
		all = append(all, specimen{encode(msg), fmt.Sprintf("HOSTILE%d", i), "Mallory", specimenTime, 0})
	}
	for i, m := range simnet.BusinessMessages(simnet.BusinessFiles{}) {
		all = append(all, specimen{encode(m.Message), fmt.Sprintf("BUSINESS%d", i), "Shop", specimenTime, 0})
	}
	hello := encode(&waE2E.Message{Conversation: proto.String("hello")})
	picture := encode(image(&waE2E.ImageMessage{Caption: proto.String("see"), Mimetype: proto.String("image/png")}))
	for _, id := range []string{".", "..", "...", "%2e", "a/b", "a/../b", "a\nb", "a\x00b", "\x1b[31m", "\xff\xfe", "ä", "\u202e", " ", "?x=1#y", "%", strings.Repeat("I", 200_000)} {
		all = append(all, specimen{hello, id, "Mallory", specimenTime, 0}, specimen{picture, id + " ", "Mallory", specimenTime, InGroup}, specimen{picture, id, "Mallory", specimenTime, InGroup})
	}
	for i, name := range []string{"", "\xff", "a\nb\x00c", "\u202eevil", strings.Repeat("N", 100_000)} {
		all = append(all, specimen{hello, fmt.Sprintf("NAME%d", i), name, specimenTime, byte(i) & InGroup})
	}
	for i, at := range []int64{0, -1, 1, math.MinInt64, math.MaxInt64, -62135596800, 253402300800, 9_404_000_000_000} {
		all = append(all, specimen{hello, fmt.Sprintf("TIME%d", i), "Mallory", at, 0})
	}
	for from := range byte(8) {
		all = append(all, specimen{picture, fmt.Sprintf("FROM%d", from), "Mallory", specimenTime, from})
	}
	unknown := protowire.AppendBytes(protowire.AppendTag(nil, 9999, protowire.BytesType), []byte("new"))
	return append(all, specimen{unknown, "UNKNOWN", "Mallory", specimenTime, 0}, specimen{nil, "EMPTY", "Mallory", specimenTime, 0})
}

// emptyMessages returns messages with a kind but no content.
func emptyMessages() []*waE2E.Message {
	empty := &waE2E.FutureProofMessage{}
	nested := &waE2E.Message{Conversation: proto.String("deep")}
	for range 12 {
		nested = &waE2E.Message{EphemeralMessage: &waE2E.FutureProofMessage{Message: nested}}
	}
	return []*waE2E.Message{
		{EphemeralMessage: empty},
		{ViewOnceMessage: empty},
		{ViewOnceMessageV2: empty},
		{DocumentWithCaptionMessage: empty},
		{EditedMessage: empty},
		{EphemeralMessage: &waE2E.FutureProofMessage{Message: &waE2E.Message{ViewOnceMessageV2: empty}}},
		{DeviceSentMessage: &waE2E.DeviceSentMessage{}},
		nested,
		{Conversation: proto.String("")},
		{ExtendedTextMessage: &waE2E.ExtendedTextMessage{}},
		image(&waE2E.ImageMessage{}),
		{VideoMessage: &waE2E.VideoMessage{}},
		{PtvMessage: &waE2E.VideoMessage{}},
		{AudioMessage: &waE2E.AudioMessage{}},
		{StickerMessage: &waE2E.StickerMessage{}},
		{DocumentMessage: &waE2E.DocumentMessage{}},
		{LocationMessage: &waE2E.LocationMessage{}},
		{LiveLocationMessage: &waE2E.LiveLocationMessage{}},
		{ContactMessage: &waE2E.ContactMessage{}},
		{ContactsArrayMessage: &waE2E.ContactsArrayMessage{}},
		{PollCreationMessage: &waE2E.PollCreationMessage{}},
		{PollCreationMessageV3: &waE2E.PollCreationMessage{}},
		{PollCreationMessageV4: empty},
		{TemplateMessage: &waE2E.TemplateMessage{}},
		{ListMessage: &waE2E.ListMessage{}},
		{ButtonsMessage: &waE2E.ButtonsMessage{}},
		{InteractiveMessage: &waE2E.InteractiveMessage{}},
		{HighlyStructuredMessage: &waE2E.HighlyStructuredMessage{}},
		{OrderMessage: &waE2E.OrderMessage{}},
		{ProductMessage: &waE2E.ProductMessage{}},
		{EventMessage: &waE2E.EventMessage{}},
		{GroupInviteMessage: &waE2E.GroupInviteMessage{}},
		{AlbumMessage: &waE2E.AlbumMessage{}},
		{Call: &waE2E.Call{}},
		{Chat: &waE2E.Chat{}},
		{BotInvokeMessage: empty},
		{SenderKeyDistributionMessage: &waE2E.SenderKeyDistributionMessage{}},
	}
}

// absurdMessages returns messages with absurd sizes, places and texts.
func absurdMessages() []*waE2E.Message {
	mentioned, options := make([]string, 65_536), make([]*waE2E.PollCreationMessage_Option, 10_000)
	for i := range mentioned {
		mentioned[i] = fmt.Sprintf("%d@lid", i)
	}
	for i := range options {
		options[i] = &waE2E.PollCreationMessage_Option{OptionName: proto.String(strings.Repeat("same", i%2))}
	}
	location := func(latitude, longitude float64) *waE2E.Message {
		return &waE2E.Message{LocationMessage: &waE2E.LocationMessage{DegreesLatitude: &latitude, DegreesLongitude: &longitude}}
	}
	bad := "bad \xff\xc0\x80\xed\xa0\x80 text\x00"
	most := uint32(math.MaxUint32)
	file := &waE2E.DocumentMessage{
		FileName: proto.String("../../etc/passwd\n\u202efdp.exe"), Title: &bad, Caption: &bad, Mimetype: &bad, PageCount: &most,
		FileLength: proto.Uint64(math.MaxUint64), DirectPath: &bad, URL: &bad, MediaKey: []byte("short"), FileSHA256: []byte("x"), FileEncSHA256: []byte("y"),
	}
	at := func(path string) *waE2E.Message {
		return image(&waE2E.ImageMessage{
			DirectPath: &path, MediaKey: make([]byte, 32), FileSHA256: make([]byte, 32), FileEncSHA256: make([]byte, 32),
			FileLength: proto.Uint64(10), Mimetype: proto.String("image/png"), Width: &most, Height: &most,
		})
	}
	return []*waE2E.Message{
		{DocumentMessage: file},
		at("@127.0.0.1:1/x"), at("/v/x?a=b\r\nHost: x"), at("x"), at(strings.Repeat("/long", 10_000)),
		image(&waE2E.ImageMessage{Mimetype: proto.String("image/" + strings.Repeat("x", 30_000)), Caption: proto.String(strings.Repeat("c", 70_000))}),
		image(&waE2E.ImageMessage{Mimetype: proto.String("image/png\r\nX-Injected: yes")}), image(&waE2E.ImageMessage{Mimetype: proto.String("text/html")}),
		{VideoMessage: &waE2E.VideoMessage{FileLength: proto.Uint64(1 << 63), Seconds: &most, Width: &most}},
		{AudioMessage: &waE2E.AudioMessage{Seconds: &most, Waveform: make([]byte, 100_000)}},
		location(math.NaN(), math.Inf(1)), location(math.Inf(-1), -math.MaxFloat64), location(1e308, 91),
		{PollCreationMessage: &waE2E.PollCreationMessage{Name: &bad, Options: options, SelectableOptionsCount: &most}},
		{PollCreationMessageV3: &waE2E.PollCreationMessage{Name: proto.String("none?")}},
		{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: &bad, ContextInfo: &waE2E.ContextInfo{StanzaID: &bad, Participant: &bad, MentionedJID: mentioned, Expiration: &most, ForwardingScore: &most}}},
		{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: proto.String(strings.Repeat("long ", 60_000)), ContextInfo: &waE2E.ContextInfo{StanzaID: proto.String(strings.Repeat("I", 100_000)), QuotedMessage: &waE2E.Message{EphemeralMessage: &waE2E.FutureProofMessage{}}}}},
		{ContactMessage: &waE2E.ContactMessage{DisplayName: &bad, Vcard: proto.String("BEGIN:VCARD\n" + strings.Repeat("TEL:1\n", 50_000))}},
		{Conversation: &bad},
		{Conversation: proto.String("\x00")},
		{Conversation: proto.String("\u202e\u2028\ufeff")},
		{ContactsArrayMessage: &waE2E.ContactsArrayMessage{Contacts: make([]*waE2E.ContactMessage, 257)}},
		{GroupInviteMessage: &waE2E.GroupInviteMessage{GroupJID: &bad, Caption: &bad, InviteExpiration: proto.Int64(math.MinInt64)}},
		{AlbumMessage: &waE2E.AlbumMessage{ExpectedImageCount: &most, ExpectedVideoCount: &most, ContextInfo: &waE2E.ContextInfo{ConversionData: make([]byte, 100_000)}}},
		{ImageMessage: &waE2E.ImageMessage{}, MessageContextInfo: &waE2E.MessageContextInfo{MessageAssociation: &waE2E.MessageAssociation{
			AssociationType: waE2E.MessageAssociation_MEDIA_ALBUM.Enum(), ParentMessageKey: &waCommon.MessageKey{ID: proto.String("bad/\x00" + strings.Repeat("I", 100_000))},
		}}},
		{ExtendedTextMessage: &waE2E.ExtendedTextMessage{ContextInfo: &waE2E.ContextInfo{
			ConversionSource: &bad, CtwaSignals: &bad, EntryPointConversionSource: proto.String(strings.Repeat("ctwa", 50_000)),
			ExternalAdReply: &waE2E.ContextInfo_ExternalAdReplyInfo{
				Title: proto.String(strings.Repeat("head", 50_000)), Body: &bad, SourceType: &bad, SourceID: &bad, SourceURL: &bad, CtwaClid: &bad,
				MediaType: waE2E.ContextInfo_ExternalAdReplyInfo_MediaType(99).Enum(), Thumbnail: append([]byte{0xff, 0xd8, 0xff}, make([]byte, 1<<20)...),
			},
		}}},
		{MessageContextInfo: &waE2E.MessageContextInfo{MessageSecret: make([]byte, 1)}, Conversation: proto.String("short secret")},
		{ImageMessage: &waE2E.ImageMessage{Caption: proto.String("two")}, Conversation: proto.String("kinds")},
		{PollCreationMessageV6: &waE2E.PollCreationMessage{Options: []*waE2E.PollCreationMessage_Option{{}, {}}}},
		{TemplateMessage: &waE2E.TemplateMessage{Format: &waE2E.TemplateMessage_HydratedFourRowTemplate_{HydratedFourRowTemplate: &waE2E.TemplateMessage_HydratedFourRowTemplate{}}}},
	}
}

// absurdBusiness returns absurd messages of businesses.
func absurdBusiness() []*waE2E.Message {
	bad, long := "bad \xff text\x00", strings.Repeat("long ", 20_000)
	flow := func(params string) *waE2E.InteractiveMessage {
		return &waE2E.InteractiveMessage{InteractiveMessage: &waE2E.InteractiveMessage_NativeFlowMessage_{NativeFlowMessage: &waE2E.InteractiveMessage_NativeFlowMessage{
			Buttons: []*waE2E.InteractiveMessage_NativeFlowMessage_NativeFlowButton{{Name: proto.String("single_select"), ButtonParamsJSON: &params}},
		}}}
	}
	cards, rows := make([]*waE2E.InteractiveMessage, 5000), make([]*waE2E.ListMessage_Row, 20_000)
	for i := range cards {
		cards[i] = flow(`{"display_text":"x","url":"y"}`)
	}
	for i := range rows {
		rows[i] = &waE2E.ListMessage_Row{Title: &bad}
	}
	nested := flow("{}")
	for range 500 {
		nested = &waE2E.InteractiveMessage{InteractiveMessage: &waE2E.InteractiveMessage_CarouselMessage_{CarouselMessage: &waE2E.InteractiveMessage_CarouselMessage{Cards: []*waE2E.InteractiveMessage{nested, nil}}}}
	}
	huge := proto.Int64(math.MinInt64)
	return []*waE2E.Message{
		{InteractiveMessage: nested},
		{InteractiveMessage: &waE2E.InteractiveMessage{InteractiveMessage: &waE2E.InteractiveMessage_CarouselMessage_{CarouselMessage: &waE2E.InteractiveMessage_CarouselMessage{Cards: cards}}}},
		{InteractiveMessage: flow(strings.Repeat("[", 50_000))},
		{InteractiveMessage: flow(`{"sections":[{"rows":[{"id":{"a":1},"title":7}]}],"total_amount":{"value":1e400},"order":{"items":[{"quantity":-9}]}}`)},
		{InteractiveMessage: flow(`{"total_amount":{"value":9223372036854775807,"offset":-1},"currency":"` + long + `","order":{"status":"` + long + `"}}`)},
		{ListMessage: &waE2E.ListMessage{Title: &bad, Sections: []*waE2E.ListMessage_Section{{Title: &long, Rows: rows}}}},
		{ProductMessage: &waE2E.ProductMessage{BusinessOwnerJID: &bad, Product: &waE2E.ProductMessage_ProductSnapshot{URL: &long, Title: &bad, PriceAmount1000: proto.Int64(math.MaxInt64), SalePriceAmount1000: huge}}},
		{OrderMessage: &waE2E.OrderMessage{SellerJID: proto.String("1-2@g.us"), ItemCount: proto.Int32(math.MinInt32), TotalAmount1000: huge, Status: waE2E.OrderMessage_OrderStatus(99).Enum()}},
		{EventMessage: &waE2E.EventMessage{Name: &bad, StartTime: proto.Int64(math.MaxInt64), EndTime: huge, Location: &waE2E.LocationMessage{DegreesLatitude: proto.Float64(math.NaN())}}},
		{RequestPaymentMessage: &waE2E.RequestPaymentMessage{Amount1000: proto.Uint64(math.MaxUint64), Amount: &waE2E.Money{Value: huge, Offset: proto.Uint32(0)}}},
		{RequestPaymentMessage: &waE2E.RequestPaymentMessage{Amount1000: proto.Uint64(math.MaxUint64)}},
		{GroupInviteMessage: &waE2E.GroupInviteMessage{GroupJID: proto.String("15550100301@s.whatsapp.net"), InviteCode: &long}},
		{PollResultSnapshotMessage: &waE2E.PollResultSnapshotMessage{PollVotes: []*waE2E.PollResultSnapshotMessage_PollVote{{OptionName: &long, OptionVoteCount: huge}}}},
		{ContactMessage: &waE2E.ContactMessage{Vcard: proto.String("TEL;waid=0:1\nTEL;waid=99999999999999999999:2\nORG:;;;\nEMAIL:" + bad)}},
		{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: &bad, MatchedText: &bad, Title: &long}},
	}
}
