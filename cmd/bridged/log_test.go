package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rs/zerolog"

	"bridged/internal/shell"
)

// hostile are ids, names and texts as strangers may choose them, by the bytes
// that must not reach a terminal.
var hostile = map[string]string{
	"a line of its own": "A\n12:00:00 INF forged",
	"carriage return":   "A\r12:00:00 INF forged",
	"clears the screen": "A\x1b[2J\x1b]0;title\a",
	"backspaces":        "A\b\b\b",
	"C1 sequence":       "A\u009b2J\u0085",
	"bidi":              "A\u202egnp.exe\u2066\u061c\u200f",
	"line separators":   "A\u2028B\u2029C",
	"delete":            "A\x7f",
	"not UTF-8":         "A\xff\x9b2J",
}

// log writes a text to every place of a log line that is not a constant.
func logLine(format, text string) string {
	var out bytes.Buffer
	log := newLog(&out, zerolog.InfoLevel, format)
	log.Info().Str("id", text).Str(text, "as a name").Err(errors.New(text)).
		Interface("nested", map[string]any{text: []string{text}}).AnErr("cause", errors.New(text)).Msg("received " + text)
	return out.String()
}

func TestLog_ConsoleCannotBeForged(t *testing.T) {
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			line := logLine("console", text)
			withoutColour := line
			for _, colour := range []string{"\x1b[0m", "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[36m", "\x1b[90m"} {
				withoutColour = strings.ReplaceAll(withoutColour, colour, "")
			}
			body, ended := strings.CutSuffix(withoutColour, "\n")
			if !ended || !utf8.ValidString(body) || strings.ContainsFunc(body, shell.IsUnsafe) {
				t.Errorf("%q", withoutColour)
			}
		})
	}
}

func TestLog_JSONIsHarmlessOnATerminal(t *testing.T) {
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			line := logLine("json", text)
			body, ended := strings.CutSuffix(line, "\n")
			if !ended || strings.ContainsFunc(body, shell.IsUnsafe) {
				t.Errorf("%q", line)
			}
			var event struct{ ID string }
			if err := json.Unmarshal([]byte(line), &event); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			if want := strings.ToValidUTF8(text, "\ufffd"); name != "not UTF-8" && event.ID != want {
				t.Errorf("id %q, want %q", event.ID, want)
			}
		})
	}
}

func TestPrintable_LeavesScriptsAlone(t *testing.T) {
	for _, text := range []string{"", "3EB0A1B2", "Grüße, Łukasz", "नमस्ते", "שלום", "👩‍👩‍👧‍👦", "日本語"} {
		if got := shell.Printable(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	if got := shell.Printable("a\x1b[2J\n\u202eb\xff"); got != `a\x1b[2J\n\u202eb`+"\ufffd" {
		t.Errorf("got %q", got)
	}
}

// Sequences of colours in a file are noise to every program that reads it.
func TestLog_HasNoColoursInAFile(t *testing.T) {
	for _, format := range []string{"console", "json", ""} {
		if line := logLine(format, "plain"); strings.Contains(line, "\x1b") {
			t.Errorf("%q: %q", format, line)
		}
	}
}
