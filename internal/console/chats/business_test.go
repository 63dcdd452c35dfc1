package chats

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
)

// Each part of a business's message is shown once: the content has them all.
func TestChoicesOf_EachPartOnce(t *testing.T) {
	for name, test := range map[string]struct {
		content string
		of      bridge.Interactive
		want    choices
		text    string
	}{
		"buttons": {
			"Your order\nIt leaves today.\nAt 5 pm.\nACME Ltd.\nTrack it: https://example.org/t/1\nCall us: +49 30 1234\nThanks",
			bridge.Interactive{Title: "Your order", Body: "It leaves today.\nAt 5 pm.", Footer: "ACME Ltd.", Buttons: []bridge.Button{
				{Text: "Track it", URL: "https://example.org/t/1"}, {Text: "Call us", Phone: "+49 30 1234"}, {ID: "1", Text: "Thanks"},
			}},
			choices{Title: "Your order", Footer: "ACME Ltd.", Buttons: []choice{{Text: "Track it", Link: "https://example.org/t/1"}, {Text: "Call us", About: "+49 30 1234"}, {Text: "Thanks"}}},
			"It leaves today.\nAt 5 pm.",
		},
		"a list": {
			"Menu\nWhat would you like?\nChoose\nPizza\nMargherita: tomato, cheese\nFunghi: mushrooms",
			bridge.Interactive{Title: "Menu", Body: "What would you like?", Buttons: []bridge.Button{{ID: "1", Text: "Margherita"}, {ID: "2", Text: "Funghi"}}},
			choices{Title: "Menu", Buttons: []choice{{Text: "Margherita", About: "tomato, cheese"}, {Text: "Funghi", About: "mushrooms"}}},
			"What would you like?\nChoose\nPizza",
		},
		"the same word twice": {
			"Yes\nYes or no?\nYes\nNo",
			bridge.Interactive{Title: "Yes", Body: "Yes or no?", Buttons: []bridge.Button{{Text: "Yes"}, {Text: "No"}}},
			choices{Title: "Yes", Buttons: []choice{{Text: "Yes"}, {Text: "No"}}},
			"Yes or no?",
		},
		"an answer": {"No\nthanks", bridge.Interactive{Selected: &bridge.Choice{Text: "No"}}, choices{Chosen: "No"}, "thanks"},
		"a script":  {"Tap\nOpen: javascript:alert(1)", bridge.Interactive{Body: "Tap", Buttons: []bridge.Button{{Text: "Open", URL: "javascript:alert(1)"}}}, choices{Buttons: []choice{{Text: "Open", About: "javascript:alert(1)"}}}, "Tap"},
		"an edit":   {"Something else", bridge.Interactive{Title: "Menu", Buttons: []bridge.Button{{Text: "Yes"}}}, choices{Title: "Menu", Buttons: []choice{{Text: "Yes"}}}, "Something else"},
	} {
		m := bridge.Message{Content: test.content}
		m.Interactive = &test.of
		shown, text := choicesOf(m)
		if diff := cmp.Diff(&test.want, shown); diff != "" || text != test.text {
			t.Errorf("%s: %q\n%s", name, text, diff)
		}
	}
}
