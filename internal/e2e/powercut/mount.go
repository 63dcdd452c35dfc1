//go:build linux && (amd64 || arm64)

package powercut

import (
	"fmt"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// Mount is a mounted disk.
type Mount struct{ server *fuse.Server }

// Mount mounts the disk at an empty directory, or returns [ErrNoFUSE] if that is
// not possible.
func (d *Disk) Mount(path string) (*Mount, error) {
	long := time.Hour // the kernel sees all changes
	server, err := fs.Mount(path, &node{disk: d, entry: d.root}, &fs.Options{
		MountOptions: fuse.MountOptions{
			Name: "powercut", FsName: "powercut", DirectMount: true, DisableXAttrs: true,
			// The kernel caches the pages of mapped files, such as SQLite's index of its log.
			ExplicitDataCacheControl: true,
			EnableLocks:              d.NoLocks, // otherwise the kernel implements locks
		},
		EntryTimeout: &long, AttrTimeout: &long,
		RootStableAttr:  &fs.StableAttr{Ino: d.root.ino},
		NullPermissions: true,
	})
	if err != nil {
		return nil, fmt.Errorf("%w (%v)", ErrNoFUSE, err)
	}
	return &Mount{server}, nil
}

// Unmount unmounts the disk. Its files must not be in use.
func (m *Mount) Unmount() error {
	if err := m.server.Unmount(); err != nil {
		return fmt.Errorf("unmount: %w", err)
	}
	m.server.Wait()
	return nil
}
