package convert

import (
	"cmp"
	"strings"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
)

// choices is a message with choices while it is read. Its buttons are added by
// [choices.button] and [choices.row], which also note what they show.
type choices struct {
	bridge.Interactive
	header  string // what stands above the title, subtitle what stands below it
	place   *waE2E.LocationMessage
	file    proto.Message
	product *bridge.Product
	order   *bridge.ShopOrder

	subtitle string
	below    []string // what stands below the footer: buttons, rows, cards
}

// shown returns the choices in the order in which a phone shows them.
func (c *choices) shown() shown {
	text := []string{c.header, placeWords(c.place), c.Title, c.subtitle, c.Body, c.Footer}
	if c.Buttons == nil {
		c.Buttons = []bridge.Button{}
	}
	return shown{
		text: lines(append(text, c.below...)...), file: c.file,
		parts: bridge.Parts{Interactive: &c.Interactive, Location: placeOf(c.place), Product: c.product, Order: c.order},
	}
}

// button adds a button.
func (c *choices) button(b bridge.Button) {
	c.Buttons = append(c.Buttons, b)
	c.below = append(c.below, labelled(b.Text, cmp.Or(b.URL, b.Phone)))
}

func readButtons(msg *waE2E.Message) shown {
	m := msg.GetButtonsMessage()
	c := choices{
		Interactive: bridge.Interactive{Kind: bridge.InteractiveButtons, Title: m.GetText(), Body: m.GetContentText(), Footer: m.GetFooterText()},
		place:       m.GetLocationMessage(), file: headerFile(m.GetImageMessage(), m.GetVideoMessage(), m.GetDocumentMessage()),
	}
	for _, b := range first(m.GetButtons()) {
		if flow := b.GetNativeFlowInfo(); flow.GetName() != "" {
			c.flow(flow.GetName(), flow.GetParamsJSON())
			continue
		}
		c.button(bridge.Button{ID: b.GetButtonID(), Text: b.GetButtonText().GetDisplayText()})
	}
	return c.shown()
}

func readList(msg *waE2E.Message) shown {
	m := msg.GetListMessage()
	c := choices{
		Interactive: bridge.Interactive{Kind: bridge.InteractiveList, Title: m.GetTitle(), Body: m.GetDescription(), Footer: m.GetFooterText()},
		below:       []string{m.GetButtonText()},
	}
	for _, section := range first(m.GetSections()) {
		c.below = append(c.below, section.GetTitle())
		for _, row := range first(section.GetRows()) {
			c.row(row.GetRowID(), row.GetTitle(), row.GetDescription())
		}
	}
	for _, section := range first(m.GetProductListInfo().GetProductSections()) {
		c.below = append(c.below, section.GetTitle())
	}
	return c.shown()
}

// row adds a row of a list.
func (c *choices) row(id, title, description string) {
	if len(c.Buttons) < maxListed {
		c.Buttons = append(c.Buttons, bridge.Button{ID: id, Text: title})
		c.below = append(c.below, labelled(title, description))
	}
}

// readAnswer reads what somebody chose.
func readAnswer(msg *waE2E.Message) shown {
	switch {
	case msg.ButtonsResponseMessage != nil:
		m := msg.GetButtonsResponseMessage()
		return chosen(bridge.InteractiveButtons, m.GetSelectedButtonID(), m.GetSelectedDisplayText(), "")
	case msg.TemplateButtonReplyMessage != nil:
		m := msg.GetTemplateButtonReplyMessage()
		return chosen(bridge.InteractiveTemplate, m.GetSelectedID(), m.GetSelectedDisplayText(), "")
	case msg.ListResponseMessage != nil:
		m := msg.GetListResponseMessage()
		return chosen(bridge.InteractiveList, m.GetSingleSelectReply().GetSelectedRowID(), m.GetTitle(), m.GetDescription())
	}
	m := msg.GetInteractiveResponseMessage()
	params := parseFlow(m.GetNativeFlowResponseMessage().GetParamsJSON())
	return chosen(bridge.InteractiveFlow, string(params.ID), m.GetBody().GetText(), "")
}

func chosen(kind bridge.InteractiveKind, id, text, description string) shown {
	return shown{text: lines(text, description), parts: bridge.Parts{Interactive: &bridge.Interactive{
		Kind: kind, Buttons: []bridge.Button{},
		Selected: &bridge.Choice{ID: id, Text: text},
	}}}
}

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

