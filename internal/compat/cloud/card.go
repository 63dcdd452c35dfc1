package cloud

import (
	"encoding/json"
	"strings"

	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/compat"
)

// card describes a contact to send.
type card struct {
	Name struct {
		Formatted string `json:"formatted_name"`
		First     string `json:"first_name"`
		Last      string `json:"last_name"`
	} `json:"name"`
	Phones []struct {
		Phone compat.Text `json:"phone"`
		WaID  compat.Text `json:"wa_id"`
		Type  string      `json:"type"`
	} `json:"phones"`
	Emails []struct {
		Email string `json:"email"`
	} `json:"emails"`
	URLs []struct {
		URL string `json:"url"`
	} `json:"urls"`
	Org struct {
		Company string `json:"company"`
		Title   string `json:"title"`
	} `json:"org"`
}

// cards is a list of contacts. whatsapp-api-js sends it as JSON in a text.
type cards []card

// UnmarshalJSON implements json.Unmarshaler.
func (c *cards) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
		data = []byte(text)
		if err := front.CheckForeign(data); err != nil {
			return err
		}
	}
	return json.Unmarshal(data, (*[]card)(c))
}

// vCard returns the contact with a vCard, because it may have several numbers.
func (c card) vCard() bridge.ContactCard {
	name := c.Name.Formatted
	if name == "" {
		name = strings.TrimSpace(c.Name.First + " " + c.Name.Last)
	}
	lines := []string{"BEGIN:VCARD", "VERSION:3.0", "N:" + escaped(c.Name.Last) + ";" + escaped(c.Name.First) + ";;;", "FN:" + escaped(name)}
	add := func(property, value string) {
		if value = escaped(value); value != "" {
			lines = append(lines, property+":"+value)
		}
	}
	for _, p := range c.Phones {
		property, number := "TEL;type="+kindOfPhone(p.Type), string(p.Phone)
		digits := string(p.WaID)
		if digits == "" {
			digits, _ = bridge.ParsePhone(number) // other numbers stay as they are
		}
		if strings.Trim(digits, "0123456789") != "" {
			digits = ""
		}
		if digits != "" {
			property += ";waid=" + digits
		}
		if number == "" {
			number = "+" + digits
		}
		add(property, number)
	}
	for _, e := range c.Emails {
		add("EMAIL", e.Email)
	}
	for _, u := range c.URLs {
		add("URL", u.URL)
	}
	add("ORG", c.Org.Company)
	add("TITLE", c.Org.Title)
	return bridge.ContactCard{DisplayName: name, VCard: strings.Join(append(lines, "END:VCARD"), "\n")}
}

// longestCard is the API's limit of a card, in bytes.
const longestCard = 64 << 10

// escaped returns a text on one line, with the escapes of a vCard (RFC 2426). It shortens a text that is too
// long, but leaves enough that the API refuses the card.
func escaped(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text[:min(len(text), longestCard)])
	return strings.NewReplacer(`\`, `\\`, ",", `\,`, ";", `\;`).Replace(strings.TrimSpace(text))
}

// kindOfPhone returns the vCard's type of a number, by default that of a mobile phone.
func kindOfPhone(given string) string {
	switch kind := strings.ToUpper(given); kind {
	case "HOME", "WORK", "MAIN", "CELL", "IPHONE":
		return kind
	}
	return "CELL"
}
