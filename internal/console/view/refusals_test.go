package view

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"bridged/internal/api/front"
	"bridged/internal/bridge"
)

// Each stable code of the API has a sentence for people, whatever the API's sentence is.
func TestRefusal_HasASentenceForEachCode(t *testing.T) {
	codes := []bridge.Code{bridge.CodeMissed, bridge.CodeRestored} // of scheduled messages alone
	for _, some := range front.Statuses {
		codes = append(codes, some...)
	}
	if len(codes) < 50 {
		t.Fatalf("only %d codes", len(codes))
	}
	for _, code := range codes {
		if got := Refusal(bridge.Fail(code, "a sentence of a newer bridge")); got == unknownRefusal.text {
			t.Errorf("%s has no sentence", code)
		}
		if entries := refusals[code]; len(entries) > 0 && entries[len(entries)-1].like != "" {
			t.Errorf("the last sentence of %s is for some errors only", code)
		}
	}
}

// forDevelopers matches what only developers and operators understand: routes, formats, names of fields and variables.
var forDevelopers = regexp.MustCompile(`/api|JSON|E\.164|\bJIDs?\b|\b[A-Z]+_[A-Z_]+\b|\b[a-z]+[A-Z][a-z]|'|\bcode \d`)

// The sentences are for people.
func TestRefusal_IsForPeople(t *testing.T) {
	names := strings.NewReplacer("WhatsApp", "", "WebP", "", "iPhone", "")
	check := func(text string) {
		t.Helper()
		if found := forDevelopers.FindString(names.Replace(text)); found != "" {
			t.Errorf("%q has %q", text, found)
		}
		if text != "" && !strings.ContainsAny(text[len(text)-1:], ".?") && !strings.HasSuffix(text, "…") {
			t.Errorf("%q has no end", text)
		}
	}
	for _, entries := range refusals {
		for _, r := range entries {
			check(r.text)
			check(r.waits)
		}
	}
	for _, e := range lastErrors {
		check(e.text)
	}
	for status := range memberRefusals {
		check(MemberRefusal("Grace", status))
	}
	for _, s := range states {
		check(s.Text)
	}
}

// The sentences of the API that the tables name are in its code.
func TestRefusal_KnowsTheAPIsSentences(t *testing.T) {
	source := sources(t)
	check := func(like string) {
		for part := range strings.SplitSeq(like, "…") {
			part = strings.TrimSpace(strings.TrimPrefix(part, "the message ")) // the subject of many sentences
			if !strings.Contains(source, part) {
				t.Errorf("no sentence of the API has %q", part)
			}
		}
	}
	for _, entries := range refusals {
		for _, r := range entries {
			check(r.like)
		}
	}
	for _, e := range lastErrors {
		check(e.like)
	}
}

// sources returns the code of the packages whose errors the API answers with.
func sources(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "../../console/") {
			return err
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// The sentences of lastError that the documentation explains have a sentence in the console.
func TestStateOf_KnowsTheSentencesOfLastError(t *testing.T) {
	page, err := os.ReadFile("../../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| It says | What to do |\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := strings.Split(table, "\n")
	if len(rows) < 10 {
		t.Fatalf("only %d sentences in\n%s", len(rows), table)
	}
	for _, row := range rows {
		sentence, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " |")
		if lastErrorOf(sentence) == "" {
			t.Errorf("%q has no sentence in the console", sentence)
		}
	}
}

func TestRefusal_SaysWhatItKnows(t *testing.T) {
	for want, err := range map[string]*bridge.Error{
		"Messages can only be edited for 15 minutes. Send a new one.":                    bridge.Fail(bridge.CodeNotEditable, "the message is older than 15 minutes: send a new one"),
		"That’s as many new chats as this bridge starts in a day. Try again in 3 hours.": {Code: bridge.CodeNewChatsLimited, RetryAfter: 2*time.Hour + time.Second},
		"WhatsApp asks you to slow down. Try again in a minute.":                         {Code: bridge.CodeRateLimited, RetryAfter: 20 * time.Second},
		"A description can have up to 2,048 characters. The other changes were saved.":   {Code: bridge.CodeInvalid, Msg: "changed name; then topic was not: topic must have at most 2048 characters", Changed: []string{"name"}},
		"This file is empty.": bridge.Fail(bridge.CodeInvalid, "items[3]: the file is empty"),
		"Another program is using this link. Stop it, then reconnect.": bridge.Fail(bridge.CodeNotConnected,
			"the account is not connected (status closed): another client took over this session: stop it, then POST /api/auth/reconnect or restart"),
		"This person doesn’t accept your messages. 2 of 3 photos and videos were sent. Trying again sends the rest.": bridge.Fail(bridge.CodeSendRefused,
			"the network accepted 2 of the 3 pictures and videos of the album, and then: the recipient does not accept messages of this account (code 406); a call with the same Idempotency-Key sends the rest"),
		"WhatsApp asks you to slow down. 1 of 3 photos and videos was sent. “Send now” sends the rest.": bridge.Fail(bridge.CodeRateLimited,
			"the network accepted 1 of the 3 pictures and videos of the album, and then: too fast; send it now to send the rest"),
		"Albums can’t have GIFs. Send this one alone.": bridge.Fail(bridge.CodeInvalid, "items[1]: the apps show no GIFs in albums: send it alone"),
		"That didn’t work.":                            bridge.Fail("a_new_code", "a new sentence"),
	} {
		if got := Refusal(err); got != want {
			t.Errorf("%s: %q, want %q", err.Msg, got, want)
		}
	}
	for sentence, want := range map[string]string{
		"the import was cancelled: import the chat again to store the rest": "The import was cancelled. What was imported stays.", "something else": "The import stopped before it was done.",
	} {
		if got := Ended(sentence); got != want {
			t.Errorf("%s: %q, want %q", sentence, got, want)
		}
	}
}
