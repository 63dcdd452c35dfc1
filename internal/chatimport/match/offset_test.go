package match

import (
	"fmt"
	"testing"
	"time"
)

func TestOffsets_AreFoundFromTexts(t *testing.T) {
	noon := time.Date(2026, 6, 1, 12, 0, 20, 0, time.UTC)
	for name, c := range map[string]struct {
		texts  []string
		shifts []time.Duration // of the export's clock, by text
		want   time.Duration
		ok     bool
	}{
		"two hours":               {[]string{"shall we go hiking?", "yes"}, []time.Duration{2 * time.Hour, 2 * time.Hour}, 2 * time.Hour, true},
		"none":                    {[]string{"shall we go hiking?", "yes"}, []time.Duration{0, 0}, 0, true},
		"a quarter of an hour":    {[]string{"shall we go hiking?"}, []time.Duration{5*time.Hour + 45*time.Minute}, 5*time.Hour + 45*time.Minute, true},
		"one short text":          {[]string{"yes"}, []time.Duration{2 * time.Hour}, 2 * time.Hour, false},
		"summer and winter":       {[]string{"shall we go hiking?", "on the other day"}, []time.Duration{2 * time.Hour, time.Hour}, 0, false},
		"days apart":              {[]string{"shall we go hiking?"}, []time.Duration{48 * time.Hour}, 0, false},
		"no offset of any zone":   {[]string{"shall we go hiking?"}, []time.Duration{7 * time.Minute}, 0, false},
		"nothing to compare with": {nil, nil, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := NewOffsets()
			for i, text := range c.texts {
				o.AddStored(text, noon.Add(time.Duration(i)*time.Minute))
			}
			for i := range 2 {
				o.AddStored("ok", noon.Add(time.Duration(i)*time.Hour))
			}
			for i, text := range c.texts {
				o.AddExported(text, noon.Add(time.Duration(i)*time.Minute+c.shifts[i]).Truncate(time.Minute))
				o.AddExported("ok", noon.Add(time.Duration(i)*time.Hour))
			}
			got, ok := o.Offset()
			if ok != c.ok || ok && got != c.want {
				t.Errorf("got %v, %v", got, ok)
			}
		})
	}
}

// A few texts that were sent twice, by a coincidence of hours, do not hide the offset of hundreds.
func TestOffsets_CoincidencesAreOutnumbered(t *testing.T) {
	noon := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	o := NewOffsets()
	for i := range 200 {
		o.AddStored(fmt.Sprint("message ", i), noon.Add(time.Duration(i)*time.Minute))
	}
	for i := range 200 {
		shift := 3 * time.Hour
		if i%50 == 0 {
			shift = time.Hour
		}
		o.AddExported(fmt.Sprint("message ", i), noon.Add(time.Duration(i)*time.Minute+shift))
	}
	if got, ok := o.Offset(); !ok || got != 3*time.Hour {
		t.Errorf("got %v, %v", got, ok)
	}
}
