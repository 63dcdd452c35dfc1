package convert

import (
	"cmp"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"bridged/internal/bridge"
)

// flowParams holds the parameters of a native flow's button that phones show. Each kind
// of button has some of them.
type flowParams struct {
	DisplayText string   `json:"display_text"`
	Title       string   `json:"title"`
	ID          flowText `json:"id"`
	URL         string   `json:"url"`
	PhoneNumber flowText `json:"phone_number"`
	CopyCode    flowText `json:"copy_code"`
	FlowCTA     string   `json:"flow_cta"`
	Link        struct {
		URL string `json:"url"`
	} `json:"link"`
	Sections []struct {
		Title string `json:"title"`
		Rows  []struct {
			ID          flowText `json:"id"`
			Header      string   `json:"header"`
			Title       string   `json:"title"`
			Description string   `json:"description"`
		} `json:"rows"`
	} `json:"sections"`

	Currency    string     `json:"currency"`
	Total       *flowMoney `json:"total_amount"`
	ReferenceID flowText   `json:"reference_id"`
	Order       *struct {
		Status      string `json:"status"`
		Description string `json:"description"`
		Items       []struct {
			Name     string     `json:"name"`
			Amount   *flowMoney `json:"amount"`
			Quantity int        `json:"quantity"`
		} `json:"items"`
	} `json:"order"`
}

type flowMoney struct {
	Value  int64 `json:"value"`
	Offset int64 `json:"offset"`
}

// flowText is a text that some senders write as a number.
type flowText string

// UnmarshalJSON takes texts and numbers, and ignores other values.
func (t *flowText) UnmarshalJSON(data []byte) error {
	var number json.Number
	if json.Unmarshal(data, (*string)(t)) != nil && json.Unmarshal(data, &number) == nil {
		*t = flowText(number)
	}
	return nil
}

// parseFlow reads parameters as far as they are of the right form.
func parseFlow(params string) (p flowParams) {
	_ = json.Unmarshal([]byte(params), &p) // decodes the rest after a field of another type
	return p
}

// flow adds a native flow's button.
func (c *choices) flow(name, params string) {
	p := parseFlow(params)
	c.flowOrder(p)
	if name == "single_select" || len(p.Sections) > 0 {
		if c.Kind == bridge.InteractiveFlow {
			c.Kind = bridge.InteractiveList
		}
		c.below = append(c.below, cmp.Or(p.DisplayText, p.Title))
		for _, section := range first(p.Sections) {
			c.below = append(c.below, section.Title)
			for _, row := range first(section.Rows) {
				c.row(string(row.ID), cmp.Or(row.Title, row.Header), row.Description)
			}
		}
		return
	}
	b := bridge.Button{ID: string(p.ID), Text: cmp.Or(p.DisplayText, p.FlowCTA, p.Title), URL: cmp.Or(p.URL, p.Link.URL), Phone: string(p.PhoneNumber)}
	switch {
	case p.CopyCode != "":
		c.Buttons = append(c.Buttons, b)
		c.below = append(c.below, labelled(b.Text, string(p.CopyCode)))
	case b != bridge.Button{}:
		c.button(b)
	}
}

// flowOrder reads the order that is to be paid or that has changed.
func (c *choices) flowOrder(p flowParams) {
	if p.Order == nil && p.Total == nil {
		return
	}
	order := &bridge.ShopOrder{ID: string(p.ReferenceID), Total: p.Total.decimal(), Currency: p.Currency}
	if p.Order != nil {
		order.Status = p.Order.Status
		c.below = append(c.below, p.Order.Description)
		var names []string
		for _, item := range first(p.Order.Items) {
			names = append(names, item.Name)
			if item.Quantity > 1 {
				item.Name = strconv.Itoa(item.Quantity) + " × " + item.Name
			}
			order.ItemCount += max(0, min(item.Quantity, math.MaxInt16))
			c.below = append(c.below, labelled(item.Name, price(item.Amount.decimal(), p.Currency)))
		}
		order.Title = strings.Join(names, ", ")
	}
	c.below = append(c.below, price(order.Total, order.Currency))
	c.order = order
}

// decimal returns the amount as a number with at least two decimals, "" for nil.
func (m *flowMoney) decimal() string {
	if m == nil {
		return ""
	}
	return decimal(m.Value, m.Offset)
}
