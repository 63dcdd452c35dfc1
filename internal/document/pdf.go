package document

import (
	"bytes"
	"io"

	reader "github.com/ledongthuc/pdf"
)

// writePDF writes the text of each page.
func writePDF(document []byte, out io.Writer) error {
	file, err := reader.NewReader(bytes.NewReader(document), int64(len(document)))
	if err != nil {
		return err
	}
	for page := range file.NumPage() {
		one := file.Page(page + 1)
		if one.V.IsNull() {
			continue
		}
		text, err := one.GetPlainText(nil)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(out, text+"\n"); err != nil {
			return err
		}
	}
	return nil
}
