//go:build linux && (amd64 || arm64)

package powercut

import (
	"context"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// node is an entry in the kernel's view. The kernel handles locks.
type node struct {
	fs.Inode
	disk  *Disk
	entry *entry
}

// The kernel requires these interfaces.
var _ interface {
	fs.NodeLookuper
	fs.NodeReaddirer
	fs.NodeCreater
	fs.NodeMkdirer
	fs.NodeUnlinker
	fs.NodeRmdirer
	fs.NodeRenamer
	fs.NodeLinker
	fs.NodeGetattrer
	fs.NodeSetattrer
	fs.NodeOpener
	fs.NodeReader
	fs.NodeWriter
	fs.NodeFsyncer
	fs.NodeStatfser
} = (*node)(nil)

func (e *entry) fileType() uint32 {
	if e.isFolder {
		return syscall.S_IFDIR
	}
	return syscall.S_IFREG
}

func (e *entry) describe(out *fuse.Attr) {
	out.Ino, out.Mode, out.Nlink = e.ino, e.fileType()|e.mode, 1
	out.Size = uint64(len(e.live))
	out.Blocks = (out.Size + 511) / 512
	out.SetTimes(&e.changed, &e.changed, &e.changed)
}

// child returns the kernel's inode of an entry.
func (n *node) child(ctx context.Context, e *entry, out *fuse.EntryOut) *fs.Inode {
	e.describe(&out.Attr)
	return n.NewInode(ctx, &node{disk: n.disk, entry: e}, fs.StableAttr{Mode: e.fileType(), Ino: e.ino})
}

// in runs f on a folder, on runs it on a file.
func (n *node) in(f func() syscall.Errno) syscall.Errno { return n.as(true, syscall.ENOTDIR, f) }
func (n *node) on(f func() syscall.Errno) syscall.Errno { return n.as(false, syscall.EISDIR, f) }

func (n *node) as(folder bool, otherwise syscall.Errno, f func() syscall.Errno) syscall.Errno {
	if n.entry.isFolder != folder { // which never changes
		return otherwise
	}
	return n.disk.do(f)
}

// Lookup finds an entry.
func (n *node) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (found *fs.Inode, errno syscall.Errno) {
	errno = n.in(func() syscall.Errno {
		e, ok := n.entry.liveNames[name]
		if !ok {
			return syscall.ENOENT
		}
		found = n.child(ctx, e, out)
		return 0
	})
	return found, errno
}

// Readdir lists the entries.
func (n *node) Readdir(context.Context) (fs.DirStream, syscall.Errno) {
	var list []fuse.DirEntry
	errno := n.in(func() syscall.Errno {
		for name, e := range n.entry.liveNames {
			list = append(list, fuse.DirEntry{Name: name, Mode: e.fileType(), Ino: e.ino})
		}
		return 0
	})
	return fs.NewListDirStream(list), errno
}

func (n *node) add(ctx context.Context, name string, out *fuse.EntryOut, made func() *entry) (inode *fs.Inode, errno syscall.Errno) {
	errno = n.in(func() syscall.Errno {
		if n.entry.liveNames[name] != nil {
			return syscall.EEXIST
		}
		e := made()
		n.entry.liveNames[name] = e
		inode = n.child(ctx, e, out)
		return 0
	})
	return inode, errno
}

// Create creates a file.
func (n *node) Create(ctx context.Context, name string, _, mode uint32, out *fuse.EntryOut) (made *fs.Inode, handle fs.FileHandle, flags uint32, errno syscall.Errno) {
	made, errno = n.add(ctx, name, out, func() *entry { return n.disk.newEntry(mode, false) })
	return made, nil, n.disk.openFlags(), errno
}

// Mkdir creates a folder.
func (n *node) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return n.add(ctx, name, out, func() *entry { return n.disk.newEntry(mode, true) })
}

