package chatexport

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/chatexport/exporttest"
	"bridged/internal/fuzzbudget"
)

var budget = fuzzbudget.Budget{Base: 4 << 20, PerByte: 2048, Time: 2 * time.Second}

var chatEntry = exporttest.Entry{Name: "_chat.txt", Data: []byte("[13.01.25, 10:00:00] Anna: Hi")}

// chatNamed returns the text of a chat under a name.
func chatNamed(name string) exporttest.Entry {
	return exporttest.Entry{Name: name, Data: chatEntry.Data}
}

// unpackAll opens an archive and reads all of its files, as an import does.
func unpackAll(export []byte) error {
	a, err := Open(bytes.NewReader(export), int64(len(export)), limits)
	if err != nil {
		return err
	}
	if err := a.DetectFormat(Options{Zone: time.UTC, Now: now}); err != nil {
		return err
	}
	for name := range a.files {
		file, _, err := a.File(name)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, file)
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	return a.CheckInner(func(string) bool { return false })
}

// changed returns an entry with another header.
func changed(name string, change func(*zip.FileHeader)) exporttest.Entry {
	return exporttest.Entry{Name: name, Data: []byte("data"), Change: change}
}

// raw returns an entry whose header says what it wants of its data.
func raw(t *testing.T, header zip.FileHeader, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	chat, err := w.Create("_chat.txt")
	if err == nil {
		_, err = chat.Write(chatEntry.Data)
	}
	if err != nil {
		t.Fatal(err)
	}
	file, err := w.CreateRaw(&header)
	if err == nil {
		_, err = file.Write(data)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestOpen_RefusesHostileArchives as a whole.
func TestOpen_RefusesHostileArchives(t *testing.T) {
	named := func(names ...string) []byte {
		entries := []exporttest.Entry{chatEntry}
		for _, name := range names {
			entries = append(entries, exporttest.Entry{Name: name, Data: []byte("data")})
		}
		return exporttest.Zip(t, entries...)
	}
	mode := func(m fs.FileMode) []byte {
		return exporttest.Zip(t, chatEntry, changed("a.jpg", func(h *zip.FileHeader) { h.SetMode(m) }))
	}
	sum := crc32.ChecksumIEEE([]byte("data"))
	for name, test := range map[string]struct {
		archive []byte
		says    string
	}{
		"a name that leads up":            {named("../../etc/passwd"), "leads out"},
		"a name that leads up, inside":    {named("a/../../b.jpg"), "leads out"},
		"a name from the top":             {named("/etc/passwd"), "leads out"},
		"a name of a drive":               {named("C:/windows/a.dll"), "leads out"},
		"a name with backslashes":         {named(`..\..\a.dll`), "leads out"},
		"a name with a null":              {named("a\x00.jpg"), "cannot be shown"},
		"a name with a line break":        {named("a\n.jpg"), "cannot be shown"},
		"a name of Windows":               {named("Pr\x81fung.pdf"), "is not UTF-8: import the file that the phone has made"},
		"an empty part":                   {named("a//b.jpg"), "leads out"},
		"a link":                          {mode(fs.ModeSymlink | 0o777), "is a link"},
		"a device":                        {mode(fs.ModeDevice | 0o666), "is a link"},
		"a pipe":                          {mode(fs.ModeNamedPipe | 0o666), "is a link"},
		"the same name twice":             {named("a.jpg", "a.jpg"), "two entries"},
		"names that differ in case":       {named("a.jpg", "A.JPG"), "two entries"},
		"names that differ in their form": {named("u\u0308.jpg", "\u00fc.jpg"), "two entries"},
		"the same name in two folders":    {named("x/a.jpg", "y/a.jpg"), "two files"},
		"another chat":                    {exporttest.Zip(t, chatNamed("WhatsApp Chat with A.txt"), chatNamed("WhatsApp Chat with B.txt")), "another exported chat in it, \"WhatsApp Chat with B.txt\": unpack it"},
		"another chat, renamed":           {exporttest.Zip(t, chatNamed("a.txt"), chatNamed("b.txt")), "another exported chat in it"},
		"another chat, of notices":        {exporttest.Zip(t, chatEntry, exporttest.Entry{Name: "WhatsApp Chat with B.txt", Data: []byte("[13.01.25, 10:00:00] encrypted")}), "another exported chat in it"},
		"an archive in it":                {named("inner.zip"), "another archive"},
		"another archive in it":           {named("inner.tar.gz"), "another archive"},
		"an encrypted file":               {exporttest.Zip(t, chatEntry, changed("a.jpg", func(h *zip.FileHeader) { h.Flags |= 1 })), "encrypted"},
		"an unknown method":               {raw(t, zip.FileHeader{Name: "a.jpg", Method: 93, CompressedSize64: 4, UncompressedSize64: 4, CRC32: sum}, []byte("data")), "packed in a way"},
		"a wrong checksum":                {raw(t, zip.FileHeader{Name: "a.jpg", CompressedSize64: 4, UncompressedSize64: 4, CRC32: sum + 1}, []byte("data")), "damaged"},
		"more data than it says":          {raw(t, deflated(10<<20, 10), make([]byte, 0)), "damaged"},
		"a file that is too large":        {exporttest.Zip(t, chatEntry, exporttest.Entry{Name: "a.jpg", Data: make([]byte, limits.File+1)}), "MEDIA_MAX_BYTES"},
		"a text that is too large":        {exporttest.Zip(t, chatEntry, exporttest.Entry{Name: "a.txt", Data: make([]byte, limits.File+1)}), "MEDIA_MAX_BYTES"},
		"files that are too large":        {exporttest.Zip(t, append(many(9, 1<<20), chatEntry)...), "IMPORT_MAX_BYTES"},
		"more entries than there may be":  {exporttest.Zip(t, append(many(MaxEntries, 0), chatEntry)...), "entries"},
		"a million entries":               {claims(exporttest.Zip(t, chatEntry), 1_000_000), "entries"},
		"a million entries elsewhere":     {claimsElsewhere(exporttest.Zip(t, chatEntry), 1_000_000), "entries"},
		"more entries than it says":       {claims(exporttest.Zip(t, append(many(MaxEntries, 0), chatEntry)...), 1), "damaged"},
		"entries that share bytes":        {overlapping(t), "share bytes"},
		"no text":                         {exporttest.Zip(t, exporttest.Entry{Name: "a.txt", Data: []byte("no chat")}), "no text of an exported chat"},
		"nothing":                         {exporttest.Zip(t), "no text of an exported chat"},
		"the beginning of one":            {exporttest.Zip(t, chatEntry)[:60], "damaged"},
		"one without its beginning":       {append([]byte("PK\x03\x04"), exporttest.Zip(t, chatEntry)[80:]...), "damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			err := unpackAll(test.archive)
			code := bridge.CodeOf(err)
			if err == nil || !strings.Contains(err.Error(), test.says) || code != bridge.CodeInvalid && code != bridge.CodePayloadTooLarge {
				t.Errorf("got %s: %v", code, err)
			}
		})
	}
}

// TestOpen_BoundsTheText by what the archive says of it, before any of it is read.
func TestOpen_BoundsTheText(t *testing.T) {
	archive := raw(t, zip.FileHeader{Name: "WhatsApp Chat with Anna.txt", Method: zip.Deflate, UncompressedSize64: MaxText + 1}, nil)
	archive = bytes.ReplaceAll(archive, []byte("_chat.txt"), []byte("other.txt"))
	_, err := Open(bytes.NewReader(archive), int64(len(archive)), Limits{File: 2 * MaxText, Sum: 2 * MaxText})
	if bridge.CodeOf(err) != bridge.CodePayloadTooLarge || !strings.Contains(err.Error(), "200 MiB") {
		t.Errorf("got %v", err)
	}
}

// deflated describes zeros that unpack to more than they say.
func deflated(_, says uint64) zip.FileHeader {
	return zip.FileHeader{Name: "a.jpg", Method: zip.Deflate, UncompressedSize64: says}
}

// many returns so many files of a size.
func many(n, size int) (entries []exporttest.Entry) {
	for i := range n {
		entries = append(entries, exporttest.Entry{Name: fmt.Sprintf("IMG-20250113-WA%05d.jpg", i), Data: make([]byte, size), Change: func(h *zip.FileHeader) { h.Method = zip.Store }})
	}
	return entries
}

// claimsElsewhere has an archive say that it has many entries at its end for large archives alone.
func claimsElsewhere(archive []byte, entries uint64) []byte {
	archive = claims(archive, entries)
	end := archive[len(archive)-22:]
	binary.LittleEndian.PutUint16(end[10:], 1)
	binary.LittleEndian.PutUint32(end[16:], 1<<32-1) // the place of the directory, which the other end says
	return archive
}

// claims has an archive say that it has another number of entries.
func claims(archive []byte, entries uint64) []byte {
	end := archive[len(archive)-22:]
	if entries < 1<<16-1 {
		binary.LittleEndian.PutUint16(end[8:], uint16(entries))
		binary.LittleEndian.PutUint16(end[10:], uint16(entries))
		return archive
	}
	large := make([]byte, 56)
	copy(large, "PK\x06\x06")
	binary.LittleEndian.PutUint64(large[4:], 44)
	binary.LittleEndian.PutUint64(large[24:], entries)
	binary.LittleEndian.PutUint64(large[32:], entries)
	binary.LittleEndian.PutUint64(large[40:], uint64(binary.LittleEndian.Uint32(end[12:])))
	binary.LittleEndian.PutUint64(large[48:], uint64(binary.LittleEndian.Uint32(end[16:])))
	locator := make([]byte, 20)
	copy(locator, "PK\x06\x07")
	binary.LittleEndian.PutUint64(locator[8:], uint64(len(archive)-22))
	binary.LittleEndian.PutUint32(locator[16:], 1)
	for i := 8; i < 20; i++ {
		end[i] = 0xff
	}
	return append(append(append(bytes.Clone(archive[:len(archive)-22]), large...), locator...), end...)
}

// overlapping returns an archive of two entries in the same place, as bombs have them.
func overlapping(t *testing.T) []byte {
	archive := exporttest.Zip(t, chatEntry, exporttest.Entry{Name: "a.jpg", Data: []byte("data")}, exporttest.Entry{Name: "b.jpg", Data: []byte("data")})
	first := bytes.Index(archive, []byte("PK\x01\x02"))
	second := first + 1 + bytes.Index(archive[first+1:], []byte("PK\x01\x02"))
	third := second + 1 + bytes.Index(archive[second+1:], []byte("PK\x01\x02"))
	copy(archive[third+42:third+46], archive[second+42:second+46])
	return archive
}

// TestOpen_TakesWhatPhonesMake and what people do with it.
func TestOpen_TakesWhatPhonesMake(t *testing.T) {
	for name, archive := range map[string][]byte{
		"a text":                      chatEntry.Data,
		"a text with a mark":          append([]byte("\ufeff"), chatEntry.Data...),
		"an archive":                  exporttest.Zip(t, chatEntry),
		"a folder that was packed":    exporttest.Zip(t, exporttest.Entry{Name: "Chat/"}, exporttest.Entry{Name: "Chat/_chat.txt", Data: chatEntry.Data}, exporttest.Entry{Name: "__MACOSX/Chat/._chat.txt", Data: []byte("x")}),
		"texts that people have sent": exporttest.Zip(t, exporttest.Entry{Name: "1 diary.txt", Data: []byte("1/2/25, 10:00 - no")}, exporttest.Entry{Name: "WhatsApp Chat with Anna.txt", Data: chatEntry.Data}, exporttest.Entry{Name: "a.txt", Data: []byte("x")}),
		"the most entries":            exporttest.Zip(t, append(many(MaxEntries-1, 0), chatEntry)...),
	} {
		t.Run(name, func(t *testing.T) {
			if err := unpackAll(archive); err != nil {
				t.Error(err)
			}
			if got, _ := readAll(t, archive, Options{}); len(got) != 1 || got[0].Text != "Hi" {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestCheckInner_TakesWhatPeopleSent(t *testing.T) {
	const photos, other = "00000002-photos.zip", "WhatsApp Chat with B.txt"
	archive := exporttest.Zip(t, chatEntry, exporttest.Entry{Name: photos, Data: []byte("data")}, chatNamed(other), chatNamed("00000003-WhatsApp Chat with C.txt"))
	a, err := Open(bytes.NewReader(archive), int64(len(archive)), limits)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.CheckInner(func(name string) bool { return name == photos || name == other }); err != nil {
		t.Error(err)
	}
}

// FuzzOpen opens any archive within a budget.
func FuzzOpen(f *testing.F) {
	l := exporttest.LocaleOf("de")
	f.Add(l.Zip(f, exporttest.Android, talk(exporttest.Android)))
	f.Add(l.Zip(f, exporttest.IPhone, talk(exporttest.IPhone)))
	f.Add(claims(exporttest.Zip(f, chatEntry), 70_000))
	f.Fuzz(func(t *testing.T, archive []byte) {
		fuzzbudget.Budget{Base: 64 << 20, PerByte: 4096, Time: 2 * time.Second}.Check(t, len(archive), func() {
			if err := unpackAll(archive); err != nil && bridge.CodeOf(err) == bridge.CodeInternal && !errors.As(err, new(*Ambiguous)) {
				t.Errorf("an error of no code: %v", err)
			}
		})
	})
}

// heap returns how many bytes the live objects take.
func heap() uint64 {
	runtime.GC()
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// BenchmarkMessages reads a chat of 100,000 lines. Its memory, which must not grow with the chat,
// is reported beside that of a small one.
func BenchmarkMessages(b *testing.B) {
	var text strings.Builder
	begins := time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC)
	l := exporttest.LocaleOf("de")
	for i := range 100_000 {
		fmt.Fprintf(&text, "%s - Anna: message %d, which is about as long as messages are\n", l.Stamp(exporttest.Android, begins.Add(time.Duration(i)*37*time.Minute)), i)
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	before, least, most := heap(), uint64(0), uint64(0)
	for b.Loop() {
		a, err := Open(strings.NewReader(text.String()), int64(text.Len()), limits)
		if err == nil {
			err = a.DetectFormat(Options{Zone: time.UTC, Now: now})
		}
		if err != nil {
			b.Fatal(err)
		}
		count := 0
		for _, err := range a.Messages(new(Notes)) {
			if err != nil {
				b.Fatal(err)
			}
			if count++; count == 1000 {
				least = heap()
			} else if count%20_000 == 0 {
				most = max(most, heap())
			}
		}
		if count != 100_000 {
			b.Fatalf("%d messages", count)
		}
	}
	b.ReportMetric(float64(least-min(before, least)), "B/1000-messages")
	b.ReportMetric(float64(most-min(before, most)), "B/100000-messages")
}
