package fleet

import "time"

// Limits are how the stream of events is made where there is none.
type Limits struct {
	Replicas   int
	MaxAge     time.Duration // 0 is no limit
	MaxBytes   int64         // 0 is no limit
	Duplicates time.Duration // how long the server remembers ids
}
