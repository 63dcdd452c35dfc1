package console

import (
	"encoding/json"
	"net/url"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// The lines show what a page does as a call of the API. They take address and
// token from the environment, so that neither a secret nor a machine's name is
// copied along.
const curlHead = `curl -sS -H "Authorization: Bearer $BRIDGE_TOKEN"`

// curlGet returns a line that reads a path.
func curlGet(path string) string { return curlHead + ` "$BRIDGE` + path + `"` }

// curlPost returns a line that posts a body.
func curlPost(path string, body any, headers ...string) string {
	line := curlHead
	for _, header := range headers {
		line += " \\\n  -H " + shellQuoted(header)
	}
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return ""
		}
		line += " \\\n  -H 'Content-Type: application/json' -d " + shellQuoted(string(encoded))
	} else {
		line += " -X POST"
	}
	return line + ` "$BRIDGE` + path + `"`
}

// shellQuoted returns a text as one word of a shell.
func shellQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func escapeQuery(text string) string { return url.QueryEscape(text) }

func historyPath(jid bridge.JID) string { return client.HistoryPath(jid) }
