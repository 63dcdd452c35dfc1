package view

import (
	"bytes"
	"encoding/json"
	"strings"

	"bridged/internal/bridge"
)

// Indented returns an example with indentation; a string without quotes.
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

// curlHead starts each curl command. Its address and token come from the environment, so that no
// secret is copied.
const curlHead = `curl -sS -H "Authorization: Bearer $BRIDGE_TOKEN"`

// Curl returns a curl command for a route. Each argument has its own line. A form or a body implies
// POST.
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

// ShellQuoted quotes a text for the shell.
func ShellQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
