package backup

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// archive is a tar file with a copy of a store and the files of imported chats that it needs.
type archive struct {
	made     time.Time
	store    member
	dir      string // of the imported files
	imported []importedFile
}

// importedFile is a file of an imported chat. There may be very many.
type importedFile struct {
	sum   [sha256.Size]byte
	size  int64
	isNew bool // its import was running
}

// newSuffix ends the names of files whose import is running.
const newSuffix = ".new"

// member is a file of an archive.
type member struct {
	name string // in the archive
	path string // on the disk
	size int64
	sum  [sha256.Size]byte
}

// members returns the files in their order.
func (a *archive) members() iter.Seq[member] {
	return func(yield func(member) bool) {
		if !yield(a.store) {
			return
		}
		for _, f := range a.imported {
			name := hex.EncodeToString(f.sum[:])
			m := member{name: path.Join(importedName, name), path: filepath.Join(a.dir, name), size: f.size, sum: f.sum}
			if f.isNew {
				m.path += newSuffix
			}
			if !yield(m) {
				return
			}
		}
	}
}

// newArchive returns the archive of a store's copy. It reads all files. It leaves out files that are
// missing or damaged and counts them, because the messages are worth a backup without them.
func (s Source) newArchive(ctx context.Context, store string, found *Contents) (*archive, error) {
	a := &archive{made: time.Now(), store: member{name: storeName, path: store}, dir: filepath.Join(s.DataDir, importedName)}
	if err := a.store.measure(ctx); err != nil {
		return nil, err
	}
	sums, err := neededFiles(ctx, store)
	if err != nil {
		return nil, err
	}
	for _, sum := range sums {
		switch f, isThere, err := a.find(ctx, sum); {
		case err != nil:
			return nil, err
		case isThere:
			a.imported = append(a.imported, f)
		default:
			found.MissingFiles++
		}
	}
	return a, nil
}

// find looks for the imported file with a hash. It reports false if the file is missing or damaged.
func (a *archive) find(ctx context.Context, sum []byte) (f importedFile, isThere bool, err error) {
	for _, suffix := range []string{"", newSuffix} {
		m := member{path: filepath.Join(a.dir, hex.EncodeToString(sum)+suffix)}
		err := m.measure(ctx)
		switch {
		case err == nil && bytes.Equal(m.sum[:], sum):
			return importedFile{m.sum, m.size, suffix != ""}, true, nil
		case ctx.Err() != nil:
			return importedFile{}, false, ctx.Err()
		case errors.Is(err, fs.ErrPermission):
			return importedFile{}, false, err
		}
	}
	return importedFile{}, false, nil
}

// measure reads the file, and sets its size and hash.
func (m *member) measure(ctx context.Context) error {
	file, err := os.Open(m.path)
	if err != nil {
		return err
	}
	defer file.Close()
	hash := sha256.New()
	if m.size, err = io.Copy(hash, reader{ctx, file}); err != nil {
		return err
	}
	hash.Sum(m.sum[:0])
	return nil
}

// writeTo writes the archive and returns its size. It fails if a file has changed.
func (a *archive) writeTo(ctx context.Context, to io.Writer) (int64, error) {
	counted := &countingWriter{Writer: to}
	w := tar.NewWriter(counted)
	for m := range a.members() {
		if err := m.writeTo(ctx, w, a.made); err != nil {
			return counted.n, err
		}
	}
	err := w.Close()
	return counted.n, err
}

func (m member) writeTo(ctx context.Context, w *tar.Writer, made time.Time) error {
	file, err := os.Open(m.path)
	if errors.Is(err, fs.ErrNotExist) { // the import has ended meanwhile
		file, err = os.Open(strings.TrimSuffix(m.path, newSuffix))
	}
	if err != nil {
		return err
	}
	defer file.Close()
	header := &tar.Header{Typeflag: tar.TypeReg, Name: m.name, Size: m.size, Mode: 0o600, ModTime: made.Truncate(time.Second)}
	if err := w.WriteHeader(header); err != nil {
		return err
	}
	hash := sha256.New()
	if _, err := io.Copy(io.MultiWriter(w, hash), io.LimitReader(reader{ctx, file}, m.size)); err != nil {
		return err
	}
	if !bytes.Equal(hash.Sum(nil), m.sum[:]) {
		return fmt.Errorf("%s changed while it was copied: try again", m.path)
	}
	return nil
}

// check reads an archive and compares its members.
func (a *archive) check(ctx context.Context, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	r := tar.NewReader(reader{ctx, file})
	for m := range a.members() {
		header, err := r.Next()
		if err != nil {
			return err
		}
		hash := sha256.New()
		if _, err := io.Copy(hash, r); err != nil {
			return err
		}
		if header.Name != m.name || !bytes.Equal(hash.Sum(nil), m.sum[:]) {
			return fmt.Errorf("%s differs", m.name)
		}
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		return errors.Join(errors.New("it has more files"), err)
	}
	return nil
}

type countingWriter struct {
	io.Writer
	n int64
}

func (w *countingWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	w.n += int64(n)
	return n, err
}
