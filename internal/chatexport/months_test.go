package chatexport

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// readsAs returns the messages of a text as "time sender: text".
func readsAs(t *testing.T, text string) (lines []string, err error) {
	t.Helper()
	a, err := Open(strings.NewReader(text), int64(len(text)), Limits{File: 1 << 20, Sum: 1 << 20})
	if err == nil {
		err = a.DetectFormat(Options{Zone: time.UTC, Now: time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)})
	}
	if err != nil {
		return nil, err
	}
	for m, err := range a.Messages(new(Notes)) {
		if err != nil {
			return nil, err
		}
		lines = append(lines, m.At.Format("2006-01-02 15:04")+" "+m.Sender+": "+m.Text)
	}
	return lines, nil
}

// Dates with names of months, with eras after the year, and without a separator before the sender.
func TestRead_DatesOfOldApps(t *testing.T) {
	for name, c := range map[string]struct{ text, date string }{
		"English, day first":   {"13 Jun 2018, 21:25 - Ana: bok\n13 Jun 2018, 21:26 - Marko: bok Ana", "2018-06-13"},
		"English, month first": {"Jun 5, 2018, 9:25 PM - Ana: bok\nJun 5, 2018, 9:26 PM - Marko: bok Ana", "2018-06-05"},
		"English, in full":     {"June 5th, 2018, 9:25 PM - Ana: bok\nJune 5th, 2018, 9:26 PM - Marko: bok Ana", "2018-06-05"},
		"with hyphens":         {"05-Jun-18, 21:25 - Ana: bok\n05-Jun-18, 21:26 - Marko: bok Ana", "2018-06-05"},
		"German":               {"5. Juni 2018, 21:25 - Ana: bok\n5. Juni 2018, 21:26 - Marko: bok Ana", "2018-06-05"},
		"Spanish":              {"5 de jun. de 2018 21:25 - Ana: bok\n5 de jun. de 2018 21:26 - Marko: bok Ana", "2018-06-05"},
		"French":               {"5 févr. 2018 21:25 - Ana: bok\n5 févr. 2018 21:26 - Marko: bok Ana", "2018-02-05"},
		"Russian":              {"5 июня 2018 г., 21:25 - Ana: bok\n5 июня 2018 г., 21:26 - Marko: bok Ana", "2018-06-05"},
		"Croatian iPhone":      {"5. 6. 2018. 21:25:15 Ana: bok\n5. 6. 2018. 21:26:15 Marko: bok Ana\n13. 6. 2018. 21:26:15 Marko: i opet", "2018-06-05"},
		"old iPhone, 12 hours": {"13/6/2018 9:25:15 PM Ana: bok\n13/6/2018 9:26:15 PM Marko: bok Ana", "2018-06-13"},
		"Heisei":               {"6/13/30 H, 21:25 - Ana: bok\n6/13/30 H, 21:26 - Marko: bok Ana", "2018-06-13"},
		"Reiwa in full":        {"13/6/3 Reiwa, 21:25 - Ana: bok\n13/6/3 Reiwa, 21:26 - Marko: bok Ana", "2021-06-13"},
		"Minguo":               {"6/13/110 Minguo, 21:25 - Ana: bok\n6/13/110 Minguo, 21:26 - Marko: bok Ana", "2021-06-13"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readsAs(t, c.text)
			if err != nil || len(got) < 2 {
				t.Fatalf("%v: %q", err, got)
			}
			if diff := cmp.Diff([]string{c.date + " 21:25 Ana: bok", c.date + " 21:26 Marko: bok Ana"}, got[:2]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Marks of deleted messages are known without their vowel signs, and in a polite and a familiar form.
func TestRead_DeletionsInOtherForms(t *testing.T) {
	for _, phrase := range []string{
		"لقد حذفت هذه الرسالة", "لقد حذَفت هذه الرسالة", "لَقَد حَذَفْت هذه الرِسالة", "הוֹדָעָה זוֹ נִמְחֲקָה", "Sie haben diese Nachricht gelöscht", "Du hast diese Nachricht gelöscht", "Usted eliminó este mensaje",
		"Tu as supprimé ce message", "Je hebt dit bericht verwijderd", "Kamu menghapus pesan ini", "이 메시지를 삭제하셨습니다",
	} {
		if !isOf(deleted, phrase) {
			t.Errorf("%q is no deletion", phrase)
		}
	}
	if isOf(deleted, "حذفت الرسالة من الدفتر") {
		t.Error("a sentence is a deletion")
	}
}
