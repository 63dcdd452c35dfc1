package convert

import (
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// businessMessages returns one message of every kind, with files in their headers.
func businessMessages() []simnet.BusinessMessage {
	return simnet.BusinessMessages(simnet.BusinessFiles{
		Image:    &waE2E.ImageMessage{Mimetype: proto.String("image/png"), DirectPath: proto.String("/image"), URL: proto.String("https://cdn/image")},
		Video:    &waE2E.VideoMessage{Mimetype: proto.String("video/mp4"), DirectPath: proto.String("/video"), URL: proto.String("https://cdn/video")},
		Document: &waE2E.DocumentMessage{Mimetype: proto.String("application/pdf"), FileName: proto.String("statement.pdf"), DirectPath: proto.String("/document"), URL: proto.String("https://cdn/document")},
	})
}

// personalMessages returns kinds of personal messages whose fields other tests do
// not cover.
func personalMessages() []simnet.BusinessMessage {
	place := &waE2E.LocationMessage{DegreesLatitude: proto.Float64(52.5), DegreesLongitude: proto.Float64(13.4), Name: proto.String("Tor"), Address: proto.String("Platz 1"), URL: proto.String("https://tor.example")}
	card := &waE2E.ContactMessage{DisplayName: proto.String("Dora"), Vcard: proto.String("BEGIN:VCARD\nFN:Dora\nTEL;waid=491510000077:+49 151 0000077\nEND:VCARD")}
	poll := &waE2E.PollCreationMessage{Name: proto.String("Where to?"), Options: []*waE2E.PollCreationMessage_Option{{OptionName: proto.String("sea")}}}
	return []simnet.BusinessMessage{
		{Name: "text", Message: &waE2E.Message{Conversation: proto.String("hello")}},
		{Name: "link", Message: &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{
			Text: proto.String("see https://a.example"), MatchedText: proto.String("https://a.example"),
			Title: proto.String("A"), Description: proto.String("page"),
		}}},
		{Name: "image", Message: &waE2E.Message{ImageMessage: &waE2E.ImageMessage{Caption: proto.String("look")}}},
		{Name: "video", Message: &waE2E.Message{VideoMessage: &waE2E.VideoMessage{Caption: proto.String("look")}}},
		{Name: "round video", Message: &waE2E.Message{PtvMessage: &waE2E.VideoMessage{}}},
		{Name: "audio", Message: &waE2E.Message{AudioMessage: &waE2E.AudioMessage{}}},
		{Name: "sticker", Message: &waE2E.Message{StickerMessage: &waE2E.StickerMessage{}}},
		{Name: "document", Message: &waE2E.Message{DocumentMessage: &waE2E.DocumentMessage{Caption: proto.String("read")}}},
		{Name: "place", Message: &waE2E.Message{LocationMessage: place}},
		{Name: "live place", Message: &waE2E.Message{LiveLocationMessage: &waE2E.LiveLocationMessage{DegreesLatitude: proto.Float64(1), DegreesLongitude: proto.Float64(2), Caption: proto.String("on my way")}}},
		{Name: "contact", Message: &waE2E.Message{ContactMessage: card}},
		{Name: "contacts", Message: &waE2E.Message{ContactsArrayMessage: &waE2E.ContactsArrayMessage{Contacts: []*waE2E.ContactMessage{card, {DisplayName: proto.String("Emil")}}}}},
		{Name: "poll", Message: &waE2E.Message{PollCreationMessageV3: poll}},
		{Name: "album", Message: &waE2E.Message{AlbumMessage: &waE2E.AlbumMessage{ExpectedImageCount: proto.Uint32(2), ExpectedVideoCount: proto.Uint32(1)}}},
		{Name: "call", Message: &waE2E.Message{ScheduledCallCreationMessage: &waE2E.ScheduledCallCreationMessage{Title: proto.String("Weekly")}}},
		{Name: "music", Message: &waE2E.Message{MusicMessage: &waE2E.MusicMessage{EmbeddedMusic: &waE2E.EmbeddedMusic{Author: proto.String("Bach"), Title: proto.String("Air")}, SongUri: proto.String("https://song.example")}}},
		{Name: "sticker pack", Message: &waE2E.Message{StickerPackMessage: &waE2E.StickerPackMessage{Name: proto.String("Cats"), Publisher: proto.String("Cat Co")}}},
		{Name: "broadcast call", Message: &waE2E.Message{BcallMessage: &waE2E.BCallMessage{Caption: proto.String("Live")}}},
		{Name: "answer to a status", Message: &waE2E.Message{StatusQuestionAnswerMessage: &waE2E.StatusQuestionAnswerMessage{Text: proto.String("blue")}}},
		{Name: "answer to a question", Message: &waE2E.Message{QuestionResponseMessage: &waE2E.QuestionResponseMessage{Text: proto.String("red")}}},
		{Name: "quoted status", Message: &waE2E.Message{StatusQuotedMessage: &waE2E.StatusQuotedMessage{Text: proto.String("green")}}},
	}
}

