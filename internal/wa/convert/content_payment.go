package convert

import (
	"cmp"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"
)

// readPayment reads what is said about money. For some of it the apps have a
// sentence that is not in the message: then the text is an English one.
func readPayment(msg *waE2E.Message) shown {
	switch {
	case msg.SendPaymentMessage != nil:
		return shown{text: lines("Payment", plainText(msg.GetSendPaymentMessage().GetNoteMessage()))}
	case msg.RequestPaymentMessage != nil:
		m := msg.GetRequestPaymentMessage()
		amount := money(m.GetAmount())
		if m.GetAmount() == nil && m.Amount1000 != nil {
			amount = price(decimal(int64(m.GetAmount1000()), 1000), m.GetCurrencyCodeIso4217())
		}
		return shown{text: lines(labelled("Payment request", amount), plainText(m.GetNoteMessage()))}
	case msg.DeclinePaymentRequestMessage != nil:
		return shown{text: "Payment request declined"}
	case msg.CancelPaymentRequestMessage != nil:
		return shown{text: "Payment request cancelled"}
	case msg.PaymentInviteMessage != nil:
		return shown{text: "Invitation to payments"}
	case msg.PaymentReminderMessage != nil:
		m := msg.GetPaymentReminderMessage()
		return shown{text: lines(labelled("Payment reminder", money(m.GetAmount())), m.GetDescription())}
	}
	m := msg.GetSplitPaymentMessage()
	return shown{text: lines(labelled("Split payment", money(m.GetTotalAmount())), m.GetDescription())}
}

func money(m *waE2E.Money) string {
	if m == nil {
		return ""
	}
	return price(decimal(m.GetValue(), int64(m.GetOffset())), m.GetCurrencyCode())
}

// readInvoice reads an invoice. Its file has fields of its own, of which a
// picture or a document is made.
func readInvoice(msg *waE2E.Message) shown {
	m := msg.GetInvoiceMessage()
	s := shown{text: m.GetNote()}
	switch {
	case m.GetAttachmentDirectPath() == "":
	case m.GetAttachmentType() == waE2E.InvoiceMessage_PDF:
		s.file = &waE2E.DocumentMessage{DirectPath: m.AttachmentDirectPath, MediaKey: m.GetAttachmentMediaKey(), FileSHA256: m.GetAttachmentFileSHA256(),
			FileEncSHA256: m.GetAttachmentFileEncSHA256(), Mimetype: proto.String(cmp.Or(m.GetAttachmentMimetype(), "application/pdf")),
			JPEGThumbnail: m.GetAttachmentJPEGThumbnail()}
	default:
		s.file = &waE2E.ImageMessage{DirectPath: m.AttachmentDirectPath, MediaKey: m.GetAttachmentMediaKey(), FileSHA256: m.GetAttachmentFileSHA256(),
			FileEncSHA256: m.GetAttachmentFileEncSHA256(), Mimetype: proto.String(cmp.Or(m.GetAttachmentMimetype(), "image/jpeg")),
			JPEGThumbnail: m.GetAttachmentJPEGThumbnail()}
	}
	return s
}
