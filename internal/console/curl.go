package console

import (
	"encoding/json"
	"strings"

	"bridged/internal/bridge"
)

// curlHead begins the lines that show a page as a call of the API. They take address
// and token from the environment, so that no secret is copied along.
const curlHead = `curl -sS -H "Authorization: Bearer $BRIDGE_TOKEN"`

// curl returns a line that calls a route. Arguments go on lines of their own; those
// of a form imply the method, as a body implies POST.
func curl(method, path string, body any, arguments ...string) string {
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
		data, implied = " \\\n  -H 'Content-Type: application/json' -d "+shellQuoted(string(encoded)), "POST"
	}
	if method != implied {
		line += " -X " + method
	}
	return line + data + ` "$BRIDGE` + path + `"`
}

// formArguments returns the arguments that send an example of a form.
func formArguments(example json.RawMessage) (arguments []string) {
	var fields map[string]string
	if json.Unmarshal(example, &fields) != nil {
		return nil
	}
	if _, ok := fields["file"]; ok {
		fields["file"] = "@engine.pdf"
	}
	for _, name := range sortedKeys(fields) {
		arguments = append(arguments, "-F "+shellQuoted(name+"="+fields[name]))
	}
	return arguments
}

// shellQuoted returns a text as one word of a shell.
func shellQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