// reads is the expected reading of a message.
type reads struct {
	Type, Content string
	Media         bridge.MediaType
	Poll          *bridge.PollTally
	bridge.Parts
}

func at(seconds int64) *bridge.Time {
	at := bridge.At(time.Unix(seconds, 0))
	return &at
}

func offers(kind bridge.InteractiveKind, title, body, footer string, buttons ...bridge.Button) bridge.Parts {
	return bridge.Parts{Interactive: &bridge.Interactive{Kind: kind, Title: title, Body: body, Footer: footer, Buttons: append([]bridge.Button{}, buttons...)}}
}

func choice(kind bridge.InteractiveKind, id, text string) bridge.Parts {
	p := offers(kind, "", "", "")
	p.Interactive.Selected = &bridge.Choice{ID: id, Text: text}
	return p
}

func (r reads) with(change func(*bridge.Parts)) reads {
	change(&r.Parts)
	return r
}

const theShoe = "Boot\nwarm and dry\n59.995 EUR\nhttps://shoes.example/8\nStill interested?\nShoe shop"

var (
	theGate = &bridge.Place{Latitude: 52.3667, Longitude: 13.5033, Name: "Gate B12", Address: "BER, Terminal 1"}
	theShop = &bridge.Place{Latitude: 41.38, Longitude: 2.17, Name: "Shoe shop", Address: "Calle 5"}
	theBoot = &bridge.Product{
		Title: "Boot", Description: "warm and dry", ID: "8", RetailerID: "boot-8", URL: "https://shoes.example/8",
		Price: "89.90", SalePrice: "59.995", Currency: "EUR", SellerJID: "34600100109@s.whatsapp.net",
	}
	theResult = &bridge.PollTally{Name: "Best shoe?", Options: []bridge.PollOption{{Name: "Boot", Votes: 12, Voters: []bridge.JID{}}, {Name: "Sandal", Votes: 3, Voters: []bridge.JID{}}}}
)

// bankReads are the expected readings of a bank's messages and of payments.
func bankReads() map[string]reads {
	return map[string]reads{
		"one-time passcode": {Type: "placeholderMessage", Content: "A one-time passcode was sent. Only the phone shows it."},
		"statement": {
			Type: "templateMessage", Content: "Your statement of October is here.\nNordbank\nCall us: +49301234567", Media: bridge.MediaDocument,
			Parts: offers(bridge.InteractiveTemplate, "", "Your statement of October is here.", "Nordbank", bridge.Button{Text: "Call us", Phone: "+49301234567"}),
		},
		"card payment": {
			Type: "templateMessage", Content: "Card payment\nDid you pay 80.00 EUR at Kiosk 24?\nYes, it was me\nNo, block my card",
			Parts: offers(bridge.InteractiveTemplate, "Card payment", "Did you pay 80.00 EUR at Kiosk 24?", "", bridge.Button{ID: "yes-7", Text: "Yes, it was me"}, bridge.Button{ID: "no-7", Text: "No, block my card"}),
		},
		"four rows": {
			Type: "templateMessage", Content: "Nordbank\nDear Olga, 12 Nov\n24 hours\nOpen: https://bank.example/12\nCall: +49301234567\nThanks",
			Parts: offers(bridge.InteractiveTemplate, "Nordbank", "Dear Olga, 12 Nov", "24 hours", bridge.Button{Text: "Open", URL: "https://bank.example/12"},
				bridge.Button{Text: "Call", Phone: "+49301234567"}, bridge.Button{ID: "thanks", Text: "Thanks"}),
		},
		"structured":              {Type: "highlyStructuredMessage", Content: "250.00 EUR, 21 November"},
		"structured and hydrated": {Type: "highlyStructuredMessage", Content: "250.00 EUR have arrived.", Parts: offers(bridge.InteractiveTemplate, "", "250.00 EUR have arrived.", "")},

		"payment":               {Type: "sendPaymentMessage", Content: "Payment\nfor the pizza"},
		"payment request":       {Type: "requestPaymentMessage", Content: "Payment request: 12.50 BRL\nfor the pizza"},
		"older payment request": {Type: "requestPaymentMessage", Content: "Payment request: 99.00 INR"},
		"declined request":      {Type: "declinePaymentRequestMessage", Content: "Payment request declined"},
		"cancelled request":     {Type: "cancelPaymentRequestMessage", Content: "Payment request cancelled"},
		"payment invite":        {Type: "paymentInviteMessage", Content: "Invitation to payments"},
		"payment reminder":      {Type: "paymentReminderMessage", Content: "Payment reminder: 900.00 EUR\nrent"},
		"split payment":         {Type: "splitPaymentMessage", Content: "Split payment: 60.00 EUR\ndinner"},
		"invoice":               {Type: "invoiceMessage", Content: "invoice 4711", Media: bridge.MediaDocument},
		"invoice as a picture":  {Type: "invoiceMessage", Content: "receipt", Media: bridge.MediaImage},
	}
}

