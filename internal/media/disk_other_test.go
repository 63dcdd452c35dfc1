//go:build !linux

package media

import "testing"

func smallDisk(t *testing.T) (*Cache, *fakeCDN) {
	t.Helper()
	t.Skip("no small disk can be mounted here")
	return nil, nil
}
