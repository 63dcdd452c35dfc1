package media

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"bridged/internal/bridge"
)

// PictureFile is the picture of a person or a group, open for reading.
type PictureFile struct {
	io.ReadSeeker
	MimeType string
	SHA256   []byte
	At       time.Time // when the network sent it
	close    func() error
}

// Close closes the file.
func (f *PictureFile) Close() error { return f.close() }

// keptPicture is what is kept of one: its file, or why there is none.
type keptPicture struct {
	MimeType string      `json:"type,omitempty"`
	Missing  bridge.Code `json:"missing,omitempty"`
	SHA256   []byte      `json:"sha256,omitempty"`
	Size     int64       `json:"size"`
	at       time.Time
	data     []byte
}

// pictureFiles keeps pictures in a directory: one file each, a line about it and
// then its bytes. A file's modification time is when it was kept.
type pictureFiles struct {
	dir string
	max int64
	now func() time.Time

	mu      sync.Mutex // guards the fields below
	byName  map[string]pictureEntry
	total   int64
	changes uint64 // how often something was forgotten
}

type pictureEntry struct {
	size int64 // on the disk
	at   time.Time
}

var pictureName = regexp.MustCompile("^picture-[0-9a-f]{64}$")

func openPictureFiles(dir string, limit int64, now func() time.Time) (*pictureFiles, error) {
	k := &pictureFiles{dir: dir, max: limit, now: now, byName: map[string]pictureEntry{}}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		info, err := file.Info()
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		case pictureName.MatchString(info.Name()):
			k.byName[info.Name()] = pictureEntry{info.Size(), info.ModTime()}
			k.total += info.Size()
		case info.Mode().IsRegular() && filepath.Ext(info.Name()) == ".new":
			if err := os.Remove(filepath.Join(dir, info.Name())); err != nil {
				return nil, err
			}
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k, k.evict()
}

// nameOfPicture returns the name of a file, which does not show the JID: that is a
// phone number.
func nameOfPicture(of bridge.JID, size bridge.PictureSize) string {
	sum := sha256.Sum256([]byte(string(of) + " " + string(size)))
	return "picture-" + hex.EncodeToString(sum[:])
}

// open returns a picture that is kept, nil if nothing is known of it, or the error of
// one of which it is known that there is none.
func (k *pictureFiles) open(of bridge.JID, size bridge.PictureSize) (*PictureFile, error) {
	name := nameOfPicture(of, size)
	k.mu.Lock()
	defer k.mu.Unlock()
	entry, kept := k.byName[name]
	if !kept || k.isOld(entry) {
		return nil, nil
	}
	file, err := os.Open(filepath.Join(k.dir, name))
	if err != nil {
		k.drop(name) // taken away, or not readable: the network is asked again
		return nil, nil
	}
	picture, err := readPicture(file)
	if err != nil || picture.Missing != "" {
		_ = file.Close()
		if err != nil {
			return nil, k.remove(name)
		}
		return nil, missingPicture(picture.Missing)
	}
	start := entry.size - picture.Size
	return &PictureFile{ReadSeeker: io.NewSectionReader(file, start, picture.Size), MimeType: picture.MimeType, SHA256: picture.SHA256, At: entry.at, close: file.Close}, nil
}

func missingPicture(code bridge.Code) error {
	if code == bridge.CodePictureHidden {
		return bridge.Fail(code, "the picture is not shown to this account")
	}
	return bridge.Fail(bridge.CodeNoPicture, "there is no picture")
}

// readPicture reads the line about a picture, and checks that its bytes are all there.
func readPicture(file *os.File) (picture keptPicture, err error) {
	head := make([]byte, 1024)
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return picture, err
	}
	line, _, ended := bytes.Cut(head[:n], []byte("\n"))
	if !ended {
		return picture, errors.New("the file does not begin with a line about the picture")
	}
	if err := json.Unmarshal(line, &picture); err != nil {
		return picture, err
	}
	if info, err := file.Stat(); err != nil || info.Size() != int64(len(line))+1+picture.Size {
		return picture, errors.Join(errors.New("the picture is not whole"), err)
	}
	return picture, nil
}

// generation returns a number that grows with what is forgotten.
func (k *pictureFiles) generation() uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.changes
}

// keep keeps a picture that was asked for while the number was that, unless one has
// changed since.
func (k *pictureFiles) keep(of bridge.JID, size bridge.PictureSize, generation uint64, picture keptPicture) error {
	line, err := json.Marshal(picture)
	if err != nil {
		return err
	}
	name := nameOfPicture(of, size)
	path := filepath.Join(k.dir, name)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.changes != generation {
		return nil
	}
	if err := os.MkdirAll(k.dir, 0o700); err != nil {
		return err
	}
	content := append(append(line, '\n'), picture.data...)
	if err := os.WriteFile(path+".new", content, 0o600); err != nil {
		return errors.Join(err, removeIfThere(path+".new"))
	}
	if err := errors.Join(os.Chtimes(path+".new", picture.at, picture.at), os.Rename(path+".new", path)); err != nil {
		return errors.Join(err, removeIfThere(path+".new"))
	}
	k.drop(name)
	k.byName[name] = pictureEntry{int64(len(content)), picture.at}
	k.total += int64(len(content))
	return k.evict()
}

// forget drops what is kept of somebody's picture.
func (k *pictureFiles) forget(of bridge.JID) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.changes++
	return errors.Join(k.remove(nameOfPicture(of, bridge.PicturePreview)), k.remove(nameOfPicture(of, bridge.PictureFull)))
}

func (k *pictureFiles) isOld(entry pictureEntry) bool { return k.now().Sub(entry.at) >= pictureLife }

// evict removes what is too old, and the oldest as long as there is too much. The
// caller holds mu.
func (k *pictureFiles) evict() error {
	var failed error
	for name, entry := range k.byName {
		if k.isOld(entry) {
			failed = errors.Join(failed, k.remove(name))
		}
	}
	for k.total > k.max && len(k.byName) > 0 || len(k.byName) > maxPictures {
		oldest := ""
		for name, entry := range k.byName {
			if oldest == "" || entry.at.Before(k.byName[oldest].at) {
				oldest = name
			}
		}
		failed = errors.Join(failed, k.remove(oldest))
	}
	return failed
}

// remove removes a picture. The caller holds mu.
func (k *pictureFiles) remove(name string) error {
	k.drop(name)
	return removeIfThere(filepath.Join(k.dir, name))
}

// drop forgets a file without removing it. The caller holds mu.
func (k *pictureFiles) drop(name string) {
	k.total -= k.byName[name].size
	delete(k.byName, name)
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove a picture: %w", err)
	}
	return nil
}
