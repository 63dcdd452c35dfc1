package wa

import "time"

// SetPatience shortens how long a lost connection counts as connecting, for
// the tests of the whole process.
func SetPatience(d time.Duration) { patience = d }
