package chatexport

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"bridged/internal/bridge"
)

// Limits bounds the sizes of an archive's files, in bytes.
type Limits struct {
	File int64 // each file
	Sum  int64 // all of them
}

const (
	// MaxEntries and MaxText bound the number of entries, and the bytes of the chat's text.
	MaxEntries = 10_000
	MaxText    = 200 << 20
	// maxDirectory bounds the bytes that are read to open an archive. It allows MaxEntries entries with
	// the longest names that the apps use.
	maxDirectory = MaxEntries * 512
)

// Archive is an export: a zip, or the text alone.
type Archive struct {
	text     func() (io.ReadCloser, error)
	textName string               // in a zip
	files    map[string]*zip.File // by their names, composed
	inner    []string             // archives among them
	chats    []string             // texts among them that begin as other chats

	format format
}

// Open opens an export. The reader must stay open while the archive is used. An error
// ([bridge.CodeInvalid] or [bridge.CodePayloadTooLarge]) refuses the whole archive: one harmful entry
// is enough.
func Open(r io.ReaderAt, size int64, l Limits) (*Archive, error) {
	isZip, err := beginsAsZip(r)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the export: %w", err)
	case !isZip && size > MaxText:
		return nil, tooLarge("the text has more than %d MiB", MaxText>>20)
	case !isZip:
		return &Archive{text: func() (io.ReadCloser, error) { return io.NopCloser(io.NewSectionReader(r, 0, size)), nil }}, nil
	}
	if err := checkDirectory(r, size); err != nil {
		return nil, err
	}
	bounded := &boundedReader{from: r, rest: maxDirectory}
	unpacked, err := zip.NewReader(bounded, size)
	if err != nil {
		return nil, damaged(err)
	}
	bounded.isOpen = true
	a := &Archive{files: make(map[string]*zip.File)}
	if err := a.addEntries(unpacked.File, l); err != nil {
		return nil, err
	}
	if err := a.findText(unpacked.File); err != nil {
		return nil, err
	}
	for name, entry := range a.files {
		if entry.UncompressedSize64 > uint64(max(l.File, 0)) {
			return nil, tooLarge("%s is larger than the %d bytes that MEDIA_MAX_BYTES allows", quoted(name), l.File)
		}
	}
	return a, nil
}

func refused(format string, args ...any) error {
	return bridge.Invalid("the archive is refused: "+format, args...)
}

func damaged(cause error) error {
	return bridge.Invalid("the archive is damaged; export the chat again").Because(cause)
}

func tooLarge(format string, args ...any) error {
	return bridge.Fail(bridge.CodePayloadTooLarge, "the archive is refused: "+format, args...)
}

var errDirectory = errors.New("the directory of the archive is too large")

// boundedReader bounds the bytes that are read to open an archive: a directory may claim few entries
// and have millions.
type boundedReader struct {
	from   io.ReaderAt
	rest   int64
	isOpen bool
}

func (r *boundedReader) ReadAt(p []byte, at int64) (int, error) {
	if !r.isOpen {
		if r.rest -= int64(len(p)); r.rest < 0 {
			return 0, errDirectory
		}
	}
	return r.from.ReadAt(p, at)
}

