package convert

import (
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
	return shown{text: lines(append(text, c.below...)...), file: c.file,
		parts: bridge.Parts{Interactive: &c.Interactive, Location: placeOf(c.place), Product: c.product, Order: c.order}}
}

// button adds a button.
func (c *choices) button(b bridge.Button) {
	c.Buttons = append(c.Buttons, b)
	switch {
	case b.URL != "":
		c.below = append(c.below, labelled(b.Text, b.URL))
	default:
		c.below = append(c.below, labelled(b.Text, b.Phone))
	}
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
	return shown{text: lines(text, description), parts: bridge.Parts{Interactive: &bridge.Interactive{Kind: kind, Buttons: []bridge.Button{},
		Selected: &bridge.Choice{ID: id, Text: text}}}}
}
