//go:build !unix

package dbfile

import (
	"errors"
	"os"
)

// ErrLocked is the error of a lock that another process has. It does not happen here.
var ErrLocked = errors.New("locked")

// Lock does nothing, because there is no flock. The operator must not start two programs on one data
// directory.
func Lock(*os.File) error { return nil }
