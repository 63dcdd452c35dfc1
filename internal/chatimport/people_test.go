package chatimport

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
	"bridged/internal/chatexport/exporttest"
	"bridged/internal/longtest"
)

const sofia = bridge.JID("34600100101@s.whatsapp.net")

// authors returns who has written what in a chat.
func (w *world) authors(chat bridge.JID) []string {
	w.t.Helper()
	var lines []string
	for _, m := range w.messages(chat) {
		by := cmp.Or(map[bridge.JID]string{me: "Ada", anna: "Anna", sofia: "Sofía"}[m.SenderJID], m.PushName+"?")
		if m.FromMe != (m.SenderJID == me) || m.FromMe != (m.Status != nil) {
			by += fmt.Sprintf(" (fromMe %v, status %v)", m.FromMe, m.Status)
		}
		if m.Media != nil {
			m.Content += "[" + string(m.Media.Type) + "]"
		}
		lines = append(lines, by+": "+m.Content)
	}
	slices.Sort(lines)
	return lines
}

// TestImport_AWrongNameIsCorrected by the next import that says whose it is: nothing is doubled, and
// what others have written stays theirs.
func TestImport_AWrongNameIsCorrected(t *testing.T) {
	t.Parallel()
	minute := time.Date(2025, 1, 13, 10, 0, 0, 0, time.UTC)
	say := func(minutes int, who, text string) exporttest.Say {
		return exporttest.Say{At: minute.Add(time.Duration(minutes) * time.Minute), Who: who, Text: text}
	}
	file := say(1, "Anna", "a caption")
	file.File, file.Data = "IMG-20250113-WA0001.jpg", []byte("a picture")
	chat := []exporttest.Say{say(0, "Anna", "ok"), say(0, "Sofi", "ok"), say(0, "Anna", "ok"), file, say(2, "Anna", "bye"), say(2, "Ada", "bye")}
	l := exporttest.LocaleOf("de")
	whole := l.Zip(t, exporttest.Android, chat)
	first, rest := l.Zip(t, exporttest.Android, chat[:3]), l.Zip(t, exporttest.Android, chat[3:])
	steps := func(exports ...[]byte) [][]byte { return exports }
	const total = 6
	want := []string{"Ada: bye", "Anna: a caption[document]", "Anna: bye", "Anna: ok", "Anna: ok", "Sofía: ok"}
	for _, test := range []struct {
		name         string
		wrong, right bridge.JID
		correct      [][]byte
		want         []string
	}{
		{"taken for another", sofia, anna, steps(whole), want},
		{"taken for the account", me, anna, steps(whole), want},
		{"is the account", sofia, me, steps(whole), []string{"Ada: a caption[document]", "Ada: bye", "Ada: bye", "Ada: ok", "Ada: ok", "Sofía: ok"}},
		{"in two halves", sofia, anna, steps(first, rest), want},
		{"in two halves, backwards", sofia, anna, steps(rest, first, whole), want},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.know(bridge.Owner{PN: me}, bridge.Contact{JID: me, PushName: new("Ada")}, bridge.Contact{JID: sofia, Name: new("Sofi")})
			w.imports(whole, named("Anna", test.wrong))
			for i, export := range test.correct {
				dry := w.imports(export, named("Anna", test.right), func(r *Request) { r.DryRun = true })
				if got := w.imports(export, named("Anna", test.right)); got.Imported != 0 || summary(got) != summary(dry) {
					t.Errorf("step %d: %s, dry %s", i, summary(got), summary(dry))
				}
			}
			if diff := gocmp.Diff(test.want, w.authors(chatJID("Weekend"))); diff != "" {
				t.Error(diff)
			}
			if got := w.imports(whole); summary(got) != fmt.Sprintf("0 imported, %d duplicates, 0 media, 0 system", total) || len(got.UnknownNames) > 0 {
				t.Errorf("once more: %s", summary(got))
			}
		})
	}
}

// TestImport_WrongNamesAreCorrected, however many were wrong, several times, and in parts: in the end
// the chat is as if they had been right from the beginning.
func TestImport_WrongNamesAreCorrected(t *testing.T) {
	t.Parallel()
	for seed := range longtest.Else[uint64](6, 20) {
		r := rand.New(rand.NewPCG(seed, 0))
		people := []bridge.JID{anna, sofia, me}
		names := func() map[string]bridge.JID {
			names := make(map[string]bridge.JID)
			for i, of := range r.Perm(3) {
				names[[]string{"Ada L.", "Bea", "Cleo"}[i]] = people[of]
			}
			return names
		}
		var lines []string
		for i := range 60 {
			at := atTen.Add(time.Duration(i/6) * time.Minute).Format("02.01.06, 15:04")
			lines = append(lines, fmt.Sprintf("%s - %s: %s\n", at, []string{"Ada L.", "Bea", "Cleo"}[r.IntN(3)], []string{"ok", "yes", "no"}[r.IntN(3)]))
		}
		right := names()
		export := func(from, to int) []byte { return []byte(strings.Join(lines[from:to], "")) }
		saying := func(names map[string]bridge.JID) func(*Request) { return func(r *Request) { r.Names = names } }
		w, wrong := newWorld(t), newWorld(t)
		w.know(bridge.Owner{PN: me})
		wrong.know(bridge.Owner{PN: me})
		w.imports(export(0, 60), saying(right))
		wrong.imports(export(0, 60), saying(names()))
		wrong.imports(export(0, 6*r.IntN(10)+6), saying(names()))
		half := 6 * r.IntN(10)
		wrong.imports(export(half, 60), saying(right))
		wrong.imports(export(0, min(half+6, 60)), saying(right))
		if diff := gocmp.Diff(w.authors(chatJID("Weekend")), wrong.authors(chatJID("Weekend"))); diff != "" {
			t.Errorf("seed %d: %s", seed, diff)
		}
	}
}

