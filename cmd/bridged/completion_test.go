package main

import (
	"strings"
	"testing"

	"bridged/internal/bridge"
)

// Names are chosen by others, and a shell inserts the start that several have in common without quotes.
func TestChatCompletions_AreHarmless(t *testing.T) {
	t.Parallel()
	for name, isOffered := range map[string]bool{
		"Anna Amsel": true, "Sofía Ramírez": true, "漢字": true, "Wandern 🥾": true, "O.K. a-b_c": true, "ليلى": true,
		"": false, "$(id)": false, "A$(id)": false, "A`id`": false, "A;id": false, "A|id": false, "A>x": false, "A'": false, `A"`: false, `A\`: false, "A!": false,
		"A*": false, "A~": false, "A#": false, "A&": false, "A\nB": false, "A\tB": false, "A\u202eB": false, "A\u2028B": false, "A\u00a0B": false,
		"-n": false, "--help": false, "15551234567": false, "@anna": false, " A": false,
	} {
		found := chatCompletions([]bridge.Chat{{JID: "15551234567@s.whatsapp.net", Name: name}}, "")
		if len(found) != 1 {
			t.Fatalf("%q: %q", name, found)
		}
		value, description, _ := strings.Cut(found[0], "\t")
		if (value == name) != isOffered || !isOffered && value != "15551234567@s.whatsapp.net" || strings.ContainsAny(description, "\n\t\u202e\u2028") {
			t.Errorf("%q: %q", name, found[0])
		}
	}
	same := []bridge.Chat{{JID: "1@g.us", Name: "Club"}, {JID: "2@g.us", Name: "Club"}}
	if found := chatCompletions(same, ""); strings.Join(found, "\n") != "1@g.us\tClub\n2@g.us\tClub" {
		t.Errorf("namesakes: %q", found)
	}
}