func beginsAsZip(r io.ReaderAt) (bool, error) {
	var begin [4]byte
	if _, err := r.ReadAt(begin[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return string(begin[:2]) == "PK" && begin[2] < 9 && begin[3] < 9, nil
}

// checkDirectory refuses an archive that claims too many entries, before memory is allocated for them
// (APPNOTE.TXT, 4.3.14 to 4.3.16).
func checkDirectory(r io.ReaderAt, size int64) error {
	tail := make([]byte, min(size, 22+1<<16))
	if _, err := r.ReadAt(tail, size-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the export: %w", err)
	}
	i := bytes.LastIndex(tail, []byte("PK\x05\x06"))
	if i < 0 || len(tail)-i < 22 {
		return damaged(errors.New("it has no directory"))
	}
	entries := uint64(binary.LittleEndian.Uint16(tail[i+10:]))
	if i >= 20 && bytes.HasPrefix(tail[i-20:], []byte("PK\x06\x07")) { // another end may count instead, for large archives
		var count [8]byte
		at := binary.LittleEndian.Uint64(tail[i-20+8:])
		if at > uint64(size) {
			return damaged(errors.New("its directory is outside"))
		}
		if _, err := r.ReadAt(count[:], int64(at)+32); err != nil {
			return damaged(err)
		}
		if large := binary.LittleEndian.Uint64(count[:]); entries == 1<<16-1 || large > MaxEntries {
			entries = large
		}
	}
	if entries > MaxEntries {
		return tooManyEntries()
	}
	return nil
}

func tooManyEntries() error { return tooLarge("it has more than %d entries", MaxEntries) }

// take checks all entries, and remembers the files.
func (a *Archive) addEntries(entries []*zip.File, l Limits) error {
	if len(entries) > MaxEntries {
		return tooManyEntries()
	}
	rest, seen := uint64(max(0, l.Sum)), make(map[string]bool, len(entries))
	for _, entry := range entries {
		if err := checkEntry(entry); err != nil {
			return err
		}
		name := strings.ToLower(composed(entry.Name))
		if seen[name] {
			return refused("it has two entries of the name %s", quoted(entry.Name))
		}
		seen[name] = true
		size := entry.UncompressedSize64
		if size > rest {
			return tooLarge("its files have more than the %d bytes that IMPORT_MAX_BYTES allows", l.Sum)
		}
		rest -= size
		if entry.FileInfo().IsDir() || isMacMetadata(entry.Name) {
			continue
		}
		if name = composed(path.Base(entry.Name)); a.files[name] != nil {
			return refused("it has two files of the name %s", quoted(name))
		}
		a.files[name] = entry
		if isArchive(name) {
			a.inner = append(a.inner, name)
		}
	}
	return checkOverlap(entries)
}

// checkEntry refuses an entry that is more than a plain file or a folder.
func checkEntry(entry *zip.File) error {
	name := entry.Name
	mode := entry.Mode()
	switch {
	case entry.Flags&(1<<0|1<<6|1<<13) != 0 || entry.Method == 99:
		return refused("%s is encrypted", quoted(name))
	case mode&fs.ModeType != 0 && !mode.IsDir():
		return refused("%s is a link or a device, and no file", quoted(name))
	case entry.Method != zip.Store && entry.Method != zip.Deflate:
		return refused("%s is packed in a way that the apps do not use", quoted(name))
	}
	return checkName(name)
}

// checkName refuses the name of an entry outside the archive's top directory.
func checkName(name string) error {
	switch {
	case !utf8.ValidString(name):
		return refused("the name %s is not UTF-8: import the file that the phone has made, not one that was packed again", quoted(name))
	case strings.ContainsFunc(name, unicode.IsControl):
		return refused("the name %s has characters that cannot be shown", quoted(name))
	case len(name) > 1024:
		return refused("the name %s is too long", quoted(name))
	case strings.Contains(name, "\\"), len(name) > 1 && name[1] == ':':
		return refused("the name %s leads out of it", quoted(name))
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(name, "/"), "/") {
		if part == "" || part == "." || part == ".." {
			return refused("the name %s leads out of it", quoted(name))
		}
	}
	return nil
}

// checkOverlap refuses entries that share bytes: a small archive would unpack to a huge one.
func checkOverlap(entries []*zip.File) error {
	type extent struct{ from, to int64 }
	extents := make([]extent, 0, len(entries))
	for _, entry := range entries {
		from, err := entry.DataOffset()
		if err != nil {
			return damaged(err)
		}
		// Before the data is the local header, of 30 bytes and the name at least.
		extents = append(extents, extent{from - 30 - int64(len(entry.Name)), from + int64(entry.CompressedSize64)})
		if last := extents[len(extents)-1]; last.to < last.from {
			return damaged(errors.New("a size is negative"))
		}
	}
	slices.SortFunc(extents, func(a, b extent) int { return cmp.Compare(a.from, b.from) })
	for i := 1; i < len(extents); i++ {
		if extents[i].from < extents[i-1].to {
			return refused("its entries share bytes with each other")
		}
	}
	return nil
}

// composed returns a name in the form for look-ups: iPhones decompose names in the archive, but not in
// the text.
func composed(name string) string { return norm.NFC.String(name) }

// isMacMetadata reports whether macOS added an entry when a person packed the files again.
func isMacMetadata(name string) bool {
	return strings.HasPrefix(name, "__MACOSX/") || path.Base(name) == ".DS_Store"
}

// shown returns a name for an error.
func quoted(name string) string {
	name = strings.ToValidUTF8(name, "?")
	if len(name) > 80 {
		name = strings.ToValidUTF8(name[:80], "") + "…"
	}
	return fmt.Sprintf("%q", name)
}

// open reads an entry, never beyond the size that it claims.
func open(entry *zip.File) (io.ReadCloser, error) {
	from, err := entry.Open()
	if err != nil {
		return nil, damaged(err)
	}
	return &entryReader{from, int64(entry.UncompressedSize64)}, nil
}

type entryReader struct {
	io.ReadCloser
	rest int64
}

func (r *entryReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if r.rest -= int64(n); r.rest < 0 {
		return 0, damaged(errors.New("an entry is larger than it says"))
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = damaged(err)
	}
	return n, err
}

// DetectFormat finds out from the whole text how it is written. Its errors are [Ambiguous], and of
// [bridge.CodeInvalid] and [bridge.CodeUnknownDates].
func (a *Archive) DetectFormat(o Options) error {
	text, err := a.text()
	if err != nil {
		return err
	}
	defer text.Close()
	s, err := detect(text, o)
	if err == nil {
		err = s.encoding.check()
	}
	if err != nil {
		return err
	}
	a.format, err = s.format()
	return err
}

// SetZone sets the zone of the phone, after [Archive.DetectFormat].
func (a *Archive) SetZone(zone *time.Location) { a.format.zone = zone }

// TextName returns the name of the text in the archive; empty for a text alone.
func (a *Archive) TextName() string { return a.textName }

// Messages reads the messages in the order of the text. Call [Archive.DetectFormat] first. The notes are
// complete after the last message. An export without messages is an error of [bridge.CodeInvalid].
func (a *Archive) Messages(notes *Notes) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		text, err := a.text()
		if err != nil {
			yield(Message{}, err)
			return
		}
		defer text.Close()
		none := true
		for m, err := range a.format.messages(text, a.Has, notes) {
			none = false
			if !yield(m, err) {
				return
			}
		}
		if none {
			yield(Message{}, bridge.Invalid("the export has no messages, only notices of the app"))
		}
	}
}

// Has reports whether there is a file of a name, in any form of the name.
func (a *Archive) Has(name string) bool { return a.files[composed(name)] != nil }

// Size returns the size of a file in bytes, or 0 if there is no such file.
func (a *Archive) Size(name string) int64 {
	if entry := a.files[composed(name)]; entry != nil {
		return int64(entry.UncompressedSize64)
	}
	return 0
}

// File opens a file that a message names. It is whole only if reading it ends with [io.EOF].
func (a *Archive) File(name string) (io.ReadCloser, int64, error) {
	entry := a.files[composed(name)]
	if entry == nil {
		return nil, 0, bridge.NotFound("the archive has no file %s", quoted(name))
	}
	from, err := open(entry)
	return from, int64(entry.UncompressedSize64), err
}
