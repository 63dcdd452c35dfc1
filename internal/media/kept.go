package media

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
)

// Kept has the files of messages from exported chats, which are nowhere else. They are never
// evicted: each is there until no message has it any more. A file has the name of its hash.
// It is safe for concurrent use.
type Kept struct {
	dir      string
	verified sync.Map // of names, that this process has verified
	adding   sync.RWMutex
}

// newSuffix ends the names of files whose messages may not be stored yet.
const newSuffix = ".new"

// OpenKept opens the files in a directory, which is made with the first of them, and removes what
// an import left that did not end.
func OpenKept(ctx context.Context, dir string, isNeeded func(ctx context.Context, sum []byte) (bool, error)) (*Kept, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open the imported files: %w", err)
	}
	k := &Kept{dir: dir}
	for _, entry := range entries {
		if err := k.settle(ctx, entry.Name(), isNeeded); err != nil {
			return nil, fmt.Errorf("open the imported files: %w", err)
		}
	}
	return k, nil
}

// settle keeps a new file whose message is stored, and removes what no message has.
func (k *Kept) settle(ctx context.Context, name string, isNeeded func(ctx context.Context, sum []byte) (bool, error)) error {
	begin, isNew := strings.CutSuffix(name, newSuffix)
	sum, err := hex.DecodeString(begin)
	switch {
	case strings.HasPrefix(name, partialPrefix):
		return os.Remove(filepath.Join(k.dir, name))
	case !isNew || err != nil || len(sum) != sha256.Size:
		return nil
	}
	needed, err := isNeeded(ctx, sum)
	if err != nil {
		return err
	}
	if needed {
		return k.Settle(sum)
	}
	return os.Remove(filepath.Join(k.dir, name))
}

// Settle keeps a file that was added, once its message is stored.
func (k *Kept) Settle(sum []byte) error {
	if err := os.Rename(k.path(sum)+newSuffix, k.path(sum)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return storageFailed(err)
	}
	return nil
}

// Adding holds off the removal of files until done is called: those that are added meanwhile have
// no message yet.
func (k *Kept) Adding() (done func()) {
	k.adding.RLock()
	return k.adding.RUnlock
}

func (k *Kept) path(sum []byte) string { return filepath.Join(k.dir, hex.EncodeToString(sum)) }

// Add adds a file of a name and a kind, and describes it. Its bytes are on the disk when it
// returns; [Kept.Sync] and then [Kept.Settle] make it last. A file that is shown as something that
// it is not is a document.
func (k *Kept) Add(from io.Reader, name string, kind bridge.MediaType, ptt bool) (m *bridge.Media, err error) {
	file, err := createIn(k.dir, partialPrefix+"*")
	if err != nil {
		return nil, storageFailed(err)
	}
	defer func() {
		if closed := file.Close(); err == nil && closed != nil {
			err = storageFailed(closed)
		}
		if err != nil {
			_ = os.Remove(file.Name()) // else at the next start
		}
	}()
	sum := sha256.New()
	size, err := io.Copy(io.MultiWriter(room(nil).writer(file), sum), from)
	switch {
	case is[*writeError](err):
		return nil, storageFailed(err)
	case err != nil:
		return nil, err
	}
	m = describeKept(file, name, kind, ptt)
	m.Size, m.FileName = size, bridge.PlainFileName(name)
	m.Ref = bridge.MediaRef{FileSHA256: sum.Sum(nil), Kept: true}
	if err := errors.Join(file.Sync(), os.Rename(file.Name(), k.path(m.Ref.FileSHA256)+newSuffix)); err != nil {
		return nil, storageFailed(err)
	}
	return m, nil
}

// Sync makes the names of the files that were added durable.
func (k *Kept) Sync() error {
	dir, err := os.Open(k.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return storageFailed(err)
	}
	if err := errors.Join(dir.Sync(), dir.Close()); err != nil {
		return storageFailed(err)
	}
	return nil
}

// describeKept describes a file as its bytes are, of the kind that its name says if these agree.
func describeKept(file *os.File, name string, t bridge.MediaType, ptt bool) *bridge.Media {
	m := &bridge.Media{Type: t, PTT: ptt, MimeType: unknownType}
	k, err := sniff(file)
	if err != nil {
		return &bridge.Media{Type: bridge.MediaDocument, MimeType: unknownType}
	}
	if m.MimeType = k.family(t); t == bridge.MediaDocument || m.MimeType == "" {
		m.Type, m.PTT = bridge.MediaDocument, false
		m.MimeType = cmp.Or(documentType(k, name, path.Base(name)), unknownType)
		return m
	}
	_, _ = guarded(file, func(r io.ReadSeeker) (seconds float64, err error) { // what cannot be measured stays empty
		switch {
		case t == bridge.MediaImage || t == bridge.MediaSticker:
			var head pictureHead
			head, err = readPictureHead(r)
			m.Width, m.Height = head.Width, head.Height
			m.IsAnimated = t == bridge.MediaSticker && isAnimated(file, k.sniffed)
		case k.movie != nil:
			seconds, m.Width, m.Height = k.movie.seconds, k.movie.width, k.movie.height
		case k.ogg != nil:
			seconds = k.ogg.seconds()
		case k.sniffed == "audio/mpeg":
			seconds, err = mp3Seconds(r)
		}
		m.DurationSec = wholeSeconds(seconds)
		return seconds, err
	})
	return m
}

// open opens the kept file of a message; errMissing where it is gone or damaged.
func (k *Kept) open(m bridge.Message) (*File, error) {
	sum := m.Media.Ref.FileSHA256
	file, err := os.Open(k.path(sum))
	if errors.Is(err, fs.ErrNotExist) {
		file, err = os.Open(k.path(sum) + newSuffix)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errMissing
	case err != nil:
		return nil, bridge.Fail(bridge.CodeStorageUnavailable, "the stored file could not be opened").Because(err)
	}
	info, err := file.Stat()
	if err == nil {
		err = k.verify(file, sum)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	closeOnce := sync.OnceValue(file.Close)
	return &File{File: file, Size: info.Size(), ModTime: m.Timestamp.Time, SHA256: sum, close: closeOnce}, nil
}

// verify reads a file once in the life of the process.
func (k *Kept) verify(file *os.File, sum []byte) error {
	name := string(sum)
	if _, done := k.verified.Load(name); done {
		return nil
	}
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return bridge.Fail(bridge.CodeStorageUnavailable, "the stored file could not be read").Because(err)
	}
	if string(h.Sum(nil)) != name {
		return errMissing
	}
	k.verified.Store(name, nil)
	_, err := file.Seek(0, io.SeekStart)
	return err
}

// Remove removes a file, unless a message has it.
func (k *Kept) Remove(ctx context.Context, sum []byte, isNeeded func(ctx context.Context, sum []byte) (bool, error)) error {
	k.adding.Lock()
	defer k.adding.Unlock()
	needed, err := isNeeded(ctx, sum)
	if err != nil || needed {
		return err
	}
	for _, suffix := range []string{"", newSuffix} {
		if err := os.Remove(k.path(sum) + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove an imported file: %w", err)
		}
	}
	k.verified.Delete(string(sum))
	return nil
}