// airlineReads are the expected readings of an airline's messages.
func airlineReads() map[string]reads {
	return map[string]reads{
		"boarding pass": {
			Type: "templateMessage", Content: "Your boarding pass for XY 123\nHave a good flight\nManage booking: https://air.example/b/ABC123", Media: bridge.MediaImage,
			Parts: offers(bridge.InteractiveTemplate, "", "Your boarding pass for XY 123", "Have a good flight", bridge.Button{Text: "Manage booking", URL: "https://air.example/b/ABC123"}),
		},
		"gate": reads{Type: "templateMessage", Content: "Gate B12, BER, Terminal 1\nBoarding begins at 10:20.", Parts: offers(bridge.InteractiveTemplate, "", "Boarding begins at 10:20.", "")}.
			with(func(p *bridge.Parts) { p.Location = theGate }),
		"delay": {
			Type: "interactiveMessage", Content: "XY 123 is late\nby two hours\nWhat would you like to do?\nWe are sorry\nWait\nRebook: https://air.example/r\nCall us: +49309876543\n" +
				"Copy voucher: SORRY20\nAsk for a refund\nStatus: https://air.example/s",
			Parts: offers(bridge.InteractiveFlow, "XY 123 is late", "What would you like to do?", "We are sorry", bridge.Button{ID: "wait-1", Text: "Wait"}, bridge.Button{Text: "Rebook", URL: "https://air.example/r"},
				bridge.Button{Text: "Call us", Phone: "+49309876543"}, bridge.Button{ID: "v", Text: "Copy voucher"}, bridge.Button{Text: "Ask for a refund"}, bridge.Button{Text: "Status", URL: "https://air.example/s"}),
		},
		"seat": {
			Type: "templateMessage", Content: "More legroom for 20.00 EUR\nTake it", Media: bridge.MediaVideo,
			Parts: offers(bridge.InteractiveTemplate, "", "More legroom for 20.00 EUR", "", bridge.Button{ID: "7", Text: "Take it"}),
		},
		"check-in": {
			Type: "eventMessage", Content: "Check-in\nonline or at the desk\nGate B12, BER, Terminal 1\nhttps://call.whatsapp.com/video/abc",
			Parts: bridge.Parts{Event: &bridge.CalendarEvent{Name: "Check-in", Description: "online or at the desk", Location: theGate, StartAt: at(1_790_000_000), EndAt: at(1_790_003_600)}},
		},
		"cancelled event": {Type: "eventMessage", Content: "Lounge party", Parts: bridge.Parts{Event: &bridge.CalendarEvent{Name: "Lounge party", Cancelled: true}}},
		"event invite": {
			Type: "eventInviteMessage", Content: "Members' day\ncome",
			Parts: bridge.Parts{Event: &bridge.CalendarEvent{Name: "Members' day", Description: "come", StartAt: at(1_790_000_000)}},
		},
	}
}

