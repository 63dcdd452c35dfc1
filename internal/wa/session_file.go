package wa

import (
	"bridged/internal/dbfile"
	"bridged/internal/wa/session"
)

// SessionFile describes session.db, for the doctor.
func SessionFile() dbfile.Database { return session.File() }
