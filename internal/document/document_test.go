package document

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"bridged/internal/bridge"
)

// TestMain lets the tests' own program be the one that a reader starts.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		if err := Serve(os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
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
			got, err := newReader(t).Text(t.Context(), c.document)
			if err != nil || strings.TrimSpace(got) != strings.TrimSpace(c.want) {
				t.Errorf("%q, %v, want %q", got, err, c.want)
			}
		})
	}
}

// A hostile document costs its reader's process, and is refused in time.
func TestText_OfHostileDocuments(t *testing.T) {
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	line := bytes.Repeat([]byte("BT /F1 18 Tf (aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa) Tj ET\n"), 1<<14)
	for range 1 << 9 { // 600 MB
		if _, err := w.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	bomb := archive(t, [2]string{"[Content_Types].xml", "<Types/>"}, [2]string{"word/document.xml", "<w:p>" + strings.Repeat("<w:t>aaaaaaaaaaaaaaaaaaa</w:t>", 5_000_000) + "</w:p>"})
	for name, document := range map[string][]byte{
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
			reader.time = 2 * time.Second
			text, err := reader.Text(t.Context(), document)
			runtime.ReadMemStats(&after)
			if bridge.CodeOf(err) != bridge.CodeUnsupportedMedia && len(text) > maxText {
				t.Errorf("%d bytes of text, %v", len(text), err)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
				t.Errorf("allocated %d MB here", took>>20)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("took %v", took)
			}
			t.Logf("%v: %d bytes, %v", time.Since(began), len(text), err)
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newReader(t).Text(ctx, pdfOf(onePage, "BT ET", "")); err == nil {
		t.Error("a call that was given up is answered")
	}
}
