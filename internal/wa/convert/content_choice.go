package convert

import (
	"cmp"
	"slices"
	"strings"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
)

// choices is a message with choices while it is read.
type choices struct {
	bridge.Interactive
	header   string   // above the title
	subtitle string   // under the title
	below    []string // under the footer: buttons, rows, cards
	place    *bridge.Place
	file     proto.Message
	product  *bridge.Product
	order    *bridge.ShopOrder
}

// shown returns the choices in the order on a phone's screen.
func (c *choices) shown() shown {
	text := []string{c.header, placeText(c.place), c.Title, c.subtitle, c.Body, c.Footer}
	if c.Buttons == nil {
		c.Buttons = []bridge.Button{}
	}
	return shown{
		text: lines(append(text, c.below...)...), file: c.file,
		parts: bridge.Parts{Interactive: &c.Interactive, Location: c.place, Product: c.product, Order: c.order},
	}
}

func (c *choices) button(b bridge.Button) {
	c.Buttons = append(c.Buttons, b)
	c.below = append(c.below, labelled(b.Text, cmp.Or(b.URL, b.Phone)))
}

func readButtons(msg *waE2E.Message) shown {
	m := msg.GetButtonsMessage()
	c := choices{
		Interactive: bridge.Interactive{Kind: bridge.InteractiveButtons, Title: m.GetText(), Body: m.GetContentText(), Footer: m.GetFooterText()},
		place:       placeOf(m.GetLocationMessage()), file: headerFile(m),
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

func (c *choices) row(id, title, description string) {
	if len(c.Buttons) < maxListed {
		c.Buttons = append(c.Buttons, bridge.Button{ID: id, Text: title})
		c.below = append(c.below, labelled(title, description))
	}
}

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

// interactiveChoices reads an interactive message with its cards.
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
		place:       placeOf(header.GetLocationMessage()), file: headerFile(header), subtitle: header.GetSubtitle(),
	}
	if product := header.GetProductMessage(); product != nil {
		r := readProduct(&waE2E.Message{ProductMessage: product})
		c.header, c.product, c.file = r.text, r.parts.Product, r.file
	}
	if audio := m.GetFooter().GetAudioMessage(); c.file == nil && audio != nil {
		c.file = audio
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

// readTemplate reads a template in any of its forms.
func readTemplate(msg *waE2E.Message) shown {
	m := msg.GetTemplateMessage()
	if h := msg.GetHighlyStructuredMessage(); h != nil {
		m = h.GetHydratedHsm()
		if hydrated(m) == nil {
			return shown{text: hsmText(h)}
		}
	}
	c := &choices{}
	switch words, rows := hydrated(m), m.GetFourRowTemplate(); {
	case words != nil:
		c.Title, c.Body, c.Footer = words.GetHydratedTitleText(), words.GetHydratedContentText(), words.GetHydratedFooterText()
		c.place, c.file = placeOf(words.GetLocationMessage()), headerFile(words)
		for _, b := range first(words.GetHydratedButtons()) {
			url, call, reply := b.GetUrlButton(), b.GetCallButton(), b.GetQuickReplyButton()
			text := cmp.Or(url.GetDisplayText(), call.GetDisplayText(), reply.GetDisplayText())
			if b.GetHydratedButton() != nil {
				c.button(bridge.Button{ID: reply.GetID(), Text: text, URL: url.GetURL(), Phone: call.GetPhoneNumber()})
			}
		}
	case m.GetInteractiveMessageTemplate() != nil:
		c = interactiveChoices(m.GetInteractiveMessageTemplate())
	case rows != nil: // its words lie in structured messages of their own
		c.Title, c.Body, c.Footer = hsmText(rows.GetHighlyStructuredMessage()), hsmText(rows.GetContent()), hsmText(rows.GetFooter())
		c.place, c.file = placeOf(rows.GetLocationMessage()), headerFile(rows)
		for _, b := range first(rows.GetButtons()) {
			url, call, reply := b.GetUrlButton(), b.GetCallButton(), b.GetQuickReplyButton()
			text := hsmText(cmp.Or(url.GetDisplayText(), call.GetDisplayText(), reply.GetDisplayText()))
			if b.GetButton() != nil {
				c.button(bridge.Button{ID: reply.GetID(), Text: text, URL: hsmText(url.GetURL()), Phone: hsmText(call.GetPhoneNumber())})
			}
		}
	default:
		return shown{}
	}
	c.Kind = bridge.InteractiveTemplate
	return c.shown()
}

// hydrated returns the form of a template with its words filled in, or nil if the template has
// another form.
func hydrated(m *waE2E.TemplateMessage) *waE2E.TemplateMessage_HydratedFourRowTemplate {
	return cmp.Or(m.GetHydratedTemplate(), m.GetHydratedFourRowTemplate())
}

// hsmText returns the text of a structured message: the filled-in words, or else the values for the
// words that only phones have.
func hsmText(h *waE2E.HighlyStructuredMessage) string {
	if t := hydrated(h.GetHydratedHsm()); t != nil {
		return lines(t.GetHydratedTitleText(), t.GetHydratedContentText(), t.GetHydratedFooterText())
	}
	values := slices.Clone(first(h.GetParams()))
	if len(values) == 0 {
		for _, p := range first(h.GetLocalizableParams()) {
			values = append(values, p.GetDefault())
		}
	}
	return strings.Join(values, ", ")
}
