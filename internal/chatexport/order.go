package chatexport

import (
	"hash/maphash"
	"slices"
	"time"
)

// calendar says what a year of two digits means.
type calendar int8

const (
	gregorian calendar = iota
	buddhist           // 543 years ahead
)

var calendars = [...]calendar{gregorian, buddhist}

// firstYear is that of the app.
const firstYear = 2009

// orderSurvey counts what speaks against an order of dates.
type orderSurvey struct {
	invalid, future, back int
	last                  time.Time
	dates                 maphash.Hash
}

// against weighs what speaks against an order. Phones sort by when a message came: steps backwards
// are frequent. A date that is none, or lies in the future, is of a clock that was wrong, or of a
// message that somebody has copied.
func (s *orderSurvey) against() int { return 8*s.invalid + 4*s.future + s.back }

func (s *orderSurvey) add(h head, order Order, c calendar, now time.Time) {
	day, ok := h.day(order, c)
	switch {
	case !ok || day.Year() < firstYear:
		s.invalid++
		return
	case day.After(now.AddDate(0, 0, 1)):
		s.future++
	case day.Before(s.last):
		s.back++
	}
	s.last = day
	maphash.WriteComparable(&s.dates, day.Unix())
}

// day returns the date in an order, and reports whether there is one.
func (h head) day(order Order, c calendar) (time.Time, bool) {
	at := map[Order][3]int{DMY: {2, 1, 0}, MDY: {2, 0, 1}, YMD: {0, 1, 2}}[order]
	year, width, month, day := h.date[at[0]], h.width[at[0]], h.date[at[1]], h.date[at[2]]
	if h.width[at[1]] > 2 || h.width[at[2]] > 2 || h.era != 0 && order != YMD || width == 3 && (year < 90 || year > 200) {
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

// decide chooses calendar and order: those that least speaks against.
func (f *format) decide(seen *shapeSurvey, wanted Order) error {
	var fits []Order
	var best *orderSurvey
	for _, c := range calendars {
		for i, order := range Orders {
			if wanted != "" && order != wanted {
				continue
			}
			s := &seen.orders[c][i]
			switch {
			case best == nil || s.against() < best.against():
				best, fits, f.calendar, f.order = s, []Order{order}, c, order
			case s.against() == best.against() && c == f.calendar && s.dates.Sum64() != best.dates.Sum64():
				fits = append(fits, order)
			}
		}
	}
	if usual := slices.DeleteFunc(slices.Clone(fits), func(o Order) bool { return !seen.last.isUsual(o) }); len(usual) > 0 {
		f.order, fits = usual[0], usual
	}
	switch {
	case 2*best.invalid > seen.heads && wanted != "":
		return unknownDates("most of them are none in the order " + string(wanted))
	case 2*(best.invalid+best.future) > seen.heads:
		return unknownDates("most of them are none, or lie in the future")
	case len(fits) > 1:
		return &Ambiguous{Orders: fits, Examples: seen.pairs[[2]Order(fits[:2])]}
	}
	return nil
}

// isUsual reports whether there are languages that write dates in an order with the signs of
// this one. It decides only where two orders fit equally well.
func (h head) isUsual(order Order) bool {
	switch h.sign {
	case "/":
		return order != YMD || h.width[0] == 4
	case ".":
		return order == DMY || h.width[0] == 4
	}
	return order != MDY
}
