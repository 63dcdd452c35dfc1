package document

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
)

// maxUnpacked limits the unpacked size of the parts of one document, in bytes.
const maxUnpacked = 100 << 20

// parts are the files of an office document.
type parts struct {
	files []*zip.File
	rest  int64 // bytes that may still be unpacked
}

func openParts(document []byte) (*parts, error) {
	archive, err := zip.NewReader(bytes.NewReader(document), int64(len(document)))
	if err != nil {
		return nil, err
	}
	return &parts{archive.File, maxUnpacked}, nil
}

// named returns the files of a folder with a prefix and a suffix, sorted by the number in
// between.
func (p *parts) named(folder, prefix, suffix string) (found []*zip.File) {
	for _, file := range p.files {
		dir, name := path.Split(file.Name)
		if dir == folder && strings.HasPrefix(name, prefix) && strings.HasSuffix(name, suffix) {
			found = append(found, file)
		}
	}
	number := func(f *zip.File) int {
		digits := strings.TrimFunc(path.Base(f.Name), func(r rune) bool { return r < '0' || r > '9' })
		n, _ := strconv.Atoi(digits) // 0 if there is no number
		return n
	}
	slices.SortStableFunc(found, func(a, b *zip.File) int { return number(a) - number(b) })
	return found
}

// tokens calls each with the tokens of a part.
func (p *parts) tokens(file *zip.File, each func(xml.Token) error) error {
	part, err := file.Open()
	if err != nil {
		return err
	}
	defer part.Close()
	counted := &io.LimitedReader{R: part, N: p.rest}
	defer func() { p.rest = counted.N }()
	for decoder := xml.NewDecoder(counted); ; {
		token, err := decoder.RawToken()
		switch {
		case counted.N <= 0:
			return errors.New("the unpacked document is too large")
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := each(token); err != nil {
			return err
		}
	}
}

// breaks are the elements of the three formats that end a line: paragraphs and breaks.
var breaks = []string{"p", "h", "br", "line-break", "table-row"}

// writeOffice writes the text of a Word, PowerPoint or OpenDocument file: the characters in w:t
// and a:t (ECMA-376, part 1), or all of content.xml (OpenDocument 1.2, part 1).
func writeOffice(document []byte, out io.Writer) error {
	all, err := openParts(document)
	if err != nil {
		return err
	}
	files := slices.Concat(all.named("word/", "document", ".xml"), all.named("ppt/slides/", "slide", ".xml"), all.named("", "content", ".xml"))
	w := bufio.NewWriter(out)
	for _, file := range files {
		inText := file.Name == "content.xml"
		err := all.tokens(file, func(token xml.Token) (err error) {
			switch t := token.(type) {
			case xml.StartElement:
				inText = inText || t.Name.Local == "t"
				if t.Name.Local == "tab" {
					err = w.WriteByte('\t')
				}
			case xml.CharData:
				if inText {
					_, err = w.Write(t)
				}
			case xml.EndElement:
				inText = inText && (t.Name.Local != "t" || file.Name == "content.xml")
				if slices.Contains(breaks, t.Name.Local) {
					err = w.WriteByte('\n')
				}
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return w.Flush()
}

// writeSheet writes the rows of an Excel file with their cells separated by tabs (ECMA-376, part
// 1, section 18).
func writeSheet(document []byte, out io.Writer) error {
	all, err := openParts(document)
	if err != nil {
		return err
	}
	var shared []string
	for _, file := range all.named("xl/", "sharedStrings", ".xml") {
		var text strings.Builder
		err := all.tokens(file, func(token xml.Token) error {
			switch t := token.(type) {
			case xml.CharData:
				text.Write(t)
			case xml.EndElement:
				if t.Name.Local == "si" {
					shared = append(shared, strings.TrimSpace(text.String()))
					text.Reset()
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	w := bufio.NewWriter(out)
	for _, file := range all.named("xl/worksheets/", "sheet", ".xml") {
		var cell strings.Builder
		isShared, inValue := false, false
		err := all.tokens(file, func(token xml.Token) (err error) {
			switch t := token.(type) {
			case xml.StartElement:
				switch t.Name.Local {
				case "c":
					isShared = slices.ContainsFunc(t.Attr, func(a xml.Attr) bool { return a.Name.Local == "t" && a.Value == "s" })
				case "v", "t":
					inValue = true
				}
			case xml.CharData:
				if inValue {
					cell.Write(t)
				}
			case xml.EndElement:
				switch t.Name.Local {
				case "v", "t":
					inValue = false
				case "c":
					value := cell.String()
					if n, err := strconv.Atoi(value); isShared && err == nil && n >= 0 && n < len(shared) {
						value = shared[n]
					}
					cell.Reset()
					_, err = w.WriteString(value + "\t")
				case "row":
					err = w.WriteByte('\n')
				}
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return w.Flush()
}