// shopReads are the expected readings of a shop's messages.
func shopReads() map[string]reads {
	return map[string]reads{
		"buttons": {
			Type: "buttonsMessage", Content: "New shoes!\nShoe shop\nShow me\nWeb shop: https://shoes.example", Media: bridge.MediaVideo,
			Parts: offers(bridge.InteractiveButtons, "", "New shoes!", "Shoe shop", bridge.Button{ID: "more", Text: "Show me"}, bridge.Button{Text: "Web shop", URL: "https://shoes.example"}),
		},
		"buttons with a title": {Type: "buttonsMessage", Content: "Delivery\nIs tomorrow fine?\nYes", Parts: offers(bridge.InteractiveButtons, "Delivery", "Is tomorrow fine?", "", bridge.Button{ID: "1", Text: "Yes"})},
		"buttons with a place": reads{Type: "buttonsMessage", Content: "Shoe shop, Calle 5\nPick it up here\nOK", Parts: offers(bridge.InteractiveButtons, "", "Pick it up here", "", bridge.Button{ID: "ok", Text: "OK"})}.
			with(func(p *bridge.Parts) { p.Location = theShop }),
		"flow with a place": reads{Type: "interactiveMessage", Content: "Shoe shop, Calle 5\nWe are here\nThanks", Parts: offers(bridge.InteractiveFlow, "", "We are here", "", bridge.Button{ID: "t", Text: "Thanks"})}.
			with(func(p *bridge.Parts) { p.Location = theShop }),
		"list": {
			Type: "listMessage", Content: "Sizes\nWhich one?\nEU sizes\nChoose\nSmall\n36: in stock\n37\nLarge\n45: two left",
			Parts: offers(bridge.InteractiveList, "Sizes", "Which one?", "EU sizes", bridge.Button{ID: "s36", Text: "36"}, bridge.Button{ID: "s37", Text: "37"}, bridge.Button{ID: "s45", Text: "45"}),
		},
		"product list": {Type: "listMessage", Content: "Boots\nFor winter\nLeather", Parts: offers(bridge.InteractiveList, "Boots", "For winter", "")},
		"newer list": {
			Type: "interactiveMessage", Content: "Which colour?\nColours\nDark\nblack: matt\nblue",
			Parts: offers(bridge.InteractiveList, "", "Which colour?", "", bridge.Button{ID: "bk", Text: "black"}, bridge.Button{ID: "bl", Text: "blue"}),
		},
		"carousel": {
			Type: "interactiveMessage", Content: "Our favourites\nSneaker\nBuy\nSandal\nBuy", Media: bridge.MediaImage,
			Parts: offers(bridge.InteractiveCarousel, "", "Our favourites", "", bridge.Button{ID: "c1", Text: "Buy"}, bridge.Button{ID: "c2", Text: "Buy"}),
		},
		"shop":       {Type: "interactiveMessage", Content: "Visit our shop", Parts: offers(bridge.InteractiveShop, "", "Visit our shop", "")},
		"collection": {Type: "interactiveMessage", Content: "Autumn\nAll of it", Media: bridge.MediaDocument, Parts: offers(bridge.InteractiveCollection, "Autumn", "All of it", "")},

		"product": {Type: "productMessage", Content: theShoe, Media: bridge.MediaImage, Parts: bridge.Parts{Product: theBoot}},
		"catalog": {Type: "productMessage", Content: "Shoe shop\nall shoes", Media: bridge.MediaImage, Parts: bridge.Parts{Product: &bridge.Product{Title: "Shoe shop", Description: "all shoes"}}},
		"product with buttons": reads{
			Type: "interactiveMessage", Content: theShoe + "\nKeep it for me", Media: bridge.MediaImage,
			Parts: offers(bridge.InteractiveFlow, "", "", "", bridge.Button{ID: "keep", Text: "Keep it for me"}),
		}.with(func(p *bridge.Parts) { p.Product = theBoot }),
		"order": {Type: "orderMessage", Content: "Boot\n2 items\nPlease by Friday\n119.99 EUR", Parts: bridge.Parts{Order: &bridge.ShopOrder{
			Title: "Boot", ID: "1001",
			SellerJID: "34600100109@s.whatsapp.net", ItemCount: 2, Total: "119.99", Currency: "EUR", Status: "inquiry",
		}}},
		"order to be paid": reads{Type: "interactiveMessage", Content: "Please pay\n2 × Boot: 59.99 EUR\nLaces\n119.99 EUR", Parts: offers(bridge.InteractiveFlow, "", "Please pay", "")}.with(func(p *bridge.Parts) {
			p.Order = &bridge.ShopOrder{Title: "Boot, Laces", ID: "R-7", ItemCount: 3, Total: "119.99", Currency: "EUR", Status: "pending"}
		}),
		"order on its way": reads{Type: "interactiveMessage", Content: "News of your order\nArrives on Friday", Parts: offers(bridge.InteractiveFlow, "", "News of your order", "")}.with(func(p *bridge.Parts) {
			p.Order = &bridge.ShopOrder{ID: "4711", Status: "shipped"}
		}),
	}
}

