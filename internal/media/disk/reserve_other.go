//go:build !(linux || darwin)

package disk

import "errors"

// Free is not supported on this system.
func Free(string) (free, all int64, err error) { return 0, 0, errors.ErrUnsupported }
