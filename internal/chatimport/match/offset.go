package match

import (
	"hash/maphash"
	"time"
	"unicode/utf8"
)

// Offsets determines the time zone's offset of an export from texts that are also stored. It counts only texts that occur once
// in the export and once in the store.
type Offsets struct {
	seed     maphash.Seed
	stored   map[uint64]int64 // minutes by text; repeated for a text of several minutes
	exported map[uint64]wallMinute
}

type wallMinute struct {
	minute int64
	isLong bool
}

const (
	repeated = -1 << 62
	// The offsets of time zones are multiples of a quarter of an hour between these (IANA's tz database).
	leastOffset, mostOffset, offsetStep = -12 * 60, 14 * 60, 15
	// longText is the fewest characters of a text that is enough by itself.
	longText = 12
	// majority is how many times more texts the right offset has than all others.
	majority = 10
)

// NewOffsets returns an empty comparison.
func NewOffsets() *Offsets {
	return &Offsets{seed: maphash.MakeSeed(), stored: make(map[uint64]int64), exported: make(map[uint64]wallMinute)}
}

func (o *Offsets) sum(text string) uint64 { return maphash.String(o.seed, normalise(text)) }

// AddStored adds a stored message. Add all stored messages before the first exported one.
func (o *Offsets) AddStored(text string, at time.Time) {
	if text == "" {
		return
	}
	sum, minute := o.sum(text), at.Unix()/60
	if was, found := o.stored[sum]; found && was != minute {
		minute = repeated
	}
	o.stored[sum] = minute
}

// AddExported adds a message of the export with its wall-clock time, as if the phone's time zone were UTC.
func (o *Offsets) AddExported(text string, wall time.Time) {
	sum := o.sum(text)
	if _, found := o.stored[sum]; text == "" || !found {
		return
	}
	minute := wall.Unix() / 60
	if was, found := o.exported[sum]; found && was.minute != minute {
		minute = repeated
	}
	o.exported[sum] = wallMinute{minute, utf8.RuneCountInString(text) >= longText}
}

// Offset returns the offset from UTC at which the texts match. ok is false if no or too few texts match, or too many match at
// another offset.
func (o *Offsets) Offset() (offset time.Duration, ok bool) {
	votes, isLong := make(map[int64]int), make(map[int64]bool)
	best, all := int64(0), 0
	for sum, wall := range o.exported {
		stored := o.stored[sum]
		by := wall.minute - stored
		if stored == repeated || wall.minute == repeated || by < leastOffset || by > mostOffset || by%offsetStep != 0 {
			continue
		}
		all++
		votes[by]++
		isLong[by] = isLong[by] || wall.isLong
		if votes[by] > votes[best] {
			best = by
		}
	}
	ok = votes[best] > 1 || votes[best] == 1 && isLong[best]
	return time.Duration(best) * time.Minute, ok && (all-votes[best])*majority <= votes[best]
}
