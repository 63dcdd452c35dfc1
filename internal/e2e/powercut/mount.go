//go:build linux && (amd64 || arm64)

package powercut

import (
	"fmt"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// Mount is a disk that programs see.
type Mount struct{ server *fuse.Server }

// Mount shows the disk at an empty directory: [ErrNoFUSE] where that is not possible.
func (d *Disk) Mount(path string) (*Mount, error) {
	long := time.Hour // nothing changes but through the kernel
	server, err := fs.Mount(path, &node{disk: d, entry: d.root}, &fs.Options{
		MountOptions: fuse.MountOptions{
			Name: "powercut", FsName: "powercut", DirectMount: true, DisableXAttrs: true,
			// The kernel keeps the pages of files that are mapped into memory, as SQLite's
			// index of its log is.
			ExplicitDataCacheControl: true,
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

// Unmount takes the disk away, which nothing may use any more.
func (m *Mount) Unmount() error {
	if err := m.server.Unmount(); err != nil {
		return fmt.Errorf("unmount: %w", err)
	}
	m.server.Wait()
	return nil
}
