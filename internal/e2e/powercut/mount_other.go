//go:build !linux || !(amd64 || arm64)

package powercut

// Mount is a disk that programs see, which there is on Linux of 64 bits only.
type Mount struct{}

// Mount answers [ErrNoFUSE].
func (d *Disk) Mount(string) (*Mount, error) { return nil, ErrNoFUSE }

// Unmount does nothing.
func (m *Mount) Unmount() error { return nil }
