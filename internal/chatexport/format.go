package chatexport

import (
	"hash/maphash"
	"io"
	"slices"
	"time"

	"bridged/internal/bridge"
)

// detection detects the format of a whole text.
type detection struct {
	o        Options
	shapes   map[shape]*shapeCount
	encoding encoding
}

// shapeCount counts the lines whose prefixes have one shape.
type shapeCount struct {
	senderCount
	lines   int
	foreign int // with a year of a calendar that is not known
	usual   map[Order]int
	orders  [len(calendars)][3]orderScore
	pairs   map[[2]Order][]prefix // examples
	words   wordCounts
}

const (
	maxShapes   = 16
	maxExamples = 3
)

var seed = maphash.MakeSeed()

// detect reads a text to its end.
func detect(r io.Reader, o Options) (*detection, error) {
	s := &detection{o: o, shapes: make(map[shape]*shapeCount)}
	for l, err := range lines(r) {
		if err != nil {
			return nil, err
		}
		s.encoding.add(l)
		if h, ok := prefixOf(l.text); ok {
			s.add(h)
		}
	}
	return s, nil
}

func (s *detection) add(h prefix) {
	seen := s.shapes[h.shape]
	if seen == nil {
		if len(s.shapes) == maxShapes {
			return
		}
		seen = &shapeCount{senderCount: newSenderCount(h, s.o.IsName), usual: make(map[Order]int), pairs: make(map[[2]Order][]prefix)}
		for c := range seen.orders {
			for o := range seen.orders[c] {
				seen.orders[c][o].dates.SetSeed(seed)
			}
		}
		s.shapes[h.shape] = seen
	}
	seen.lines++
	text, found := seen.count(h)
	// The app's notices are often younger than what follows. On Android the mark is before names of files.
	byPerson := found && (h.form == dash || !startsWithMark(text))
	seen.words.add(h)
	if isForeign(h) {
		seen.foreign++
		return
	}
	isNext := byPerson && seen.lines > 1 // the first line is a notice, whatever it looks like
	for i, order := range Orders {
		if h.isUsual(order) {
			seen.usual[order]++
		}
		for _, c := range calendars {
			seen.orders[c][i].add(h, order, c, s.o.Now, isNext)
		}
	}
	seen.addExamples(h)
}

// addExamples stores a prefix as an example for each two orders that give it different dates.
func (s *shapeCount) addExamples(h prefix) {
	h.rest = ""
	for i, one := range Orders {
		for _, other := range Orders[i+1:] {
			pair := [2]Order{one, other}
			if len(s.pairs[pair]) == maxExamples {
				continue
			}
			first, ok := h.day(one, gregorian)
			second, both := h.day(other, gregorian)
			if !ok || !both || first.Equal(second) || slices.ContainsFunc(s.pairs[pair], func(example prefix) bool { return example.timestamp == h.timestamp }) {
				continue
			}
			s.pairs[pair] = append(s.pairs[pair], h)
		}
	}
}

// examples shows what dates are in two orders.
func (s *shapeCount) examples(one, other Order, c calendar) (examples []Example) {
	for _, h := range s.pairs[[2]Order{one, other}] {
		first, ok := h.day(one, c)
		if second, both := h.day(other, c); ok && both {
			examples = append(examples, Example{Text: h.timestamp, Reads: map[Order]string{one: first.Format(time.DateOnly), other: second.Format(time.DateOnly)}})
		}
	}
	return examples
}

// isForeign reports whether a year is of a calendar that is not known: Islamic and Persian years are around 1400,
// Hebrew years after 5700.
func isForeign(h prefix) bool {
	year := h.long()
	return h.era == 0 && year.width == 4 && (year.value < 1900 || year.value > 2700)
}

// format is how a text is written.
type format struct {
	shape
	senderCount
	order    Order
	calendar calendar
	ordinary map[string]bool // unknown words next to times of a clock of 24 hours
	zone     *time.Location
	now      time.Time
}

// format decides. Its errors are [Ambiguous], and of [bridge.CodeInvalid] and
// [bridge.CodeUnknownDates].
func (s *detection) format() (format, error) {
	var found *shapeCount
	f := format{zone: s.o.Zone, now: s.o.Now}
	for of, seen := range s.shapes {
		if found == nil || seen.lines > found.lines || seen.lines == found.lines && of.form < f.form {
			found, f.shape = seen, of
		}
	}
	switch {
	case found == nil:
		return f, bridge.Invalid("no line begins with a date and a time: this is not the text of an exported chat")
	case 2*found.foreign > found.lines:
		return f, unknownDates("its years are of a calendar that is not known")
	}
	f.senderCount = found.senderCount
	var err error
	if f.ordinary, err = found.words.ordinary(found.lines); err != nil {
		return f, err
	}
	return f, f.decide(found, s.o.Order)
}

func unknownDates(why string) error { return unreadable(why, "the Gregorian calendar") }

func unreadable(why, setting string) error {
	return bridge.Fail(bridge.CodeUnknownDates, "the dates of the export cannot be read: %s. Set the phone to %s, export the chat again and import that", why, setting)
}

// time returns when a message was written. Of an hour that comes twice it is the first.
func (f *format) time(h prefix) (time.Time, bool) {
	day, ok := h.day(f.order, f.calendar)
	if !ok {
		return time.Time{}, false
	}
	at := time.Date(day.Year(), day.Month(), day.Day(), h.marker.on24(h.hour), h.minute, h.second, 0, f.zone)
	for _, earlier := range []time.Duration{2 * time.Hour, time.Hour, 30 * time.Minute} {
		before := at.Add(-earlier)
		if before.Format(time.DateTime) == at.Format(time.DateTime) {
			return before, true
		}
	}
	return at, true
}
