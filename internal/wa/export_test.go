package wa

import "time"

// SetPatience shortens how long a lost connection counts as connecting, for
// the tests of the whole process.
func SetPatience(d time.Duration) { patience = d }

// BeforeTry has every hand-over of a message to whatsmeow begin with f. It must
// be set while nothing is being sent.
func (m *Manager) BeforeTry(f func()) { m.beforeTry = f }
