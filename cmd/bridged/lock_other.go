//go:build !unix

package main

import "os"

// lockFile does nothing where there is no flock: two programs on one data
// directory are then the operator's to avoid.
func lockFile(*os.File) error { return nil }

// privateFiles does nothing where there is no file mode.
func privateFiles() {}
