package docs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	. "bridged/internal/e2e/harness"
)

// TestDemo_ItsLinesWorkAsPrinted runs the demo like a person who has just cloned
// the repository: copies the printed lines, and ends it with Ctrl-C.
func TestDemo_ItsLinesWorkAsPrinted(t *testing.T) {
	t.Parallel()
	d := StartDemo(t)
	lines := curlLines(d.Stdout.String())
	wanted := []string{
		`"status":"open".*"pushName":"Alex"`,
		`"name":"Wandern am Samstag 🥾".*"name":"عائلة وأصدقاء"|"name":"عائلة وأصدقاء".*"name":"Wandern am Samstag 🥾"`,
		`"ptt":true.*¡Hola Alex!`,
		`"stored":.*"displayName":"Jonas Weber".*"live":.*"displayName":"Jonas Weber"`,
		`"imageMessage".*"name":"¿A qué hora salimos\?".*See you all on Saturday! 🥾`,
		`Hauptstraße 12.*STRASSE.*Hauptstraße 12`,
		`"type":"message.created".*"content":"[^"]`, // the talk goes on
		`"ok":true`,
		`«Hola Sofía!»`, // Sofia's answer
		``,              // a picture
	}
	if len(lines) != len(wanted) {
		t.Fatalf("the demo prints %d lines to try, want %d:\n%s", len(lines), len(wanted), d.Stdout)
	}
	for i, pattern := range wanted {
		try := func() error {
			printed := d.Shell(lines[i])
			if !regexp.MustCompile(pattern).Match(printed) {
				return fmt.Errorf("%s\nprints %s\nwithout %s", lines[i], printed, pattern)
			}
			return nil
		}
		if pattern == `«Hola Sofía!»` {
			Eventually(t, try) // people take a moment to answer
		} else if err := try(); err != nil {
			t.Error(err)
		}
	}
	if oldest, newest := lastMessages(t, d.Shell(lines[1])); newest.Sub(oldest) < 12*time.Hour || time.Since(newest) > time.Hour {
		t.Errorf("the chats' last messages are from %v to %v", oldest, newest)
	}
	picture, err := os.ReadFile(filepath.Join(d.Dir, "picture.png"))
	if err != nil || !bytes.HasPrefix(picture, []byte("\x89PNG\r\n")) {
		t.Errorf("the picture: %v, %.20q", err, picture)
	}
	d.Interrupt()
}

// lastMessages returns the times of the last messages in the chats of a list.
func lastMessages(t testing.TB, list []byte) (oldest, newest time.Time) {
	t.Helper()
	var answer struct {
		Chats []struct{ LastMessageAt time.Time }
	}
	if err := json.Unmarshal(list, &answer); err != nil || len(answer.Chats) < 6 {
		t.Fatalf("%d chats: %v", len(answer.Chats), err)
	}
	for _, chat := range answer.Chats {
		if oldest.IsZero() || chat.LastMessageAt.Before(oldest) {
			oldest = chat.LastMessageAt
		}
		if chat.LastMessageAt.After(newest) {
			newest = chat.LastMessageAt
		}
	}
	return oldest, newest
}

// TestDemo_EndsAtOnceAndLeavesNothing, even before it is set up.
func TestDemo_EndsAtOnceAndLeavesNothing(t *testing.T) {
	t.Parallel()
	d := RunDemo(t)
	Eventually(t, func() error {
		if !strings.Contains(d.Stderr.String(), "Setting up") {
			return errors.New("the demo says nothing yet")
		}
		return nil
	})
	d.Interrupt()
}

// curlLines returns the commands in a text, each as one line.
func curlLines(text string) (lines []string) {
	text = strings.ReplaceAll(text, "\\\n", " ")
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "curl ") {
			lines = append(lines, line)
		}
	}
	return lines
}
