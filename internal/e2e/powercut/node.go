//go:build linux && (amd64 || arm64)

package powercut

import (
	"context"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// node is a file or a folder as the kernel knows it. Locks are the kernel's own.
type node struct {
	fs.Inode
	disk  *Disk
	entry entry
}

// The kernel asks for these.
var (
	_ fs.NodeLookuper  = (*node)(nil)
	_ fs.NodeReaddirer = (*node)(nil)
	_ fs.NodeCreater   = (*node)(nil)
	_ fs.NodeMkdirer   = (*node)(nil)
	_ fs.NodeUnlinker  = (*node)(nil)
	_ fs.NodeRmdirer   = (*node)(nil)
	_ fs.NodeRenamer   = (*node)(nil)
	_ fs.NodeLinker    = (*node)(nil)
	_ fs.NodeGetattrer = (*node)(nil)
	_ fs.NodeSetattrer = (*node)(nil)
	_ fs.NodeOpener    = (*node)(nil)
	_ fs.NodeReader    = (*node)(nil)
	_ fs.NodeWriter    = (*node)(nil)
	_ fs.NodeFsyncer   = (*node)(nil)
	_ fs.NodeStatfser  = (*node)(nil)
)

// typeOf returns the kind of an entry as file modes have it.
func typeOf(e entry) uint32 {
	if _, is := e.(*folder); is {
		return syscall.S_IFDIR
	}
	return syscall.S_IFREG
}

// describe fills in what stat shows.
func describe(e entry, out *fuse.Attr) {
	a := e.about()
	out.Ino, out.Mode, out.Nlink = a.ino, typeOf(e)|a.mode, 1
	if f, is := e.(*file); is {
		out.Size = uint64(len(f.live))
		out.Blocks = (out.Size + 511) / 512
	}
	out.SetTimes(&a.changed, &a.changed, &a.changed)
}

// child returns an entry as the kernel is to know it.
func (n *node) child(ctx context.Context, e entry, out *fuse.EntryOut) *fs.Inode {
	describe(e, &out.Attr)
	return n.NewInode(ctx, &node{disk: n.disk, entry: e}, fs.StableAttr{Mode: typeOf(e), Ino: e.about().ino})
}

// as runs f on the file or the folder that n is, and fails where n is the other.
func as[E entry](n *node, otherwise syscall.Errno, f func(E) syscall.Errno) syscall.Errno {
	return n.disk.do(func() syscall.Errno {
		e, is := n.entry.(E)
		if !is {
			return otherwise
		}
		return f(e)
	})
}

func (n *node) in(f func(*folder) syscall.Errno) syscall.Errno { return as(n, syscall.ENOTDIR, f) }
func (n *node) on(f func(*file) syscall.Errno) syscall.Errno   { return as(n, syscall.EISDIR, f) }

// Lookup finds an entry.
func (n *node) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (found *fs.Inode, errno syscall.Errno) {
	errno = n.in(func(dir *folder) syscall.Errno {
		e, ok := dir.live[name]
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
	errno := n.in(func(dir *folder) syscall.Errno {
		for name, e := range dir.live {
			list = append(list, fuse.DirEntry{Name: name, Mode: typeOf(e), Ino: e.about().ino})
		}
		return 0
	})
	return fs.NewListDirStream(list), errno
}

// add makes an entry of a folder.
func (n *node) add(ctx context.Context, name string, out *fuse.EntryOut, made func() entry) (inode *fs.Inode, errno syscall.Errno) {
	errno = n.in(func(dir *folder) syscall.Errno {
		if _, is := dir.live[name]; is {
			return syscall.EEXIST
		}
		dir.live[name] = made()
		inode = n.child(ctx, dir.live[name], out)
		return 0
	})
	return inode, errno
}

// Create makes a file.
func (n *node) Create(ctx context.Context, name string, _, mode uint32, out *fuse.EntryOut) (made *fs.Inode, handle fs.FileHandle, flags uint32, errno syscall.Errno) {
	made, errno = n.add(ctx, name, out, func() entry { return n.disk.newFile(mode) })
	return made, nil, fuse.FOPEN_KEEP_CACHE, errno
}

// Mkdir makes a folder.
func (n *node) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return n.add(ctx, name, out, func() entry { return n.disk.newFolder(mode) })
}

// Unlink removes a file.
func (n *node) Unlink(ctx context.Context, name string) syscall.Errno { return n.Rmdir(ctx, name) }

// Rmdir removes an empty folder, or a file.
func (n *node) Rmdir(_ context.Context, name string) syscall.Errno {
	return n.in(func(dir *folder) syscall.Errno {
		if sub, is := dir.live[name].(*folder); is && len(sub.live) > 0 {
			return syscall.ENOTEMPTY
		}
		delete(dir.live, name)
		return 0
	})
}

// Rename moves an entry, and replaces what has its new name.
func (n *node) Rename(_ context.Context, name string, newParent fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	return n.in(func(dir *folder) syscall.Errno {
		to, is := newParent.(*node).entry.(*folder)
		e, found := dir.live[name]
		switch {
		case !is || flags&^renameNoReplace != 0:
			return syscall.EINVAL
		case !found:
			return syscall.ENOENT
		}
		if _, taken := to.live[newName]; taken && flags&renameNoReplace != 0 {
			return syscall.EEXIST
		}
		delete(dir.live, name)
		to.live[newName] = e
		return 0
	})
}

// renameNoReplace is RENAME_NOREPLACE of renameat2(2).
const renameNoReplace = 1

// Link gives a file one more name.
func (n *node) Link(ctx context.Context, target fs.InodeEmbedder, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return n.add(ctx, name, out, func() entry { return target.(*node).entry })
}

// Getattr answers stat.
func (n *node) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	return n.disk.do(func() syscall.Errno {
		describe(n.entry, &out.Attr)
		return 0
	})
}

// Setattr changes the size, the permissions or the time.
func (n *node) Setattr(_ context.Context, _ fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	return n.disk.do(func() syscall.Errno {
		a := n.entry.about()
		if mode, ok := in.GetMode(); ok {
			a.mode = mode & 0o7777
		}
		if at, ok := in.GetMTime(); ok {
			a.changed = at
		}
		if size, ok := in.GetSize(); ok {
			f, is := n.entry.(*file)
			if !is {
				return syscall.EISDIR
			}
			f.resize(int64(size))
			f.changed = time.Now()
		}
		describe(n.entry, &out.Attr)
		return 0
	})
}

// Open opens a file. Its pages stay in the kernel: it has the only way to them.
func (n *node) Open(_ context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, fuse.FOPEN_KEEP_CACHE, n.on(func(f *file) syscall.Errno {
		if flags&syscall.O_TRUNC != 0 {
			f.resize(0)
		}
		return 0
	})
}

// Read reads a part of a file.
func (n *node) Read(_ context.Context, _ fs.FileHandle, into []byte, at int64) (fuse.ReadResult, syscall.Errno) {
	var count int
	errno := n.on(func(f *file) syscall.Errno {
		count = f.read(into, at)
		return 0
	})
	return fuse.ReadResultData(into[:count]), errno
}

// Write writes a part of a file.
func (n *node) Write(_ context.Context, _ fs.FileHandle, data []byte, at int64) (uint32, syscall.Errno) {
	errno := n.on(func(f *file) syscall.Errno {
		f.write(data, at)
		f.changed = time.Now()
		return 0
	})
	if errno != 0 {
		return 0, errno
	}
	return uint32(len(data)), 0
}

// Fsync brings a file or a folder onto the disk.
func (n *node) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	return n.disk.do(func() syscall.Errno {
		n.entry.sync()
		return 0
	})
}

// Statfs answers that there is room.
func (n *node) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	const blocks = 1 << 24 // 64 GiB
	out.Bsize, out.Frsize, out.NameLen = pageSize, pageSize, 255
	out.Blocks, out.Bfree, out.Bavail = blocks, blocks, blocks
	out.Files, out.Ffree = blocks, blocks
	return 0
}
