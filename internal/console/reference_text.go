package console

import (
	"bytes"
	"encoding/json"
	"strings"
)

// block is a paragraph, or a list, of the document's descriptions.
type block struct {
	Runs  []run
	Items [][]run
}

// run is a piece of a sentence.
type run struct {
	Text       string
	Code, Bold bool
}

// blocks reads the little Markdown that the document uses: paragraphs, lists,
// code and bold.
func blocks(text string) (list []block) {
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if strings.TrimSpace(paragraph) == "" {
			continue
		}
		if strings.HasPrefix(strings.TrimSpace(paragraph), "- ") {
			var items [][]run
			for _, item := range strings.Split("\n"+strings.TrimSpace(paragraph), "\n- ")[1:] {
				items = append(items, runs(strings.Join(strings.Fields(item), " ")))
			}
			list = append(list, block{Items: items})
			continue
		}
		list = append(list, block{Runs: runs(strings.Join(strings.Fields(paragraph), " "))})
	}
	return list
}

// runs divides a sentence by its marks.
func runs(text string) (list []run) {
	for i, piece := range strings.Split(text, "`") {
		if i%2 == 1 {
			list = append(list, run{Text: piece, Code: true})
			continue
		}
		for j, part := range strings.Split(piece, "**") {
			if part != "" {
				list = append(list, run{Text: part, Bold: j%2 == 1})
			}
		}
	}
	return list
}

// indented returns an example for people; a text as it is.
func indented(example json.RawMessage) string {
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

// exampleCurl returns a line that calls an operation.
func exampleCurl(method, path string, body json.RawMessage, isForm bool) string {
	line := curlHead
	switch {
	case isForm:
		var parts map[string]string
		if json.Unmarshal(body, &parts) == nil {
			for _, name := range sortedKeys(parts) {
				value := name + "=" + parts[name]
				if name == "file" {
					value = "file=@engine.pdf"
				}
				line += " \\\n  -F " + shellQuoted(value)
			}
		}
	case len(body) > 0:
		if method != "POST" {
			line += " -X " + method
		}
		var compact bytes.Buffer
		if json.Compact(&compact, body) == nil {
			line += " \\\n  -H 'Content-Type: application/json' -d " + shellQuoted(compact.String())
		}
	case method != "GET":
		line += " -X " + method
	}
	return line + ` "$BRIDGE` + path + `"`
}
