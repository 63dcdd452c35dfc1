package chatexport

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
)

// TestMessages_TheHalfOfTheDay is in the words beside a time.
func TestMessages_TheHalfOfTheDay(t *testing.T) {
	for stamp, want := range map[string]string{
		"13/2/24 9:05 de la mañana":    "09:05",
		"13/2/24 9:05 de la tarde":     "21:05",
		"13/2/24 9:05 de la noche":     "21:05",
		"13/2/24 12:05 de la noche":    "00:05",
		"13/2/24 12:05 del mediodía":   "12:05",
		"13/2/24 a las 9:05 p. m.":     "21:05",
		"13/2/24 a las 12:05":          "12:05",
		"13/2/24 9:05 a":               "09:05",
		"13/2/24 12:05 de.":            "00:05",
		"13/2/24, 9:05 in the morning": "09:05",
		"13. 2. 2024, 9:05 dop.":       "09:05",
		"13. 2. 2024, 9:05 pop.":       "21:05",
		"13.2.24. 9:05 po podne":       "21:05",
		"13.2.24. 9:05 pre podne":      "09:05",
		"13.2.2024. 9:05 poslijepodne": "21:05",
		"13.02.24, 9:05 popoludní":     "21:05",
		"13/2/2024، 9:05 غ.و.":         "21:05",
		"13/2/2024, 9:05 YM":           "21:05",
		"13/2/2024, 9:05 тк":           "21:05",
		"2024. 2. 13. 새벽 2:05":         "02:05",
		"2024. 2. 13. 낮 12:05":         "12:05",
		"2024. 2. 13. 밤 9:05":          "21:05",
		"2024. 2. 13. 밤 12:05":         "00:05",
		"2024/2/13 深夜1:05":             "01:05",
		"2024/2/13 中午1:05":             "13:05",
		"১৩/২/২৪, রাত ৯:০৫":            "21:05",
		"2024年2月13日午後9:05":             "21:05",
		"13. 02. 2024. u 9:05":         "09:05",
		"2024-02-13 09 h 05 min 07 s":  "09:05",
		"13.02.2024., plkst. 9:05":     "09:05",
		"12:05 CH, 13/02/2024":         "12:05",
		"12:05 SA, 13/02/2024":         "00:05",
	} {
		t.Run(stamp, func(t *testing.T) {
			got, notes := readAll(t, []byte(stamp+" - Anna: Hi"), Options{})
			if len(got) != 1 || got[0].At.Format("15:04") != want || len(notes.Warnings) > 0 {
				t.Errorf("got %+v %+v", got, notes.Warnings)
			}
		})
	}
}

// Unknown words next to times: an export with many of them is refused, and few get a warning.
func TestFormat_UnknownWords(t *testing.T) {
	lines := func(clocks ...string) string {
		return "1/1/25, " + strings.Join(clocks, " - Anna: Hi\n1/1/25, ") + " - Anna: Hi\n"
	}
	for name, test := range map[string]struct {
		text   string
		want   []string // none for an export that is refused
		doubts []int    // lines
	}{
		"with words for the morning":       {lines("9:05 AM", "9:06 AM", "9:05 blip"), nil, nil},
		"with words for the afternoon":     {lines("12:05 blip", "9:05 PM", "9:06 PM"), nil, nil},
		"two words":                        {lines("9:05 blip", "9:06 blip", "9:05 blop"), nil, nil},
		"with a clock of 24 hours":         {lines("9:05 blip", "21:05 blip"), []string{"09:05", "21:05"}, nil},
		"with a clock that has a zero":     {lines("0:05 blip", "9:05 blip"), []string{"00:05", "09:05"}, nil},
		"few among known ones":             {lines("9:05 AM", "10:05 AM", "9:05 PM", "9:07 blip"), []string{"09:05", "10:05", "21:05", "09:07"}, []int{4}},
		"few among times without words":    {lines("9:05", "10:05", "21:05", "9:07 blip"), []string{"09:05", "10:05", "21:05", "09:07"}, []int{4}},
		"few, of a notice":                 {lines("9:05", "10:05", "21:05") + "1/1/25, 9:07 blip - Anna left", []string{"09:05", "10:05", "21:05"}, nil},
		"alone":                            {lines("9:05 blip", "9:06 blip"), nil, nil},
		"two without an order":             {"1/1/25, 9:05 blip - Anna: Hi\n2/1/25, 9:05 blop - Anna: Hi", nil, nil},
		"after the afternoon of a day":     {lines("2:05 PM", "3:05 PM", "11:05 blip"), nil, nil},
		"before the morning of a day":      {lines("2:05 blip", "3:05 blip", "11:05 AM"), nil, nil},
		"mostly, beside both markers":      {lines("3:05 AM", "11:05 PM", "11:06 blip", "11:07 blip", "11:08 blip"), nil, nil},
		"beside a word for a part of them": {lines("深夜11:05", "上午9:05", "9:06 blip", "9:07 blip", "9:08 blip"), nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := Open(strings.NewReader(test.text), int64(len(test.text)), limits)
			if err != nil {
				t.Fatal(err)
			}
			err = a.DetectFormat(Options{Zone: time.UTC, Now: now})
			if test.want == nil {
				if bridge.CodeOf(err) != bridge.CodeUnknownDates || !strings.Contains(err.Error(), "“blip”") || !strings.Contains(err.Error(), "24-hour clock") {
					t.Errorf("got %v", err)
				}
				return
			}
			got, notes := readAll(t, []byte(test.text), Options{Order: DMY})
			var clocks []string
			for _, m := range got {
				clocks = append(clocks, m.At.Format("15:04"))
			}
			var doubts []int
			for _, d := range notes.Warnings {
				doubts = append(doubts, d.Line)
			}
			if diff := cmp.Diff(test.want, clocks) + cmp.Diff(test.doubts, doubts); diff != "" {
				t.Error(diff)
			}
		})
	}
}
