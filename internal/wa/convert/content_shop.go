package convert

import (
	"cmp"
	"math/big"
	"strconv"
	"strings"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/reflect/protoreflect"

	"bridged/internal/bridge"
)

// readProduct reads an article of a catalog, or a catalog.
func readProduct(msg *waE2E.Message) shown {
	m := msg.GetProductMessage()
	article, catalog := m.GetProduct(), m.GetCatalog()
	p := &bridge.Product{
		Title: cmp.Or(article.GetTitle(), catalog.GetTitle()), Description: cmp.Or(article.GetDescription(), catalog.GetDescription()),
		ID: article.GetProductID(), RetailerID: article.GetRetailerID(), URL: article.GetURL(), Currency: article.GetCurrencyCode(),
		SellerJID: personIn(m.GetBusinessOwnerJID()),
	}
	if article.GetPriceAmount1000() > 0 {
		p.Price = decimal(article.GetPriceAmount1000(), 1000)
	}
	if article.GetSalePriceAmount1000() > 0 {
		p.SalePrice = decimal(article.GetSalePriceAmount1000(), 1000)
	}
	read := shown{
		text:  lines(p.Title, p.Description, price(cmp.Or(p.SalePrice, p.Price), p.Currency), p.URL, m.GetBody(), m.GetFooter()),
		parts: bridge.Parts{Product: p},
	}
	if image := cmp.Or(article.GetProductImage(), catalog.GetCatalogImage()); image != nil {
		read.file = image
	}
	return read
}

// readOrder reads a cart that was sent to a business.
func readOrder(msg *waE2E.Message) shown {
	m := msg.GetOrderMessage()
	order := &bridge.ShopOrder{
		Title: m.GetOrderTitle(), ID: m.GetOrderID(), SellerJID: personIn(m.GetSellerJID()),
		ItemCount: int(m.GetItemCount()), Currency: m.GetTotalCurrencyCode(),
	}
	if m.Status != nil {
		order.Status = strings.ToLower(m.GetStatus().String())
	}
	if m.TotalAmount1000 != nil {
		order.Total = decimal(m.GetTotalAmount1000(), 1000)
	}
	return shown{text: lines(order.Title, items(order.ItemCount), m.GetMessage(), price(order.Total, order.Currency)), parts: bridge.Parts{Order: order}}
}

func items(count int) string {
	switch {
	case count <= 0:
		return ""
	case count == 1:
		return "1 item"
	}
	return strconv.Itoa(count) + " items"
}

// personIn returns the person in a JID; "" for a group or an empty JID.
func personIn(jid string) bridge.JID {
	if person := ParseJID(jid); person.IsPerson() {
		return person
	}
	return ""
}

// price returns an amount with its currency, "" without an amount.
func price(amount, currency string) string {
	if amount == "" {
		return ""
	}
	return strings.TrimSpace(amount + " " + currency)
}

// decimal returns value/offset with two decimals, or three if the third is not zero.
func decimal(value, offset int64) string {
	return strings.TrimSuffix(big.NewRat(value, max(1, offset)).FloatString(3), "0")
}

// payments has English texts for messages about money. The apps have their own texts for them.
var payments = map[string]string{
	"sendPaymentMessage": "Payment", "requestPaymentMessage": "Payment request", "declinePaymentRequestMessage": "Payment request declined",
	"cancelPaymentRequestMessage": "Payment request cancelled", "paymentInviteMessage": "Invitation to payments",
	"paymentReminderMessage": "Payment reminder", "splitPaymentMessage": "Split payment",
}

func readPayment(msg *waE2E.Message) shown {
	request, reminder, split := msg.GetRequestPaymentMessage(), msg.GetPaymentReminderMessage(), msg.GetSplitPaymentMessage()
	amount := money(cmp.Or(request.GetAmount(), reminder.GetAmount(), split.GetTotalAmount()))
	if request != nil && request.Amount == nil && request.Amount1000 != nil {
		amount = price(decimal(int64(request.GetAmount1000()), 1000), request.GetCurrencyCodeIso4217())
	}
	note := cmp.Or(msg.GetSendPaymentMessage().GetNoteMessage(), request.GetNoteMessage())
	return shown{text: lines(labelled(payments[typeName(msg)], amount),
		cmp.Or(note.GetConversation(), note.GetExtendedTextMessage().GetText(), reminder.GetDescription(), split.GetDescription()))}
}

func money(m *waE2E.Money) string {
	if m == nil {
		return ""
	}
	return price(decimal(m.GetValue(), int64(m.GetOffset())), m.GetCurrencyCode())
}

// readInvoice reads an invoice, and makes a picture or a document of its file.
func readInvoice(msg *waE2E.Message) shown {
	m := msg.GetInvoiceMessage()
	s := shown{text: m.GetNote()}
	if m.GetAttachmentDirectPath() == "" {
		return s
	}
	usual := "image/jpeg"
	if s.file = new(waE2E.ImageMessage); m.GetAttachmentType() == waE2E.InvoiceMessage_PDF {
		s.file, usual = new(waE2E.DocumentMessage), "application/pdf"
	}
	setFields(s.file, map[protoreflect.Name]any{
		"directPath": m.GetAttachmentDirectPath(), "mediaKey": m.GetAttachmentMediaKey(), "fileSHA256": m.GetAttachmentFileSHA256(),
		"fileEncSHA256": m.GetAttachmentFileEncSHA256(), "mimetype": cmp.Or(m.GetAttachmentMimetype(), usual), "JPEGThumbnail": m.GetAttachmentJPEGThumbnail(),
	})
	return s
}