// TestImport_AWrongNameIsCorrectedInTheEnd, though the import that corrects it ends early.
func TestImport_AWrongNameIsCorrectedInTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.know(bridge.Owner{PN: me})
	var text strings.Builder
	for i := range 2 * batch {
		fmt.Fprintf(&text, "%s - Anna: message %d\n", time.Date(2025, 1, 13, 10, i, 0, 0, time.UTC).Format("02.01.06, 15:04"), i)
	}
	export := []byte(text.String())
	w.imports(export, named("Anna", sofia))
	commits := 0
	w.commit = func() error {
		if commits++; commits > 4 {
			return errors.New("no more room")
		}
		return nil
	}
	if _, err := w.try(export, named("Anna", anna)); err == nil {
		t.Fatal("it did not end early")
	}
	w.commit = func() error { return nil }
	if got := w.imports(export); got.Imported != 0 {
		t.Errorf("again: %s", summary(got))
	}
	for _, m := range w.messages(chatJID("Weekend")) {
		if m.SenderJID != anna {
			t.Fatalf("by %s: %q", m.SenderJID, m.Content)
		}
	}
}

// TestImport_AWrongNameDoubledWhatWasReceived: correcting it leaves what came over the connection.
func TestImport_AWrongNameDoubledWhatWasReceived(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const group = bridge.JID("120363000000000001@g.us")
	minute := time.Date(2025, 1, 13, 10, 0, 0, 0, time.UTC)
	live := func(id string, by bridge.JID, text string) bridge.Message {
		return bridge.Message{Chat: group, ID: id, SenderJID: by, Timestamp: bridge.At(minute.Add(time.Second)), MessageType: bridge.TypeText, Content: text}
	}
	w.know(bridge.Owner{PN: me}, bridge.Contact{JID: sofia, Name: new("Sofi")}, live("A", anna, "hi"), live("S", sofia, "hi"))
	export := []byte("13.01.25, 10:00 - Anna: hi\n13.01.25, 10:00 - Sofi: hi\n13.01.25, 10:00 - Sofi: hi")
	w.imports(export, into(group), named("Anna", sofia))
	w.imports(export, into(group), named("Anna", anna))
	if diff := gocmp.Diff([]string{"Anna: hi", "Sofía: hi", "Sofía: hi"}, w.authors(group)); diff != "" {
		t.Error(diff)
	}
}

// TestImport_NamesThatDifferInCase are two people where an export has both, and one where another
// phone writes the name so.
func TestImport_NamesThatDifferInCase(t *testing.T) {
	t.Parallel()
	const mama, capitals, again = "13.01.25, 10:00 - Mama: soft\n", "13.01.25, 10:01 - MAMA: LOUD\n", "13.01.25, 10:02 - Mama: soft again\n"
	two := []string{"MAMA?: LOUD", "Mama?: soft", "Mama?: soft again"}
	known := []string{"Anna: LOUD", "Sofía: soft", "Sofía: soft again"}
	both := func(r *Request) { r.Names = map[string]bridge.JID{"MAMA": anna, "Mama": sofia} }
	type step struct {
		export string
		change func(*Request)
	}
	nothing := func(*Request) {}
	for name, test := range map[string]struct {
		steps []step
		want  []string
	}{
		"in one export":                 {[]step{{mama + capitals + again, nothing}}, two},
		"a half first":                  {[]step{{mama, nothing}, {capitals + again, nothing}, {mama + capitals + again, nothing}}, two},
		"the other half first":          {[]step{{capitals, nothing}, {mama, nothing}, {mama + capitals + again, nothing}}, two},
		"a half later":                  {[]step{{mama + capitals, nothing}, {again, nothing}, {capitals, nothing}}, two},
		"the other half later":          {[]step{{capitals + again, nothing}, {mama, nothing}, {capitals, nothing}}, two},
		"told":                          {[]step{{mama + capitals + again, both}, {mama, nothing}, {capitals, nothing}}, known},
		"told later":                    {[]step{{mama + capitals + again, nothing}, {mama + capitals + again, both}}, known},
		"told in halves":                {[]step{{capitals, named("MAMA", anna)}, {mama + again, named("Mama", sofia)}, {mama + capitals + again, nothing}}, known},
		"told one":                      {[]step{{mama + capitals + again, named("Mama", sofia)}, {mama + capitals + again, nothing}}, []string{"MAMA?: LOUD", "Sofía: soft", "Sofía: soft again"}},
		"told one in a half":            {[]step{{mama + again, named("Mama", sofia)}, {mama + capitals + again, nothing}}, []string{"MAMA?: LOUD", "Sofía: soft", "Sofía: soft again"}},
		"told in another case":          {[]step{{mama + again, named("MAMA", sofia)}}, []string{"Sofía: soft", "Sofía: soft again"}},
		"another phone's, once":         {[]step{{mama, nothing}, {strings.ToUpper(mama + again), nothing}}, []string{"MAMA?: SOFT", "MAMA?: SOFT AGAIN", "MAMA?: soft"}},
		"another phone's, known":        {[]step{{mama, named("Mama", sofia)}, {strings.ReplaceAll(mama+again, "Mama", "mama"), nothing}}, []string{"Sofía: soft", "Sofía: soft again"}},
		"in the address book":           {[]step{{strings.ReplaceAll(mama+capitals, "Mama", "Sofi")[:len(mama)] + strings.ReplaceAll(capitals, "MAMA", "SOFI"), nothing}}, []string{"SOFI?: LOUD", "Sofía: soft"}},
		"in the address book otherwise": {[]step{{strings.ReplaceAll(capitals, "MAMA", "SOFI"), nothing}}, []string{"Sofía: LOUD"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.know(bridge.Owner{PN: me}, bridge.Contact{JID: sofia, Name: new("Sofi")})
			for _, step := range test.steps {
				w.imports([]byte(step.export), step.change)
			}
			if diff := gocmp.Diff(test.want, w.authors(chatJID("Weekend"))); diff != "" {
				t.Error(diff)
			}
			last := test.steps[len(test.steps)-1]
			if got := w.imports([]byte(last.export)); got.Imported != 0 {
				t.Errorf("once more: %s", summary(got))
			}
		})
	}
}

