package content

import (
	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"
)

func str(s string) *string { return &s }

// bankMessages returns messages in templates. Banks have used the oldest forms the longest.
func bankMessages(f BusinessFiles) []BusinessMessage {
	quickReply := func(id, text string) *waE2E.HydratedTemplateButton {
		return &waE2E.HydratedTemplateButton{HydratedButton: &waE2E.HydratedTemplateButton_QuickReplyButton{
			QuickReplyButton: &waE2E.HydratedTemplateButton_HydratedQuickReplyButton{ID: str(id), DisplayText: str(text)},
		}}
	}
	call := &waE2E.HydratedTemplateButton{HydratedButton: &waE2E.HydratedTemplateButton_CallButton{
		CallButton: &waE2E.HydratedTemplateButton_HydratedCallButton{DisplayText: str("Call us"), PhoneNumber: str("+49301234567")},
	}}
	structured := func(params ...string) *waE2E.HighlyStructuredMessage {
		return &waE2E.HighlyStructuredMessage{Namespace: str("bank"), ElementName: str("element"), Params: params}
	}
	return []BusinessMessage{
		{"one-time passcode", &waE2E.Message{PlaceholderMessage: &waE2E.PlaceholderMessage{Type: waE2E.PlaceholderMessage_MASK_LINKED_DEVICES.Enum()}}},
		{"statement", &waE2E.Message{TemplateMessage: &waE2E.TemplateMessage{TemplateID: str("1"), HydratedTemplate: &waE2E.TemplateMessage_HydratedFourRowTemplate{
			Title:               &waE2E.TemplateMessage_HydratedFourRowTemplate_DocumentMessage{DocumentMessage: f.Document},
			HydratedContentText: str("Your statement of October is here."), HydratedFooterText: str("Nordbank"), HydratedButtons: []*waE2E.HydratedTemplateButton{call},
		}}}},
		{"card payment", &waE2E.Message{TemplateMessage: &waE2E.TemplateMessage{Format: &waE2E.TemplateMessage_HydratedFourRowTemplate_{
			HydratedFourRowTemplate: &waE2E.TemplateMessage_HydratedFourRowTemplate{
				Title:               &waE2E.TemplateMessage_HydratedFourRowTemplate_HydratedTitleText{HydratedTitleText: "Card payment"},
				HydratedContentText: str("Did you pay 80.00 EUR at Kiosk 24?"),
				HydratedButtons:     []*waE2E.HydratedTemplateButton{quickReply("yes-7", "Yes, it was me"), quickReply("no-7", "No, block my card")},
			},
		}}}},
		{"four rows", &waE2E.Message{TemplateMessage: &waE2E.TemplateMessage{Format: &waE2E.TemplateMessage_FourRowTemplate_{
			FourRowTemplate: &waE2E.TemplateMessage_FourRowTemplate{
				Title:   &waE2E.TemplateMessage_FourRowTemplate_HighlyStructuredMessage{HighlyStructuredMessage: structured("Nordbank")},
				Content: structured("Dear Olga", "12 Nov"), Footer: structured("24 hours"),
				Buttons: []*waE2E.TemplateButton{
					{Button: &waE2E.TemplateButton_UrlButton{UrlButton: &waE2E.TemplateButton_URLButton{DisplayText: structured("Open"), URL: structured("https://bank.example/12")}}},
					{Button: &waE2E.TemplateButton_CallButton_{CallButton: &waE2E.TemplateButton_CallButton{DisplayText: structured("Call"), PhoneNumber: structured("+49301234567")}}},
					{Button: &waE2E.TemplateButton_QuickReplyButton_{QuickReplyButton: &waE2E.TemplateButton_QuickReplyButton{DisplayText: structured("Thanks"), ID: str("thanks")}}},
				},
			},
		}}}},
		{"structured", &waE2E.Message{HighlyStructuredMessage: &waE2E.HighlyStructuredMessage{ElementName: str("transfer"), LocalizableParams: []*waE2E.HighlyStructuredMessage_HSMLocalizableParameter{
			{Default: str("250.00 EUR")}, {Default: str("21 November")},
		}}}},
		{"structured and hydrated", &waE2E.Message{HighlyStructuredMessage: &waE2E.HighlyStructuredMessage{ElementName: str("transfer"), HydratedHsm: &waE2E.TemplateMessage{
			HydratedTemplate: &waE2E.TemplateMessage_HydratedFourRowTemplate{HydratedContentText: str("250.00 EUR have arrived.")},
		}}}},
	}
}

