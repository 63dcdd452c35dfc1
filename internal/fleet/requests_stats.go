package fleet

import (
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// requestStats counts requests. micro counts them too, but takes them for done
// as soon as they are begun.
type requestStats struct {
	busy atomic.Int64

	mu       sync.Mutex
	answers  map[string]int64 // by class, such as 2xx; guarded by mu
	answered int64            // guarded by mu
	took     time.Duration    // in all; guarded by mu
}

// statsData is shown in the statistics of the endpoint.
type statsData struct {
	Answers   map[string]int64 `json:"answers"` // by class of status
	Refused   int64            `json:"refused"` // because too many were under way
	AverageMS float64          `json:"averageMs"`
}

func (s *requestStats) note(status int, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.answers == nil {
		s.answers = make(map[string]int64)
	}
	s.answers[strconv.Itoa(status/100)+"xx"]++
	s.answered++
	s.took += took
}

func (s *requestStats) read() statsData {
	s.mu.Lock()
	defer s.mu.Unlock()
	data := statsData{Answers: make(map[string]int64, len(s.answers)), Refused: s.busy.Load()}
	for class, n := range s.answers {
		data.Answers[class] = n
	}
	if s.answered > 0 {
		data.AverageMS = float64(s.took.Microseconds()) / 1000 / float64(s.answered)
	}
	return data
}

var version = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+$`)

// semantic returns a version as micro demands it; the true one is in the metadata.
func semantic(v string) string {
	if len(v) > 1 && v[0] == 'v' {
		v = v[1:]
	}
	if version.MatchString(v) {
		return v
	}
	return "0.0.0"
}
