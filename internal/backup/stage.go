package backup

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"bridged/internal/dbfile"
)

// stage is a directory in which a backup is unpacked and checked, on the disk of the data directory.
type stage struct {
	dir  string
	name string // of the backup, for errors
}

func (s stage) store() string { return filepath.Join(s.dir, storeName) }

func (s stage) imported() string { return filepath.Join(s.dir, importedName) }

// otherFormats are the beginnings of files that a backup was probably packed into.
var otherFormats = map[string]string{
	"\x1f\x8b":               "is compressed with gzip: unpack it, as in: gzip -dc FILE | bridged restore -",
	"\x28\xb5\x2f\xfd":       "is compressed with zstd: unpack it, as in: zstd -dc FILE | bridged restore -",
	"\xfd7zXZ":               "is compressed with xz: unpack it, as in: xz -dc FILE | bridged restore -",
	"age-encryption.org/v1":  "is encrypted with age: decrypt it, as in: age -d -i KEY FILE | bridged restore -",
	"-----BEGIN AGE ENCRYPT": "is encrypted with age: decrypt it, as in: age -d -i KEY FILE | bridged restore -",
	"-----BEGIN PGP MESSAGE": "is encrypted with PGP: decrypt it, as in: gpg -d FILE | bridged restore -",
}

const storeMagic = "SQLite format 3\x00"

// unpack reads a backup of either format.
func (s stage) unpack(ctx context.Context, from io.Reader) error {
	buffered := bufio.NewReaderSize(reader{ctx, from}, 64<<10)
	begin, err := buffered.Peek(512)
	switch {
	case len(begin) == 0 && errors.Is(err, io.EOF):
		return fmt.Errorf("%s is empty", s.name)
	case err != nil && !errors.Is(err, io.EOF):
		return fmt.Errorf("read %s: %w", s.name, err)
	case bytes.HasPrefix(begin, []byte(storeMagic)):
		_, err := s.write(s.store(), buffered)
		return err
	}
	for prefix, sentence := range otherFormats {
		if bytes.HasPrefix(begin, []byte(prefix)) {
			return fmt.Errorf("%s %s", s.name, sentence)
		}
	}
	return s.unpackArchive(buffered)
}

// write writes a file and returns the hash of its bytes.
func (s stage) write(path string, from io.Reader) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	hash := sha256.New()
	source := &failingReader{Reader: from}
	_, err = io.Copy(io.MultiWriter(file, hash), source)
	switch {
	case errors.Is(source.err, io.ErrUnexpectedEOF):
		err = s.incomplete()
	case source.err != nil:
		err = fmt.Errorf("read %s: %w", s.name, source.err)
	case err == nil:
		err = file.Sync()
	}
	return hash.Sum(nil), noSpace(path, errors.Join(err, file.Close()))
}

func (s stage) incomplete() error {
	return fmt.Errorf("%s is incomplete: it ends too early, so copy it again or choose another backup", s.name)
}

// failingReader remembers why reading failed.
type failingReader struct {
	io.Reader
	err error
}

func (r *failingReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

// unpackArchive unpacks a tar file with a store and imported files, and compares these with their hashes.
func (s stage) unpackArchive(from io.Reader) error {
	if err := os.Mkdir(s.imported(), 0o700); err != nil {
		return err
	}
	tail := &tailReader{Reader: from}
	archived := tar.NewReader(tail)
	for n := 0; ; n++ {
		header, err := archived.Next()
		switch {
		case errors.Is(err, io.EOF) && n > 0 && tail.isEnd():
			return errors.Join(dbfile.SyncDir(s.imported()), dbfile.SyncDir(s.dir))
		case n == 0 && (err != nil || header.Name != storeName):
			return fmt.Errorf("%s is not a backup of bridged: choose a file that was made with bridged backup", s.name)
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return s.incomplete()
		case err != nil:
			return fmt.Errorf("%s is damaged: choose another backup: %w", s.name, err)
		}
		if err := s.unpackMember(archived, header, n); err != nil {
			return err
		}
	}
}

// unpackMember unpacks the nth file of an archive. Its name cannot lead out of the directory.
func (s stage) unpackMember(from io.Reader, header *tar.Header, n int) error {
	if header.Typeflag != tar.TypeReg {
		return fmt.Errorf("%s is not a backup of bridged: %q in it is not a file", s.name, header.Name)
	}
	if n == 0 {
		_, err := s.write(s.store(), from)
		return err
	}
	name, isImported := strings.CutPrefix(header.Name, importedName+"/")
	sum, err := hex.DecodeString(name)
	if !isImported || err != nil || len(sum) != sha256.Size || path.Base(name) != hex.EncodeToString(sum) {
		return fmt.Errorf("%s is not a backup of bridged: it has a file %q", s.name, header.Name)
	}
	got, err := s.write(filepath.Join(s.imported(), name), from)
	switch {
	case err != nil:
		return err
	case !bytes.Equal(got, sum):
		return fmt.Errorf("%s is damaged: the imported file %s in it has other bytes; choose another backup", s.name, name)
	}
	return nil
}

// tarEnd is how many zero bytes end a tar file.
const tarEnd = 1024

// tailReader retains the last bytes, because package tar accepts a file without its end.
type tailReader struct {
	io.Reader
	tail []byte
}

func (r *tailReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.tail = append(r.tail, p[max(0, n-tarEnd):n]...)
	r.tail = append(r.tail[:0], r.tail[max(0, len(r.tail)-tarEnd):]...)
	return n, err
}

func (r *tailReader) isEnd() bool {
	return len(r.tail) == tarEnd && bytes.Count(r.tail, []byte{0}) == tarEnd
}