// paymentMessages returns messages about money between people and businesses.
func paymentMessages(f BusinessFiles) []BusinessMessage {
	key := &waCommon.MessageKey{ID: str("3EB0PAY"), FromMe: proto.Bool(false)}
	note := &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: str("for the pizza")}}
	return []BusinessMessage{
		{"payment", &waE2E.Message{SendPaymentMessage: &waE2E.SendPaymentMessage{NoteMessage: note}}},
		{"payment request", &waE2E.Message{RequestPaymentMessage: &waE2E.RequestPaymentMessage{
			NoteMessage: note, CurrencyCodeIso4217: str("BRL"), Amount1000: proto.Uint64(12500),
			Amount: &waE2E.Money{Value: proto.Int64(1250), Offset: proto.Uint32(100), CurrencyCode: str("BRL")},
		}}},
		{"older payment request", &waE2E.Message{RequestPaymentMessage: &waE2E.RequestPaymentMessage{CurrencyCodeIso4217: str("INR"), Amount1000: proto.Uint64(99000)}}},
		{"declined request", &waE2E.Message{DeclinePaymentRequestMessage: &waE2E.DeclinePaymentRequestMessage{Key: key}}},
		{"cancelled request", &waE2E.Message{CancelPaymentRequestMessage: &waE2E.CancelPaymentRequestMessage{Key: key}}},
		{"payment invite", &waE2E.Message{PaymentInviteMessage: &waE2E.PaymentInviteMessage{ServiceType: waE2E.PaymentInviteMessage_UPI.Enum()}}},
		{"payment reminder", &waE2E.Message{PaymentReminderMessage: &waE2E.PaymentReminderMessage{
			Description: str("rent"),
			Amount:      &waE2E.Money{Value: proto.Int64(90000), Offset: proto.Uint32(100), CurrencyCode: str("EUR")},
		}}},
		{"split payment", &waE2E.Message{SplitPaymentMessage: &waE2E.SplitPaymentMessage{
			Description: str("dinner"),
			TotalAmount: &waE2E.Money{Value: proto.Int64(6000), Offset: proto.Uint32(100), CurrencyCode: str("EUR")},
		}}},
		{"invoice", &waE2E.Message{InvoiceMessage: &waE2E.InvoiceMessage{
			Note: str("invoice 4711"), AttachmentType: waE2E.InvoiceMessage_PDF.Enum(),
			AttachmentMimetype: f.Document.Mimetype, AttachmentMediaKey: f.Document.MediaKey, AttachmentFileSHA256: f.Document.FileSHA256,
			AttachmentFileEncSHA256: f.Document.FileEncSHA256, AttachmentDirectPath: f.Document.DirectPath,
		}}},
		{"invoice as a picture", &waE2E.Message{InvoiceMessage: &waE2E.InvoiceMessage{
			Note: str("receipt"), AttachmentType: waE2E.InvoiceMessage_IMAGE.Enum(),
			AttachmentMimetype: f.Image.Mimetype, AttachmentMediaKey: f.Image.MediaKey, AttachmentFileSHA256: f.Image.FileSHA256,
			AttachmentFileEncSHA256: f.Image.FileEncSHA256, AttachmentDirectPath: f.Image.DirectPath,
		}}},
	}
}