// Unlink removes a file.
func (n *node) Unlink(ctx context.Context, name string) syscall.Errno { return n.Rmdir(ctx, name) }

// Rmdir removes an empty folder, or a file.
func (n *node) Rmdir(_ context.Context, name string) syscall.Errno {
	return n.in(func() syscall.Errno {
		if e := n.entry.liveNames[name]; e != nil && len(e.liveNames) > 0 {
			return syscall.ENOTEMPTY
		}
		delete(n.entry.liveNames, name)
		return 0
	})
}

// Rename moves an entry and replaces any entry of the new name.
func (n *node) Rename(_ context.Context, name string, newParent fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	return n.in(func() syscall.Errno {
		from, to := n.entry.liveNames, newParent.(*node).entry
		e := from[name]
		switch {
		case !to.isFolder || flags&^renameNoReplace != 0:
			return syscall.EINVAL
		case e == nil:
			return syscall.ENOENT
		case to.liveNames[newName] != nil && flags&renameNoReplace != 0:
			return syscall.EEXIST
		}
		delete(from, name)
		to.liveNames[newName] = e
		return 0
	})
}

// renameNoReplace is RENAME_NOREPLACE of renameat2(2).
const renameNoReplace = 1

// Link adds a name to a file.
func (n *node) Link(ctx context.Context, target fs.InodeEmbedder, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return n.add(ctx, name, out, func() *entry { return target.(*node).entry })
}

// Getattr answers stat.
func (n *node) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	return n.disk.do(func() syscall.Errno {
		n.entry.describe(&out.Attr)
		return 0
	})
}

// Setattr changes the size, the permissions or the time.
func (n *node) Setattr(_ context.Context, _ fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	return n.disk.do(func() syscall.Errno {
		e := n.entry
		if mode, ok := in.GetMode(); ok && !n.disk.NoModes {
			e.mode = mode & 0o7777
		}
		if at, ok := in.GetMTime(); ok {
			e.changed = at
		}
		if size, ok := in.GetSize(); ok {
			if e.isFolder {
				return syscall.EISDIR
			}
			e.resize(int64(size))
		}
		e.describe(&out.Attr)
		return 0
	})
}

// openFlags says how the kernel treats an open file. It does not map files without its cache.
func (d *Disk) openFlags() uint32 {
	if d.NoSharedMemory {
		return fuse.FOPEN_DIRECT_IO
	}
	return fuse.FOPEN_KEEP_CACHE
}

// Open opens a file. The kernel may cache its pages, since all access goes through
// it.
func (n *node) Open(_ context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, n.disk.openFlags(), n.on(func() syscall.Errno {
		if flags&syscall.O_TRUNC != 0 {
			n.entry.resize(0)
		}
		return 0
	})
}

// Read reads a part of a file.
func (n *node) Read(_ context.Context, _ fs.FileHandle, into []byte, at int64) (fuse.ReadResult, syscall.Errno) {
	var count int
	errno := n.on(func() syscall.Errno {
		count = n.entry.read(into, at)
		return 0
	})
	return fuse.ReadResultData(into[:count]), errno
}

// Write writes a part of a file.
func (n *node) Write(_ context.Context, _ fs.FileHandle, data []byte, at int64) (uint32, syscall.Errno) {
	errno := n.on(func() syscall.Errno {
		n.entry.write(data, at)
		return 0
	})
	if errno != 0 {
		return 0, errno
	}
	return uint32(len(data)), 0
}

// Fsync copies an entry's changes to the disk.
func (n *node) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	return n.disk.do(func() syscall.Errno {
		n.entry.sync()
		return 0
	})
}

// Statfs reports free space.
func (n *node) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	const blocks = 1 << 24 // 64 GiB
	out.Bsize, out.Frsize, out.NameLen = pageSize, pageSize, 255
	out.Blocks, out.Bfree, out.Bavail = blocks, blocks, blocks
	out.Files, out.Ffree = blocks, blocks
	return 0
}
