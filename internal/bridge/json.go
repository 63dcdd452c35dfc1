package bridge

import (
	"bytes"
	"encoding/json"
)

// EncodeJSON returns v as JSON on one line, in which <, > and & stand as they
// are: no browser takes what is application/json and nosniff for a page.
func EncodeJSON(v any) ([]byte, error) {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(line.Bytes(), []byte("\n")), err
}
