//go:build !linux && !darwin

package doctor

import "errors"

// mayWrite knows nothing here: the first start finds out.
func mayWrite(string) error { return nil }

func freeBytes(string) (uint64, error) { return 0, errors.ErrUnsupported }
