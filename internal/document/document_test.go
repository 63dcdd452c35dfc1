package document

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"bridged/internal/bridge"
	"bridged/internal/intake"
	"bridged/internal/longtest"
)

// TestMain lets the tests' own program be the one that a reader starts.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 {
		os.Exit(m.Run())
	}
	var err error
	switch os.Args[1] {
	case "serve":
		err = Serve(os.Stdin, os.Stdout)
	case "hang": // as a document that makes the reader spin, and say who it is
		if err = os.WriteFile(os.Args[2], []byte(strconv.Itoa(os.Getpid())), 0o600); err == nil {
			err = limitProcess()
		}
		if err == nil {
			time.Sleep(time.Hour)
		}
	case "parent":
		_, err = textOf(context.Background(), NewReader(os.Args[0], "hang", os.Args[2]), pdfOf(onePage, "", ""))
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// textOf returns the whole text of a document.
func textOf(ctx context.Context, r *Reader, document []byte) (string, error) {
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(document)), nil }
	text, length, err := r.Part(ctx, open, 0, 1<<30)
	if err == nil && length != utf8.RuneCountInString(text) {
		err = fmt.Errorf("%d characters, of %d", utf8.RuneCountInString(text), length)
	}
	return text, err
}

func newReader(t *testing.T) *Reader {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return NewReader(program, "serve")
}

