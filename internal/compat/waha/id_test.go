package waha

import (
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/fuzzbudget"
)

func TestMessageID_InEachForm(t *testing.T) {
	const person, group bridge.JID = "34600100101@s.whatsapp.net", "120363000000000000@g.us"
	for name, want := range map[string]messageID{
		"true_34600100101@c.us_3EB0A1":                          {FromMe: true, Chat: person, ID: "3EB0A1"},
		"false_34600100101@c.us_3EB0A1":                         {Chat: person, ID: "3EB0A1"},
		"false_120363000000000000@g.us_3EB0B1_34600100101@c.us": {Chat: group, ID: "3EB0B1", Sender: person},
		"false_120363000000000000@g.us_3EB0B1":                  {Chat: group, ID: "3EB0B1"},
		"false_111@lid_A_B":                                     {Chat: "111@lid", ID: "A_B"},
		"false_34600100101@c.us_3EB0A1_1@c.us":                  {Chat: person, ID: "3EB0A1_1@c.us"}, // an id that its sender made up
		"3EB0A1":                                                {ID: "3EB0A1"},
	} {
		got, err := parseMessageID(name)
		if err != nil || got != want {
			t.Errorf("%s is %+v, %v, want %+v", name, got, err, want)
		}
		if want.Chat != "" && got.String() != name {
			t.Errorf("%+v is %s, want %s", got, got, name)
		}
	}
	for _, name := range []string{"", "true_nobody@x_3EB0", "true_34600100101@c.us_"} {
		if got, err := parseMessageID(name); err == nil {
			t.Errorf("%q is %+v", name, got)
		}
	}
}

// A message's name is read as the message that it was made of.
func FuzzMessageID(f *testing.F) {
	f.Add("true_34600100101@c.us_3EB0A1")
	f.Add("false_120363000000000000@g.us_3EB0B1_34600100101@c.us")
	f.Fuzz(func(t *testing.T, name string) {
		fuzzbudget.Usual.Check(t, len(name), func() {
			m, err := parseMessageID(name)
			if err != nil || m.Chat == "" {
				return
			}
			if again, err := parseMessageID(m.String()); err != nil || again != m {
				t.Errorf("%q is %+v, and %q is %+v, %v", name, m, m, again, err)
			}
		})
	})
}
