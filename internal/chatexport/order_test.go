package chatexport

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
	"bridged/internal/chatexport/exporttest"
)

// TestFormat_OneLineDecidesNothing: the app's notices are younger than what follows, a clock is
// wrong, and only dates that nobody can have written tell one order from the others.
func TestFormat_OneLineDecidesNothing(t *testing.T) {
	const notice = "Messages and calls are end-to-end encrypted."
	many := func(stamps ...string) string {
		return strings.Join(stamps, ", 10:00 - Anna: Hi\n") + ", 10:00 - Anna: Hi"
	}
	for name, test := range map[string]struct {
		text string
		want []Order // of which several are asked for
	}{
		"a notice with dots":             {"10.02.24, 12:00 - " + notice + "\n25.01.24, 09:05 - Anna: Hi\n26.01.24, 09:06 - Bob: Hi", []Order{DMY}},
		"a notice with dots, iPhone":     {"[10.02.24, 12:00:00] Anna: \u200e" + notice + "\n[25.01.24, 09:05:00] Anna: Hi\n[26.01.24, 09:06:00] Bob: Hi", []Order{DMY}},
		"a notice with strokes":          {"01/05/2024, 10:00 - " + notice + "\n02/04/2024, 10:00 - Anna: Hi\n03/04/2024, 10:01 - Bob: Hi", []Order{DMY, MDY}},
		"a notice with strokes, iPhone":  {"[01/05/2024, 10:00:00] Anna: \u200e" + notice + "\n[02/04/2024, 10:00:00] Anna: Hi\n[03/04/2024, 10:01:00] Bob: Hi", []Order{DMY, MDY}},
		"a notice with a colon":          {"01/05/2024, 10:00 - " + notice + " More: Hi\n02/04/2024, 10:00 - Anna: Hi\n03/04/2024, 10:01 - Bob: Hi", []Order{DMY, MDY}},
		"the notices of a group":         {"01/05/2024, 10:00 - " + notice + "\n12/02/2024, 10:00 - Anna created the group\n01/05/2024, 10:00 - Anna added you\n02/04/2024, 10:00 - Anna: Hi", []Order{DMY, MDY}},
		"a notice between messages":      {"02/04/2024, 10:00 - Anna: Hi\n01/05/2024, 10:00 - Bob left\n03/04/2024, 10:01 - Anna: Hi", []Order{DMY, MDY}},
		"messages of three months":       {many("01/05/2024", "02/04/2024", "03/04/2024", "01/05/2024"), []Order{DMY}},
		"messages of three months, US":   {many("05/01/2024", "04/02/2024", "04/03/2024", "05/01/2024"), []Order{MDY}},
		"a notice beyond the 12th":       {"13/05/2024, 10:00 - " + notice + "\n02/04/2024, 10:00 - Anna: Hi", []Order{DMY}},
		"a date before the app":          {many("13.02.24", "13.02.05", "13.02.24"), []Order{DMY}},
		"one in the future":              {many("13.02.24", "13.02.34", "13.02.24"), []Order{DMY}},
		"one before it, with hyphens":    {many("13-02-24", "13-02-05", "13-02-24"), []Order{DMY, YMD}},
		"some before it":                 {many("13.02.24", "13.02.05", "13.02.05", "13.02.24", "13.02.24"), []Order{DMY, YMD}},
		"the year first, unusually":      {many("24/02/13", "24/02/14", "24/02/20", "24/02/01", "24/02/28"), []Order{DMY, YMD}},
		"the year first, undoubtedly":    {many("24/02/01", "24/02/08", "24/02/13", "24/02/28"), []Order{YMD}},
		"one in the future, hyphens":     {many("13-03-24", "13-03-30", "13-03-24"), []Order{DMY, YMD}},
		"the month first, unusually":     {many("02.13.24", "02.14.24", "03.01.24"), []Order{MDY}},
		"one line, unusually":            {many("02.13.24"), []Order{MDY}},
		"an unusual line at the end":     {many("13.02.24", "14.02.24", "15.02.24", "01/02/24"), []Order{DMY}},
		"messages that came late, dots":  {many("10.03.24", "25.02.24", "10.03.24", "26.02.24", "11.03.24"), []Order{DMY}},
		"short years before signs":       {many("24年2月13日", "24年2月14日"), []Order{YMD}},
		"dots and spaces":                {many("13. 2. 24", "14. 2. 24"), []Order{DMY}},
		"dots and spaces, as in Korea":   {many("24. 2. 13.", "24. 2. 14."), []Order{DMY, YMD}},
		"dots and spaces, of many days":  {many("24. 2. 13.", "24. 2. 28.", "24. 3. 2.", "24. 4. 20."), []Order{YMD}},
		"a dot at the end":               {many("13.2.24.", "14.2.24."), []Order{DMY}},
		"a single clock that was behind": {many("1/2/24", "2/2/24", "1/1/15", "3/2/24"), []Order{DMY, MDY}},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := detectText(test.text, Options{})
			got := []Order{f.order}
			if ambiguous, ok := errors.AsType[*Ambiguous](err); ok {
				got, err = ambiguous.Orders, nil
				if len(ambiguous.Examples) == 0 {
					t.Error("without an example")
				}
			}
			if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
				t.Errorf("%v %s", err, diff)
			}
		})
	}
}