// otherReads are the expected readings of other messages and of answers.
func otherReads() map[string]reads {
	return map[string]reads{
		"poll result":       {Type: "pollResultSnapshotMessage", Content: "Best shoe?\nBoot: 12\nSandal: 3", Poll: theResult},
		"newer poll result": {Type: "pollResultSnapshotMessageV3", Content: "Best shoe?\nBoot: 12\nSandal: 3", Poll: theResult},
		"group invite": {Type: "groupInviteMessage", Content: "Shoe friends\nJoin us", Parts: bridge.Parts{GroupInvite: &bridge.GroupInvite{
			JID: "120363000000000009@g.us", Name: "Shoe friends", Code: "AbCdEf", ExpiresAt: at(1_790_000_000),
		}}},
		"channel invite":       {Type: "newsletterFollowerInviteMessageV2", Content: "Shoe news\nFollow us"},
		"channel admin invite": {Type: "newsletterAdminInviteMessage", Content: "Shoe news"},
		"AI":                   {Type: "richResponseMessage", Content: "Berlin has 3.8 million people.\nCities\nCity | People\nHamburg | 1.9\nprint(1)\nA bear: https://ai.example/bear.png"},
		"newer AI":             {Type: "richResponseMessage", Content: "Hello from the AI.\nAnd more."},

		"button chosen":            {Type: "buttonsResponseMessage", Content: "Show me", Parts: choice(bridge.InteractiveButtons, "more", "Show me")},
		"template's button chosen": {Type: "templateButtonReplyMessage", Content: "Yes, it was me", Parts: choice(bridge.InteractiveTemplate, "yes-7", "Yes, it was me")},
		"row chosen":               {Type: "listResponseMessage", Content: "36\nin stock", Parts: choice(bridge.InteractiveList, "s36", "36")},
		"flow's button chosen":     {Type: "interactiveResponseMessage", Content: "Wait", Parts: choice(bridge.InteractiveFlow, "wait-1", "Wait")},
	}
}

// personalReads are the expected readings of personal messages.
func personalReads() map[string]reads {
	dora := bridge.SharedContact{
		DisplayName: "Dora", Phones: []bridge.SharedPhone{{Number: "+49 151 0000077", JID: "491510000077@s.whatsapp.net"}}, Emails: []string{},
		VCard: "BEGIN:VCARD\nFN:Dora\nTEL;waid=491510000077:+49 151 0000077\nEND:VCARD",
	}
	emil := bridge.SharedContact{DisplayName: "Emil", Phones: []bridge.SharedPhone{}, Emails: []string{}}
	return map[string]reads{
		"text":        {Type: "conversation", Content: "hello"},
		"link":        {Type: "extendedTextMessage", Content: "see https://a.example", Parts: bridge.Parts{LinkPreview: &bridge.LinkPreview{URL: "https://a.example", Title: "A", Description: "page"}}},
		"image":       {Type: "imageMessage", Content: "look", Media: bridge.MediaImage},
		"video":       {Type: "videoMessage", Content: "look", Media: bridge.MediaVideo},
		"round video": {Type: "ptvMessage", Media: bridge.MediaVideo},
		"audio":       {Type: "audioMessage", Media: bridge.MediaAudio},
		"sticker":     {Type: "stickerMessage", Media: bridge.MediaSticker},
		"document":    {Type: "documentMessage", Content: "read", Media: bridge.MediaDocument},
		"place": {Type: "locationMessage", Content: "Tor, Platz 1", Parts: bridge.Parts{Location: &bridge.Place{
			Latitude: 52.5, Longitude: 13.4, Name: "Tor", Address: "Platz 1", URL: "https://tor.example",
		}}},
		"live place": {Type: "liveLocationMessage", Content: "on my way", Parts: bridge.Parts{Location: &bridge.Place{Latitude: 1, Longitude: 2, Name: "on my way", IsLive: true}}},
		"contact":    {Type: "contactMessage", Content: "Dora", Parts: bridge.Parts{Contacts: []bridge.SharedContact{dora}}},
		"contacts":   {Type: "contactsArrayMessage", Content: "Dora, Emil", Parts: bridge.Parts{Contacts: []bridge.SharedContact{dora, emil}}},
		"poll": {
			Type: "pollCreationMessageV3", Content: "Where to?",
			Poll: &bridge.PollTally{Name: "Where to?", Options: []bridge.PollOption{{Name: "sea", Voters: []bridge.JID{}}}},
		},
		"call":                 {Type: "scheduledCallCreationMessage", Content: "Weekly"},
		"music":                {Type: "musicMessage", Content: "Bach: Air\nhttps://song.example"},
		"sticker pack":         {Type: "stickerPackMessage", Content: "Cats\nCat Co"},
		"album":                {Type: "albumMessage", Parts: bridge.Parts{Album: &bridge.Album{Images: 2, Videos: 1}}},
		"broadcast call":       {Type: "bcallMessage", Content: "Live"},
		"answer to a status":   {Type: "statusQuestionAnswerMessage", Content: "blue"},
		"answer to a question": {Type: "questionResponseMessage", Content: "red"},
		"quoted status":        {Type: "statusQuotedMessage", Content: "green"},
	}
}

