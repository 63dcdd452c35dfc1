package cloud

import (
	"encoding/base64"
	"strings"

	"bridged/internal/bridge"
)

// contentOf returns the type and the content of a message. The type is "" if the message is not posted. If
// Meta's API has no form for the message, the type is unsupported and the content is an error.
func contentOf(chat bridge.JID, m *bridge.Message) (kind string, content any) {
	switch {
	case m.MessageType == bridge.TypeUndecryptable, m.Album != nil: // the messages that they announce are posted themselves
		return "", nil
	case m.Interactive != nil && m.Interactive.Selected != nil:
		return "interactive", choiceOf(m.Interactive)
	case m.Media != nil:
		return string(m.Media.Type), fileOf(chat, m)
	case m.Location != nil && m.Interactive == nil: // an interactive message has a text, too
		return "location", placeOf(m.Location)
	case len(m.Contacts) > 0:
		return "contacts", cardsOf(m.Contacts)
	case m.Poll == nil && m.Event == nil && m.Content != "":
		return "text", object{"body": m.Content}
	}
	return "unsupported", faults(codeUnsupported, "Message type is currently not supported.")
}

// choiceOf returns the chosen button or row.
func choiceOf(i *bridge.Interactive) object {
	reply := object{"id": i.Selected.ID, "title": i.Selected.Text}
	if i.Kind == bridge.InteractiveList {
		return object{"type": "list_reply", "list_reply": reply}
	}
	return object{"type": "button_reply", "button_reply": reply}
}

func fileOf(chat bridge.JID, m *bridge.Message) object {
	f := m.Media
	shown := object{"id": refOf(chat, m).fileID(), "mime_type": f.MimeType}
	if len(f.Ref.FileSHA256) > 0 {
		shown["sha256"] = base64.StdEncoding.EncodeToString(f.Ref.FileSHA256)
	}
	switch f.Type {
	case bridge.MediaAudio:
		shown["voice"] = f.PTT
		return shown
	case bridge.MediaSticker:
		shown["animated"] = f.IsAnimated
		return shown
	case bridge.MediaDocument:
		shown["filename"] = f.FileName
	}
	if m.Content != "" { // in a message of a business, this is the whole text
		shown["caption"] = m.Content
	}
	return shown
}

func placeOf(p *bridge.Place) object {
	return with(object{"latitude": p.Latitude, "longitude": p.Longitude}, "name", p.Name, "address", p.Address, "url", p.URL)
}

// with sets the values that are not empty.
func with(o object, namesAndValues ...string) object {
	for i := 0; i < len(namesAndValues); i += 2 {
		if value := namesAndValues[i+1]; value != "" {
			o[namesAndValues[i]] = value
		}
	}
	return o
}

// cardsOf returns contacts. They have only a whole name, so its first word becomes the first name.
func cardsOf(contacts []bridge.SharedContact) (cards []any) {
	for _, c := range contacts {
		first, last, _ := strings.Cut(c.DisplayName, " ")
		card := object{"name": with(object{"formatted_name": c.DisplayName}, "first_name", first, "last_name", last)}
		var phones, emails []any
		for _, phone := range c.Phones {
			phones = append(phones, with(object{"phone": phone.Number, "type": "CELL"}, "wa_id", phone.JID.User()))
		}
		for _, email := range c.Emails {
			emails = append(emails, object{"email": email, "type": "WORK"})
		}
		if phones != nil {
			card["phones"] = phones
		}
		if emails != nil {
			card["emails"] = emails
		}
		if org := with(object{}, "company", c.Organization, "title", c.Title); len(org) > 0 {
			card["org"] = org
		}
		cards = append(cards, card)
	}
	return cards
}
