//go:build !(linux || darwin)

package disk

import "errors"

func freeBytes(string) (free, all int64, err error) { return 0, 0, errors.ErrUnsupported }
