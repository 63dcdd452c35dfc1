package bridge

// Backups is the state of the backups that the bridge makes by itself.
type Backups struct {
	LastAt    *Time   `json:"lastAt"`    // of the newest complete one; nil if none
	LastBytes *int64  `json:"lastBytes"` // its size
	NextAt    Time    `json:"nextAt"`    // when the next one is due, or is tried again
	FailedAt  *Time   `json:"failedAt"`  // of the last try, if it failed; nil otherwise
	Error     *string `json:"error"`     // why it failed, and what to change
}

// BackupState returns the present state of the backups. It is nil if there are none.
type BackupState func() *Backups

// Now returns the present state, or nil.
func (f BackupState) Now() *Backups {
	if f == nil {
		return nil
	}
	return f()
}

// BackupFailure is a night whose backup could not be made.
type BackupFailure struct {
	Error  string `json:"error"`
	LastAt *Time  `json:"lastAt"` // of the newest complete backup; nil if none
}