// TestImport_TheJIDOfAName stays what it was: messages are stored under it.
func TestImport_TheJIDOfAName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.imports([]byte("13.01.25, 10:00 - Zoë: hi\n13.01.25, 10:01 - ZOË: HI\n"))
	if m := w.messages(chatJID("Weekend")); m[0].SenderJID != "801311070845813935@import" || m[1].SenderJID == m[0].SenderJID {
		t.Errorf("%s and %s", m[0].SenderJID, m[1].SenderJID)
	}
}

// TestImport_OneName in a chat with a person is theirs, unless it is the account's.
func TestImport_OneName(t *testing.T) {
	t.Parallel()
	const shop, alex = "13.01.25, 10:00 - Shop: code 1\n", "13.01.25, 10:01 - Alex: thanks\n"
	for _, test := range []struct {
		name, own string // the account's
		chat      bridge.JID
		steps     []string
		want      []string
	}{
		{"another's", "Alex", anna, []string{shop, shop}, []string{"Anna: code 1"}},
		{"another's, and later both", "Alex", anna, []string{shop, shop + alex}, []string{"Ada: thanks", "Anna: code 1"}},
		{"the account's", "Alex", anna, []string{alex}, []string{"Ada: thanks", "Anna: code 1"}},
		{"the account's in another case", "ALEX", anna, []string{alex}, []string{"Ada: thanks", "Anna: code 1"}},
		{"whose account's is not known", "", anna, []string{shop}, []string{"Anna: code 1", "Shop?: code 1"}},
		{"somebody else's number", "Alex", anna, []string{strings.ReplaceAll(shop, "Shop", "+34 600 100 101")}, []string{"Anna: code 1", "Sofía: code 1"}},
		{"in the chat with oneself", "", me, []string{shop}, []string{"Ada: code 1"}},
		{"in a new chat", "Alex", chatJID("Weekend"), []string{shop}, []string{"Shop?: code 1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.know(bridge.Owner{PN: me}, received("M", bridge.TypeText, "code 1"), bridge.Contact{JID: anna, PushName: new("Anna's shop")}, bridge.Contact{JID: me, PushName: &test.own})
			for _, export := range test.steps {
				w.imports([]byte(export), func(r *Request) {
					if r.Chat = string(test.chat); test.chat.IsImport() {
						r.Chat = "Weekend"
					}
				})
			}
			if diff := gocmp.Diff(test.want, w.authors(test.chat)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestImport_ANumberOutside is not the chat's person, though nobody else is left.
func TestImport_ANumberOutside(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.know(bridge.Owner{PN: me}, bridge.Contact{JID: anna, Name: new("Anna")}, bridge.Contact{JID: me, PushName: new("Ada")})
	for _, export := range []string{"13.01.25, 10:00 - +34 600 100 101: hi\n", "13.01.25, 10:00 - +34 600 100 101: hi\n13.01.25, 10:01 - Ada: hi\n"} {
		got := w.imports([]byte(export), into(anna), func(r *Request) {
			r.Outsiders = func(_ context.Context, people ...bridge.JID) ([]bridge.JID, error) { return people, nil }
		})
		if diff := gocmp.Diff([]string{"+34 600 100 101"}, got.UnknownNames); diff != "" {
			t.Error(diff)
		}
	}
}
