package convert

import (
	"strings"

	"go.mau.fi/whatsmeow/proto/waE2E"

	"bridged/internal/bridge"
)

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

func readHydrated(t *waE2E.TemplateMessage_HydratedFourRowTemplate) shown {
	c := choices{
		Interactive: bridge.Interactive{Kind: bridge.InteractiveTemplate, Title: t.GetHydratedTitleText(),
			Body: t.GetHydratedContentText(), Footer: t.GetHydratedFooterText()},
		place: t.GetLocationMessage(), file: headerFile(t.GetImageMessage(), t.GetVideoMessage(), t.GetDocumentMessage()),
	}
	for _, b := range first(t.GetHydratedButtons()) {
		switch {
		case b.GetUrlButton() != nil:
			c.button(bridge.Button{Text: b.GetUrlButton().GetDisplayText(), URL: b.GetUrlButton().GetURL()})
		case b.GetCallButton() != nil:
			c.button(bridge.Button{Text: b.GetCallButton().GetDisplayText(), Phone: b.GetCallButton().GetPhoneNumber()})
		case b.GetQuickReplyButton() != nil:
			c.button(bridge.Button{ID: b.GetQuickReplyButton().GetID(), Text: b.GetQuickReplyButton().GetDisplayText()})
		}
	}
	return c.shown()
}

// readFourRows reads the form whose words lie in structured messages of their
// own.
func readFourRows(t *waE2E.TemplateMessage_FourRowTemplate) shown {
	c := choices{
		Interactive: bridge.Interactive{Kind: bridge.InteractiveTemplate, Title: hsmText(t.GetHighlyStructuredMessage()),
			Body: hsmText(t.GetContent()), Footer: hsmText(t.GetFooter())},
		place: t.GetLocationMessage(), file: headerFile(t.GetImageMessage(), t.GetVideoMessage(), t.GetDocumentMessage()),
	}
	for _, b := range first(t.GetButtons()) {
		switch {
		case b.GetUrlButton() != nil:
			c.button(bridge.Button{Text: hsmText(b.GetUrlButton().GetDisplayText()), URL: hsmText(b.GetUrlButton().GetURL())})
		case b.GetCallButton() != nil:
			c.button(bridge.Button{Text: hsmText(b.GetCallButton().GetDisplayText()), Phone: hsmText(b.GetCallButton().GetPhoneNumber())})
		case b.GetQuickReplyButton() != nil:
			c.button(bridge.Button{ID: b.GetQuickReplyButton().GetID(), Text: hsmText(b.GetQuickReplyButton().GetDisplayText())})
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
