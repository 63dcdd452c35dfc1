//go:build !linux || !(amd64 || arm64)

package powercut

// Mount is a mounted disk, supported on 64-bit Linux only.
type Mount struct{}

// Mount returns [ErrNoFUSE].
func (d *Disk) Mount(string) (*Mount, error) { return nil, ErrNoFUSE }

// Unmount does nothing.
func (m *Mount) Unmount() error { return nil }
