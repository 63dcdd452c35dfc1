package files

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"bridged/internal/bridge"
	"bridged/internal/media/disk"
	"bridged/internal/media/probe"
)

// Imported has the files of messages from exported chats, which are nowhere else. They are never
// evicted: each is there until no message has it any more. A file has the name of its hash.
// It is safe for concurrent use.
type Imported struct {
	dir      string
	verified sync.Map // of names, that this process has verified
	adding   sync.RWMutex
}

// newSuffix ends the names of files whose messages may not be stored yet.
const newSuffix = ".new"

// OpenImported opens the files in a directory, which is made with the first of them, and removes what
// an import left that did not end.
func OpenImported(ctx context.Context, dir string, isNeeded func(ctx context.Context, sum []byte) (bool, error)) (*Imported, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open the imported files: %w", err)
	}
	f := &Imported{dir: dir}
	for _, entry := range entries {
		if err := f.settle(ctx, entry.Name(), isNeeded); err != nil {
			return nil, fmt.Errorf("open the imported files: %w", err)
		}
	}
	return f, nil
}

// settle makes a new file permanent if its message is stored, and otherwise removes it.
func (f *Imported) settle(ctx context.Context, name string, isNeeded func(ctx context.Context, sum []byte) (bool, error)) error {
	begin, isNew := strings.CutSuffix(name, newSuffix)
	sum, err := hex.DecodeString(begin)
	switch {
	case strings.HasPrefix(name, partialPrefix):
		return os.Remove(filepath.Join(f.dir, name))
	case !isNew || err != nil || len(sum) != sha256.Size:
		return nil
	}
	needed, err := isNeeded(ctx, sum)
	if err != nil {
		return err
	}
	if needed {
		return f.Settle(sum)
	}
	return os.Remove(filepath.Join(f.dir, name))
}

// Settle makes an added file permanent, once its message is stored.
func (f *Imported) Settle(sum []byte) error {
	if err := os.Rename(f.path(sum)+newSuffix, f.path(sum)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return disk.Failed(err)
	}
	return nil
}

// Adding delays the removal of files until done is called: new files have no message yet.
func (f *Imported) Adding() (done func()) {
	f.adding.RLock()
	return f.adding.RUnlock
}

func (f *Imported) path(sum []byte) string { return filepath.Join(f.dir, hex.EncodeToString(sum)) }

// Add adds a file of a name and a kind, and describes it. Its bytes are on the disk when it
// returns; [Imported.Sync] and then [Imported.Settle] make it last. A file that is shown as something that
// it is not is a document.
func (f *Imported) Add(from io.Reader, name string, kind bridge.MediaType, ptt bool) (m *bridge.Media, err error) {
	file, err := disk.CreateIn(f.dir, partialPrefix+"*")
	if err != nil {
		return nil, disk.Failed(err)
	}
	defer func() {
		if closed := file.Close(); err == nil && closed != nil {
			err = disk.Failed(closed)
		}
		if err != nil {
			_ = os.Remove(file.Name()) // else at the next start
		}
	}()
	sum := sha256.New()
	size, err := io.Copy(io.MultiWriter(disk.Room(nil).Writer(file), sum), from)
	switch {
	case disk.IsWriteError(err):
		return nil, disk.Failed(err)
	case err != nil:
		return nil, err
	}
	m = describeImported(file, name, kind, ptt)
	m.Size, m.FileName = size, bridge.PlainFileName(name)
	m.Ref = bridge.MediaRef{FileSHA256: sum.Sum(nil), IsImported: true}
	if err := errors.Join(file.Sync(), os.Rename(file.Name(), f.path(m.Ref.FileSHA256)+newSuffix)); err != nil {
		return nil, disk.Failed(err)
	}
	return m, nil
}

// Sync makes the names of the files that were added durable.
func (f *Imported) Sync() error {
	dir, err := os.Open(f.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return disk.Failed(err)
	}
	if err := errors.Join(dir.Sync(), dir.Close()); err != nil {
		return disk.Failed(err)
	}
	return nil
}

// describeImported describes a file as its bytes are, of the kind that its name says if these agree.
func describeImported(file *os.File, name string, t bridge.MediaType, ptt bool) *bridge.Media {
	m := &bridge.Media{Type: t, PTT: ptt, MimeType: bridge.UnknownMIMEType}
	k, err := probe.Sniff(file)
	if err != nil {
		return &bridge.Media{Type: bridge.MediaDocument, MimeType: bridge.UnknownMIMEType}
	}
	if m.MimeType = k.TypeAs(t); t == bridge.MediaDocument || m.MimeType == "" {
		m.Type, m.PTT = bridge.MediaDocument, false
		m.MimeType = cmp.Or(probe.DocumentType(k, name, path.Base(name)), bridge.UnknownMIMEType)
		return m
	}
	if t == bridge.MediaImage || t == bridge.MediaSticker {
		head, _ := probe.Guarded(file, probe.ReadPictureHead) // an error leaves the size empty
		m.Width, m.Height = head.Width, head.Height
		m.IsAnimated = t == bridge.MediaSticker && probe.IsAnimated(file, k.MIMEType)
		return m
	}
	if k.Movie != nil {
		m.Width, m.Height = k.Movie.Width, k.Movie.Height
	}
	m.DurationSec = probe.WholeSeconds(k.Seconds(file))
	return m
}

// open opens the imported file of a message. It returns errMissing if the file is gone or damaged.
func (f *Imported) open(m bridge.Message) (*File, error) {
	sum := m.Media.Ref.FileSHA256
	file, err := os.Open(f.path(sum))
	if errors.Is(err, fs.ErrNotExist) {
		file, err = os.Open(f.path(sum) + newSuffix)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errMissing
	case err != nil:
		return nil, bridge.Fail(bridge.CodeStorageUnavailable, "the stored file could not be opened").Because(err)
	}
	info, err := file.Stat()
	if err == nil {
		err = f.verify(file, sum)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	closeOnce := sync.OnceValue(file.Close)
	return &File{File: file, Size: info.Size(), ModTime: m.Timestamp.Time, SHA256: sum, close: closeOnce}, nil
}

// verify reads a file once in the life of the process.
func (f *Imported) verify(file *os.File, sum []byte) error {
	name := string(sum)
	if _, done := f.verified.Load(name); done {
		return nil
	}
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return bridge.Fail(bridge.CodeStorageUnavailable, "the stored file could not be read").Because(err)
	}
	if string(h.Sum(nil)) != name {
		return errMissing
	}
	f.verified.Store(name, nil)
	_, err := file.Seek(0, io.SeekStart)
	return err
}

// Remove removes a file, unless a message has it.
func (f *Imported) Remove(ctx context.Context, sum []byte, isNeeded func(ctx context.Context, sum []byte) (bool, error)) error {
	f.adding.Lock()
	defer f.adding.Unlock()
	needed, err := isNeeded(ctx, sum)
	if err != nil || needed {
		return err
	}
	for _, suffix := range []string{"", newSuffix} {
		if err := os.Remove(f.path(sum) + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove an imported file: %w", err)
		}
	}
	f.verified.Delete(string(sum))
	return nil
}
