package chatexport

import (
	"hash/maphash"
	"slices"
	"time"

	"bridged/internal/bridge"
)

// calendar is the meaning of a year of two digits.
type calendar int8

const (
	gregorian calendar = iota
	buddhist           // 543 years ahead
)

var calendars = [...]calendar{gregorian, buddhist}

// firstYear is the year of the app's first release.
const firstYear = 2009

// orderScore counts what speaks against an order of dates.
type orderScore struct {
	none   int // dates that there are not
	future int // within a year
	far    int // before the app, or years ahead
	back   int // steps backwards between people's messages
	last   time.Time
	dates  maphash.Hash
}

// against weighs what speaks against an order. The app writes no date that there is not, but
// messages come late, and clocks are wrong.
func (s *orderScore) implausibility() int { return 8*s.none + s.future + s.far + s.back }

// isAsGoodAs reports whether an order fits as well as the best one. If a clock was wrong by years, one
// line more decides nothing.
func (s *orderScore) isAsGoodAs(best *orderScore) bool {
	return s.implausibility() <= best.implausibility()+min(1, s.far+best.far)
}

// odd counts the dates that can hardly be meant.
func (s *orderScore) odd() int { return s.none + s.future + s.far }

// add reads a date. The step to it counts where isNext: from one message to the next.
func (s *orderScore) add(h prefix, order Order, c calendar, now time.Time, isNext bool) {
	day, ok := h.day(order, c)
	if !ok {
		s.none++
		return
	}
	maphash.WriteComparable(&s.dates, day.Unix())
	switch {
	case day.Year() < firstYear || day.After(now.AddDate(1, 0, 0)):
		s.far++
	case isFuture(day, now):
		s.future++
	case isNext:
		if day.Before(s.last) {
			s.back++
		}
		s.last = day
	}
}

// isFuture reports whether a time is later than now in all zones.
func isFuture(at, now time.Time) bool { return at.After(now.AddDate(0, 0, 1)) }

// day returns the date in an order, and reports whether there is one.
func (h prefix) day(order Order, c calendar) (time.Time, bool) {
	at := map[Order][3]int{DMY: {2, 1, 0}, MDY: {2, 0, 1}, YMD: {0, 1, 2}}[order]
	year, width, month, day := h.date[at[0]], h.width[at[0]], h.date[at[1]], h.date[at[2]]
	if h.width[at[1]] > 2 || h.width[at[2]] > 2 || h.named && order != DMY || (h.era != 0 && !h.eraLast || h.sign == "年" || h.sign == "년") && order != YMD || h.eraLast && order == YMD || width == 3 && (year < 90 || year > 200) {
		return time.Time{}, false
	}
	switch {
	case h.era != 0:
		year += h.era
	case width == 3: // of the Republic of China
		year += 1911
	case width == 4 && year > 2400:
		year -= 543
	case width <= 2 && c == buddhist:
		year += 2500 - 543
	case width <= 2:
		year += 2000
	}
	date := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if width == 1 && h.era == 0 || date.Month() != time.Month(month) || date.Day() != day {
		return time.Time{}, false
	}
	return date, true
}

// decide chooses calendar and order.
func (f *format) decide(seen *shapeCount, wanted Order) error {
	found := seen.choose(wanted)
	f.order, f.calendar = found.orders[0], found.calendar
	if wanted != "" {
		if other := seen.choose(""); seen.fitsBetter(other, found, wanted) {
			return bridge.Fail(bridge.CodeUnknownDates, "most dates of the export make no sense in the order %s: choose %s, or leave the order to be found out", wanted, bridge.Join(other.orders, " or "))
		}
	}
	switch {
	case 2*found.odd() > seen.lines:
		return unknownDates("most of them do not exist, or are far from today")
	case len(found.orders) > 1:
		return &Ambiguous{Orders: found.orders, Examples: seen.examples(found.orders[0], found.orders[1], found.calendar)}
	}
	return nil
}

// fitsBetter reports whether another reading makes sense of dates that hardly make any in the order
// that is wanted: of an unusual one they must not be more than twice as many.
func (s *shapeCount) fitsBetter(other, found reading, wanted Order) bool {
	return 2*other.odd() <= s.lines && 2*found.odd() > s.lines || !s.isUsual(wanted) && 2*other.odd()+1 < found.odd()
}

// reading is a way to read the dates of a shape: all of its orders fit equally well.
type reading struct {
	calendar calendar
	orders   []Order
	*orderScore
}

// choose returns the reading that least speaks against. No language writes an unusual order, so
// more than a clock that was wrong has to speak for one; and unless it makes nonsense of most
// dates, the usual one is left to choose, too.
func (s *shapeCount) choose(wanted Order) reading {
	if wanted != "" {
		return s.best(func(o Order) bool { return o == wanted })
	}
	usual, other := s.best(s.isUsual), s.best(func(o Order) bool { return !s.isUsual(o) })
	switch {
	case usual.orders == nil:
		return other
	case other.orders == nil || usual.none == 0 && usual.odd() <= other.odd()+1:
		return usual
	case 2*usual.odd() > s.lines && 2*other.odd() <= s.lines:
		return other
	case usual.odd() > other.odd()+1:
		usual.orders = append(usual.orders, other.orders...)
		slices.SortFunc(usual.orders, func(a, b Order) int { return slices.Index(Orders, a) - slices.Index(Orders, b) })
	}
	return usual
}

// best returns the most plausible reading among some orders. It has no orders if there are none.
func (s *shapeCount) best(among func(Order) bool) (found reading) {
	for _, c := range calendars {
		for i, order := range Orders {
			if seen := &s.orders[c][i]; among(order) && (found.orderScore == nil || seen.implausibility() < found.implausibility()) {
				found = reading{c, nil, seen}
			}
		}
	}
	dates := make(map[uint64]bool)
	for i, order := range Orders {
		seen := &s.orders[found.calendar][i]
		if among(order) && seen.isAsGoodAs(found.orderScore) && !dates[seen.dates.Sum64()] {
			dates[seen.dates.Sum64()] = true
			found.orders = append(found.orders, order)
		}
	}
	return found
}

// isUsual reports whether there are languages that write an order with the signs of most dates.
func (s *shapeCount) isUsual(order Order) bool {
	return 2*s.usual[order] >= s.lines-s.foreign
}

// isUsual reports whether there are languages that write dates in an order with the signs of
// this one.
func (h prefix) isUsual(order Order) bool {
	switch {
	case h.eraLast:
		return order != YMD
	case h.width[0] > 2 || h.sign == "年" || h.sign == "년":
		return order == YMD
	case h.sign == "/":
		return order != YMD
	case h.sign == ".":
		return order == DMY || order == YMD && h.dotted
	}
	return order != MDY
}
