package harness

import (
	"bytes"
)

// Fields is a JSON object.
type Fields = map[string]any

// LastEvent returns the data of a stream's last event, which is the answer.
func LastEvent(stream []byte) []byte {
	_, data, _ := bytes.Cut(stream[bytes.LastIndex(stream, []byte("event: message")):], []byte("data: "))
	return bytes.TrimSpace(data)
}

// TextOf returns the first text of a tool's answer.
func TextOf(result Fields) string {
	return result["content"].([]any)[0].(Fields)["text"].(string)
}