// TestFormat_IsNeverWrong about chats of a few messages, some of which came late, below notices
// that are younger: each date and time is right, doubtful or asked for.
func TestFormat_IsNeverWrong(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, locale := range exporttest.Locales {
		for _, p := range exporttest.Platforms {
			t.Run(locale.Name+" on "+string(p), func(t *testing.T) {
				for range 40 {
					chat := shortChat(r)
					checkDates(t, locale.Text(p, false, chat), chat)
				}
			})
		}
	}
}

// shortChat makes a chat of at most twenty messages within hours or months.
func shortChat(r *rand.Rand) (chat []exporttest.Say) {
	const day = 24 * time.Hour
	at := time.Date(2019, 6, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(r.IntN(7*365)) * day)
	for range 1 + r.IntN(3) {
		chat = append(chat, exporttest.Say{At: at.Add(time.Duration(r.IntN(40)-10) * day), What: exporttest.Notice})
	}
	gap := []time.Duration{time.Hour, day, 9 * day}[r.IntN(3)]
	for i := range 1 + r.IntN(20) {
		late := time.Duration(0)
		if r.IntN(10) == 0 {
			late = time.Duration(r.Int64N(int64(9 * day)))
		}
		chat = append(chat, exporttest.Say{At: at.Add(-late).Truncate(time.Minute), Who: []string{"Anna", "Bob"}[i%2], Text: "Hi"})
		at = at.Add(time.Duration(r.Int64N(int64(gap))))
	}
	return chat
}

func checkDates(t *testing.T, text string, chat []exporttest.Say) {
	t.Helper()
	f, err := detectText(text, Options{})
	orders := []Order{f.order}
	switch ambiguous, ok := errors.AsType[*Ambiguous](err); {
	case ok:
		orders = ambiguous.Orders
	case bridge.CodeOf(err) == bridge.CodeUnknownDates:
		return
	case err != nil:
		t.Fatal(err)
	}
	var want []time.Time
	for _, say := range chat {
		if say.What == exporttest.Says {
			want = append(want, say.At)
		}
	}
	var got [][]time.Time
	for _, order := range orders {
		f, err := detectText(text, Options{Order: order})
		if err != nil {
			t.Fatal(err)
		}
		var read []time.Time
		var notes Notes
		for m := range f.messages(strings.NewReader(text), func(string) bool { return false }, &notes) {
			if m.Text == "Hi" { // else a notice from right to left, which is doubtful
				read = append(read, m.At)
			}
		}
		if slices.ContainsFunc(notes.Warnings, func(d Warning) bool { return strings.Contains(d.Why, "next to its time") }) {
			return
		}
		got = append(got, read)
	}
	if !slices.ContainsFunc(got, func(read []time.Time) bool { return slices.EqualFunc(read, want, time.Time.Equal) }) {
		t.Errorf("in the orders %v got %v, want %v\n%s", orders, got, want, text)
	}
}