// readTemplate reads templates, in whichever of their forms they come.
func readTemplate(msg *waE2E.Message) shown {
	if h := msg.GetHighlyStructuredMessage(); h != nil {
		if hydrated(h.GetHydratedHsm()) == nil {
			return shown{text: hsmText(h)}
		}
		return readHydrated(hydrated(h.GetHydratedHsm()))
	}
	m := msg.GetTemplateMessage()
	switch {
	case hydrated(m) != nil:
		return readHydrated(hydrated(m))
	case m.GetInteractiveMessageTemplate() != nil:
		c := interactiveChoices(m.GetInteractiveMessageTemplate())
		c.Kind = bridge.InteractiveTemplate
		return c.shown()
	case m.GetFourRowTemplate() != nil:
		return readFourRows(m.GetFourRowTemplate())
	}
	return shown{}
}

// hydrated returns the form in which the words are filled in; nil where the
// template has another.
func hydrated(m *waE2E.TemplateMessage) *waE2E.TemplateMessage_HydratedFourRowTemplate {
	if m.GetHydratedTemplate() != nil {
		return m.GetHydratedTemplate()
	}
	return m.GetHydratedFourRowTemplate()
}

// template begins the choices of a template with its words and the rest of its header.
func template(title, body, footer string, place *waE2E.LocationMessage, file proto.Message) choices {
	return choices{Interactive: bridge.Interactive{Kind: bridge.InteractiveTemplate, Title: title, Body: body, Footer: footer}, place: place, file: file}
}

func readHydrated(t *waE2E.TemplateMessage_HydratedFourRowTemplate) shown {
	c := template(t.GetHydratedTitleText(), t.GetHydratedContentText(), t.GetHydratedFooterText(),
		t.GetLocationMessage(), headerFile(t.GetImageMessage(), t.GetVideoMessage(), t.GetDocumentMessage()))
	for _, b := range first(t.GetHydratedButtons()) {
		switch url, call, reply := b.GetUrlButton(), b.GetCallButton(), b.GetQuickReplyButton(); {
		case url != nil:
			c.button(bridge.Button{Text: url.GetDisplayText(), URL: url.GetURL()})
		case call != nil:
			c.button(bridge.Button{Text: call.GetDisplayText(), Phone: call.GetPhoneNumber()})
		case reply != nil:
			c.button(bridge.Button{ID: reply.GetID(), Text: reply.GetDisplayText()})
		}
	}
	return c.shown()
}

// readFourRows reads the form whose words lie in structured messages of their
// own.
func readFourRows(t *waE2E.TemplateMessage_FourRowTemplate) shown {
	c := template(hsmText(t.GetHighlyStructuredMessage()), hsmText(t.GetContent()), hsmText(t.GetFooter()),
		t.GetLocationMessage(), headerFile(t.GetImageMessage(), t.GetVideoMessage(), t.GetDocumentMessage()))
	for _, b := range first(t.GetButtons()) {
		switch url, call, reply := b.GetUrlButton(), b.GetCallButton(), b.GetQuickReplyButton(); {
		case url != nil:
			c.button(bridge.Button{Text: hsmText(url.GetDisplayText()), URL: hsmText(url.GetURL())})
		case call != nil:
			c.button(bridge.Button{Text: hsmText(call.GetDisplayText()), Phone: hsmText(call.GetPhoneNumber())})
		case reply != nil:
			c.button(bridge.Button{ID: reply.GetID(), Text: hsmText(reply.GetDisplayText())})
		}
	}
	return c.shown()
}

// hsmText returns the words of a structured message: those that are filled in,
// else the values for the words that only the phone's packs have.
func hsmText(h *waE2E.HighlyStructuredMessage) string {
	if t := hydrated(h.GetHydratedHsm()); t != nil {
		return lines(t.GetHydratedTitleText(), t.GetHydratedContentText(), t.GetHydratedFooterText())
	}
	values := append([]string{}, first(h.GetParams())...)
	if len(values) == 0 {
		for _, p := range first(h.GetLocalizableParams()) {
			values = append(values, p.GetDefault())
		}
	}
	return strings.Join(values, ", ")
}