// archive packs files in their order.
func archive(t *testing.T, files ...[2]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, file := range files {
		method := zip.Deflate
		if file[0] == "mimetype" { // as OpenDocument has it
			method = zip.Store
		}
		part, err := w.CreateHeader(&zip.FileHeader{Name: file[0], Method: method})
		if err == nil {
			_, err = part.Write([]byte(file[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// pdfOf returns a PDF of one page with some content, whose page tree is as given.
func pdfOf(pages, content string, filter string) []byte {
	var b bytes.Buffer
	var offsets []int
	object := func(text string) {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", len(offsets), text)
	}
	b.WriteString("%PDF-1.4\n")
	object("<< /Type /Catalog /Pages 2 0 R >>")
	object(pages)
	object("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>")
	object(fmt.Sprintf("<< /Length %d %s >>\nstream\n%s\nendstream", len(content), filter, content))
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, offset := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, start)
	return b.Bytes()
}

const onePage = "<< /Type /Pages /Kids [3 0 R] /Count 1 >>"

func TestText_OfEachKind(t *testing.T) {
	word := archive(t, [2]string{"[Content_Types].xml", "<Types/>"}, [2]string{
		"word/document.xml",
		`<w:document xmlns:w="x"><w:body><w:p><w:r><w:t>Invoice 4711</w:t></w:r></w:p><w:p><w:r><w:t>due on</w:t><w:tab/><w:t xml:space="preserve"> Friday &amp; not later</w:t></w:r></w:p></w:body></w:document>`,
	})
	slides := archive(t, [2]string{"[Content_Types].xml", "<Types/>"}, [2]string{"ppt/slides/slide10.xml", "<p:sld><a:p><a:t>last</a:t></a:p></p:sld>"}, [2]string{"ppt/slides/slide2.xml", "<p:sld><a:p><a:t>first</a:t></a:p></p:sld>"})
	sheet := archive(t, [2]string{"[Content_Types].xml", "<Types/>"}, [2]string{"xl/sharedStrings.xml", "<sst><si><t>name</t></si><si><r><t>sum</t></r></si></sst>"},
		[2]string{"xl/worksheets/sheet1.xml", `<worksheet><row r="1"><c t="s"><v>0</v></c><c t="s"><v>1</v></c></row><row r="2"><c t="inlineStr"><is><t>Ana</t></is></c><c><v>12.5</v></c></row></worksheet>`})
	text := archive(t, [2]string{"mimetype", "application/vnd.oasis.opendocument.text"}, [2]string{
		"content.xml",
		"<office:document-content><office:body><text:h>Title</text:h><text:p>A line<text:line-break/>and <text:span>another</text:span></text:p></office:body></office:document-content>",
	})
	for name, c := range map[string]struct {
		document []byte
		want     string
	}{
		"PDF":          {pdfOf(onePage, "BT /F1 18 Tf 40 100 Td (Saturday: meet at nine) Tj ET", ""), "Saturday: meet at nine"},
		"Word":         {word, "Invoice 4711\ndue on\t Friday & not later"},
		"PowerPoint":   {slides, "first\nlast"},
		"Excel":        {sheet, "name\tsum\t\nAna\t12.5"},
		"OpenDocument": {text, "Title\nA line\nand another"},
		"plain":        {[]byte("\xef\xbb\xbfgrüß dich"), "grüß dich"},
		"UTF-16":       {[]byte("\xff\xfeh\x00\xfc\x00"), "hü"},
		"UTF-16 BE":    {[]byte("\xfe\xff\x00h\x00\xfc"), "hü"},
		"Latin-1":      {[]byte("gr\xfc\xdfe aus M\xfcnchen"), "grüße aus München"},
		"CSV":          {[]byte("a,b\n1,2\n"), "a,b\n1,2\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := textOf(t.Context(), newReader(t), c.document)
			if err != nil || strings.TrimSpace(got) != strings.TrimSpace(c.want) {
				t.Errorf("%q, %v, want %q", got, err, c.want)
			}
		})
	}
}

// A hostile document costs its reader's process, and is refused in time.
func TestText_OfHostileDocuments(t *testing.T) {
	var packed bytes.Buffer
	w := fastest(t, &packed)
	line := bytes.Repeat([]byte("BT /F1 18 Tf (aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa) Tj ET\n"), 1<<14)
	for range longtest.Else(1<<8, 1<<9) { // of 1.2 MB
		if _, err := w.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	bomb := archive(t, [2]string{"[Content_Types].xml", "<Types/>"}, [2]string{"word/document.xml", "<w:p>" + strings.Repeat("<w:t>aaaaaaaaaaaaaaaaaaa</w:t>", 5_000_000) + "</w:p>"})
	twice := packedTwice(t)
	t.Logf("packed twice: %d bytes", len(twice))
	for name, document := range map[string][]byte{
		"a stream packed twice":   pdfOf(onePage, twice, "/Filter [/FlateDecode /FlateDecode]"),
		"pages within themselves": pdfOf("<< /Type /Pages /Kids [2 0 R] /Count 1000000000 >>", "", ""),
		"a swelling stream":       pdfOf(onePage, packed.String(), "/Filter /FlateDecode"),
		"a swelling part":         bomb,
		"cut off":                 pdfOf(onePage, "BT (x) Tj ET", "")[:200],
		"an image":                []byte("\x89PNG\r\n\x1a\n0000"),
		"a program":               []byte("\x7fELF\x02\x01\x01\x00"),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began := time.Now()
			reader := newReader(t)
			reader.time = longtest.Else(time.Second, 5*time.Second)
			peak := make(chan int64, 1)
			reader.started = func(pid int) { go func() { peak <- peakOf(pid) }() }
			text, err := textOf(t.Context(), reader, document)
			runtime.ReadMemStats(&after)
			if bridge.CodeOf(err) != bridge.CodeUnsupportedMedia && len(text) > maxText {
				t.Errorf("%d bytes of text, %v", len(text), err)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
				t.Errorf("allocated %d MB here", took>>20)
			}
			select {
			case took := <-peak:
				t.Logf("the process took %d MB", took>>20)
				if took > maxMemory {
					t.Error("that is too much")
				}
			default: // there was no process, or it has just ended
			}
			t.Logf("%v: %d bytes, %v", time.Since(began), len(text), err)
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := textOf(ctx, newReader(t), pdfOf(onePage, "BT ET", "")); err == nil {
		t.Error("a call that was given up is answered")
	}
}

// fastest returns a writer that compresses in the shortest time.
func fastest(t *testing.T, to io.Writer) *zlib.Writer {
	t.Helper()
	w, err := zlib.NewWriterLevel(to, zlib.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// packedTwice returns a page's content of 300 MB, as a stream of a few kilobytes.
func packedTwice(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	outer := zlib.NewWriter(&out)
	inner := fastest(t, outer)
	line := bytes.Repeat([]byte("("), 1<<20)
	for range 300 {
		if _, err := inner.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(inner.Close(), outer.Close()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Parts of a text of every encoding fit together, and what is read for one of them takes no memory
// for the rest.
func TestPart_IsReadAsAStream(t *testing.T) {
	reader := newReader(t)
	for name, document := range map[string][]byte{
		"UTF-8":   []byte(strings.Repeat("añb€c😀 ", 50_000)),
		"Latin-1": bytes.Repeat([]byte("gr\xfc\xdfe "), 50_000),
		"UTF-16":  append([]byte("\xff\xfe"), bytes.Repeat([]byte("h\x00\xfc\x00\x3d\xd8\x00\xde"), 50_000)...),
	} {
		whole, err := textOf(t.Context(), reader, document)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		runes := []rune(whole)
		open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(document)), nil }
		var text string
		for _, offset := range []int{0, 1, 70_001, len(runes) - 5, len(runes), len(runes) + 5} {
			var length int
			took := allocated(func() { text, length, err = reader.Part(t.Context(), open, offset, 1000) })
			from := min(offset, len(runes))
			if want := string(runes[from:min(from+1000, len(runes))]); err != nil || text != want || length != len(runes) {
				t.Errorf("%s from %d on: %d bytes of %d characters, %v", name, offset, len(text), length, err)
			}
			if took > 256<<10 {
				t.Errorf("%s from %d on: allocated %d KB", name, offset, took>>10)
			}
		}
	}
	broken := errors.New("broken")
	for name, document := range map[string][]byte{"a text": []byte("some text"), "a PDF": pdfOf(onePage, "BT (x) Tj ET", "")} {
		open := func() (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(bytes.NewReader(document), iotest.ErrReader(broken))), nil
		}
		if _, _, err := reader.Part(t.Context(), open, 0, 10); !errors.Is(err, broken) {
			t.Errorf("%s that breaks off: %v", name, err)
		}
	}
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// A token tree that has many documents read at once is refused some; BRIDGE_TOKEN's is read next.
func TestPart_TokenTreesTakeTurns(t *testing.T) {
	reader := newReader(t)
	release, err := reader.slot.Acquire(bridge.WithTree(t.Context(), 7))
	if err != nil {
		t.Fatal(err)
	}
	document := pdfOf(onePage, "BT /F1 18 Tf 40 100 Td (text) Tj ET", "")
	ended := make(chan error, maxQueued+1)
	for range maxQueued {
		go func() {
			_, err := textOf(bridge.WithTree(t.Context(), 7), reader, document)
			ended <- err
		}()
	}
	if err := <-ended; bridge.CodeOf(err) != bridge.CodeTooManyConnections { // the one too many
		t.Errorf("one too many: %v", err)
	}
	own := make(chan error)
	go func() {
		_, err := textOf(t.Context(), reader, document)
		if len(ended) > 0 {
			err = errors.Join(err, errors.New("others were read before"))
		}
		own <- err
	}()
	for reader.slot.Waiting(intake.Operator) == 0 {
		runtime.Gosched()
	}
	release()
	if err := <-own; err != nil {
		t.Errorf("BRIDGE_TOKEN's: %v", err)
	}
	for range maxQueued - 1 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}
