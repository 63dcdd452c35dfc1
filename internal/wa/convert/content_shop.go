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
	return shown{
		text: lines(p.Title, p.Description, price(cmp.Or(p.SalePrice, p.Price), p.Currency), p.URL, m.GetBody(), m.GetFooter()),
		file: headerFile(cmp.Or(article.GetProductImage(), catalog.GetCatalogImage()), nil, nil), parts: bridge.Parts{Product: p},
	}
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

// personIn returns the person whom a sender names; nobody where it names a
// group, or nothing.
func personIn(jid string) bridge.JID {
	if person := ParseJID(jid); person.IsPerson() {
		return person
	}
	return ""
}

// price returns an amount with its currency; nothing without an amount.
func price(amount, currency string) string {
	if amount == "" {
		return ""
	}
	return strings.TrimSpace(amount + " " + currency)
}

// decimal returns value/offset with two decimals, or with three where it has
// them.
func decimal(value, offset int64) string {
	if offset <= 0 {
		offset = 1
	}
	return strings.TrimSuffix(big.NewRat(value, offset).FloatString(3), "0")
}

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
