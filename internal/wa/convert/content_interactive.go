package convert

import (
	"go.mau.fi/whatsmeow/proto/waE2E"

	"bridged/internal/bridge"
)

func readInteractive(msg *waE2E.Message) shown {
	return interactiveChoices(msg.GetInteractiveMessage()).shown()
}

// interactiveChoices reads an interactive message with its cards, if it has
// some.
func interactiveChoices(m *waE2E.InteractiveMessage) *choices {
	c := interactiveCard(m)
	for _, card := range first(m.GetCarouselMessage().GetCards()) {
		inner := interactiveCard(card)
		c.below = append(c.below, inner.shown().text)
		c.Buttons = append(c.Buttons, inner.Buttons...)
		if c.file == nil {
			c.file = inner.file
		}
	}
	return c
}

// interactiveCard reads an interactive message without its cards.
func interactiveCard(m *waE2E.InteractiveMessage) *choices {
	header := m.GetHeader()
	c := &choices{
		Interactive: bridge.Interactive{Kind: interactiveKind(m), Title: header.GetTitle(), Body: m.GetBody().GetText(), Footer: m.GetFooter().GetText()},
		place:       header.GetLocationMessage(),
		file:        headerFile(header.GetImageMessage(), header.GetVideoMessage(), header.GetDocumentMessage()),
		subtitle:    header.GetSubtitle(),
	}
	if product := header.GetProductMessage(); product != nil {
		r := readProduct(&waE2E.Message{ProductMessage: product})
		c.header, c.product, c.file = r.text, r.parts.Product, r.file
	}
	if c.file == nil && m.GetFooter().GetAudioMessage() != nil {
		c.file = m.GetFooter().GetAudioMessage()
	}
	for _, b := range first(m.GetNativeFlowMessage().GetButtons()) {
		c.flow(b.GetName(), b.GetButtonParamsJSON())
	}
	return c
}

func interactiveKind(m *waE2E.InteractiveMessage) bridge.InteractiveKind {
	switch {
	case m.GetCarouselMessage() != nil:
		return bridge.InteractiveCarousel
	case m.GetShopStorefrontMessage() != nil:
		return bridge.InteractiveShop
	case m.GetCollectionMessage() != nil:
		return bridge.InteractiveCollection
	}
	return bridge.InteractiveFlow
}
