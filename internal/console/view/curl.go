package view

import (
	"bytes"
	"encoding/json"
	"strings"

	"bridged/internal/bridge"
)

// Indented returns an example for people; a text as it is.
func Indented(example json.RawMessage) string {
	var text string
	if json.Unmarshal(example, &text) == nil {
		return text
	}
	var out bytes.Buffer
	if json.Indent(&out, example, "", "  ") != nil {
		return ""
	}
	return out.String()
}

// curlHead begins the lines that show a page as a call of the API. They take address
// and token from the environment, so that no secret is copied along.
const curlHead = `curl -sS -H "Authorization: Bearer $BRIDGE_TOKEN"`

// Curl returns a line that calls a route. Arguments go on lines of their own; those
// of a form imply the method, as a body implies POST.
func Curl(method, path string, body any, arguments ...string) string {
	line, implied := curlHead, "GET"
	for _, argument := range arguments {
		line += " \\\n  " + argument
		if strings.HasPrefix(argument, "-F ") {
			implied = "POST"
		}
	}
	data := ""
	if body != nil {
		encoded, err := bridge.EncodeJSON(body)
		if err != nil {
			return ""
		}
		data, implied = " \\\n  -H 'Content-Type: application/json' -d "+ShellQuoted(string(encoded)), "POST"
	}
	if method != implied {
		line += " -X " + method
	}
	return line + data + ` "$BRIDGE` + path + `"`
}

func ShellQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