// TestRead_EveryKindShowsWhatAPhoneShows of it.
func TestRead_EveryKindShowsWhatAPhoneShows(t *testing.T) {
	want := make(map[string]reads)
	for _, rows := range []map[string]reads{bankReads(), airlineReads(), shopReads(), otherReads(), personalReads()} {
		maps.Copy(want, rows)
	}
	for _, m := range append(businessMessages(), personalMessages()...) {
		got := described(m.Message)
		shows := reads{Type: got.MessageType, Content: got.Content, Poll: got.Poll, Parts: got.Parts}
		if got.Media != nil {
			shows.Media = got.Media.Type
		}
		if diff := cmp.Diff(want[m.Name], shows); diff != "" {
			t.Errorf("%s (-want +got):\n%s", m.Name, diff)
		}
		delete(want, m.Name)
	}
	for name := range want {
		t.Errorf("nobody sends %q", name)
	}
}

// TestForwardForm_OfBusinessMessages: their text under their file, which can get a
// new path.
func TestForwardForm_OfBusinessMessages(t *testing.T) {
	for _, m := range businessMessages() {
		original := described(m.Message)
		k := kindOf[original.MessageType]
		if k.forward == notForwarded {
			continue
		}
		forwarded, err := forwardedContent(proto.Clone(m.Message).(*waE2E.Message))
		if err != nil {
			t.Errorf("%s: %v", m.Name, err)
			continue
		}
		got := described(forwarded)
		if got.Content != original.Content || (got.Media == nil) != (original.Media == nil) {
			t.Errorf("%s is forwarded as %+v, it was %+v", m.Name, got, original)
		}
		if k.forward == asWords && kindOf[got.MessageType].forward != asIs {
			t.Errorf("%s is forwarded as a %s", m.Name, got.MessageType)
		}
		if got.Media == nil {
			continue
		}
		SetDirectPath(forwarded, "/another")
		if now := described(forwarded).Media.Ref.DirectPath; now != "/another" || original.Media.Ref.DirectPath == now {
			t.Errorf("%s: the forwarded file lies at %s", m.Name, now)
		}
	}
}

// TestSetDirectPath_InAHeader covers a file that the phone has uploaded again.
func TestSetDirectPath_InAHeader(t *testing.T) {
	for _, m := range businessMessages() {
		msg := proto.Clone(m.Message).(*waE2E.Message)
		if before := MediaOf(msg); before == nil || msg.InvoiceMessage != nil { // a copy of it is forwarded
			continue
		}
		SetDirectPath(msg, "/another")
		if got := MediaOf(msg).Ref.DirectPath; got != "/another" {
			t.Errorf("%s: the file lies at %s", m.Name, got)
		}
	}
}
