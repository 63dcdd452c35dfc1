package shell

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"bridged/internal/chatwoot/chatwoottest"
	. "bridged/internal/e2e/harness"
	"bridged/internal/simnet"
)

// chatwootSettings are the variables of an inbox.
func chatwootSettings(s *chatwoottest.Server, inbox int) []string {
	return []string{"CHATWOOT_URL=" + s.URL, "CHATWOOT_TOKEN=" + chatwoottest.Token, "CHATWOOT_ACCOUNT_ID=1", fmt.Sprint("CHATWOOT_INBOX_ID=", inbox)}
}

// startChatwoot starts a Chatwoot with an inbox for the account and sets the script's environment: chatwoot
func (s *scene) startChatwoot(ts *testscript.TestScript, _ bool, _ []string) {
	s.inbox = chatwoottest.New(s.t, s.cast.Owner.Number())
	for _, setting := range chatwootSettings(s.inbox, 1) {
		name, value, _ := strings.Cut(setting, "=")
		ts.Setenv(name, value)
	}
}

// chatwootShows checks that the inboxes have exactly one message, or with ! none, that matches a pattern of its
// kind, text and file, and that nothing was sent to people: chatwoot-shows 'note .*hello'
func (s *scene) chatwootShows(ts *testscript.TestScript, neg bool, args []string) {
	pattern, err := regexp.Compile("(?s)^" + args[0] + "$")
	ts.Check(err)
	found, all := 0, ""
	for _, m := range s.inbox.Messages() {
		kind := m.Type
		if m.Private {
			kind = "note"
		}
		line := strings.TrimSpace(kind + " " + m.Content + " " + m.FileName)
		all += line + "\n"
		if pattern.MatchString(line) {
			found++
		}
	}
	if want := map[bool]int{false: 1, true: 0}[neg]; found != want {
		ts.Fatalf("%d messages match, want %d:\n%s", found, want, all)
	}
	if sent := s.inbox.Delivered(); len(sent) > 0 {
		ts.Fatalf("Chatwoot sends %q", sent)
	}
}

// chatwootFails makes requests fail, with a status, after some that succeed: chatwoot-fails 'POST /messages' 1 500 3
func (s *scene) chatwootFails(ts *testscript.TestScript, _ bool, args []string) {
	var numbers [3]int
	for i := range numbers {
		n, err := strconv.Atoi(args[i+1])
		ts.Check(err)
		numbers[i] = n
	}
	s.inbox.FailsOn(args[0], numbers[0], numbers[1], numbers[2])
}

// chatwootRule adds an automation rule that sends messages: chatwoot-rule
func (s *scene) chatwootRule(*testscript.TestScript, bool, []string) {
	s.inbox.Rules = []chatwoottest.Object{{"name": "Welcome", "event_name": "conversation_created", "active": true, "actions": []chatwoottest.Object{{"action_name": "send_message"}}}}
}

// The program is killed while Chatwoot stores a message, again and again. Each message with its file is there once
// in the end, and nobody gets anything.
func TestBackfill_SurvivesKills(t *testing.T) {
	t.Parallel()
	c := PairedCast(t)
	c.Ben.SetPicture(Portrait(t, 64, 10), Portrait(t, 16, 10))
	var ids []simnet.MessageID
	for i := range 3 {
		ids = append(ids, Say(t, c.Anna, c.Owner.PN(), fmt.Sprint("text ", i)))
		ids = append(ids, Must(c.Ben.SendDocument(Within(t), c.Owner.PN(), simnet.Media{Data: fmt.Append(nil, "file ", i), Mimetype: "text/plain", FileName: fmt.Sprint(i, ".txt")}))(t))
	}
	c.Stored(t, ids...)
	for inbox := 1; inbox <= 2; inbox++ {
		chatwoot := chatwoottest.New(t, c.Owner.Number())
		state := filepath.Join(t.TempDir(), "progress.json")
		args := []string{"chatwoot", "backfill", "--before", "0s", "--files", "--rate", "3000", "--state", state}
		for round := range 3 {
			running := make(chan *Command, 1)
			chatwoot.Fails(chatwoottest.Fault{Request: "POST /messages", Skip: 1, Stores: round%2 == 0, Do: func() {
				killed := <-running
				if err := killed.Cmd.Process.Kill(); err != nil {
					t.Error(err)
				}
			}})
			command := c.Bridge.Begin(chatwootSettings(chatwoot, inbox), args...)
			running <- command
			if code := command.Ends(); code != -1 {
				t.Fatalf("round %d was not killed but ended with %d: %s", round, code, command.Stderr)
			}
			chatwoot.Forget()
		}
		if command := c.Bridge.Begin(chatwootSettings(chatwoot, inbox), args...); command.Ends() != 0 {
			t.Fatal(command.Stderr)
		}
		pictures := 0
		for _, contact := range chatwoot.Contacts() {
			if pictures += min(contact.Avatar, 1); contact.Name != "Anna Amsel" && contact.Name != "Ben" {
				t.Errorf("contact %+v", contact)
			}
		}
		shown := make(map[string]int)
		for _, m := range chatwoot.Messages() {
			shown[regexp.MustCompile(`text \d`).FindString(m.Content)+m.File]++
		}
		for i := range 3 {
			if shown[fmt.Sprint("text ", i)] != 1 || shown[fmt.Sprint("file ", i)] != 1 {
				t.Errorf("inbox %d shows %v", inbox, shown)
			}
		}
		if len(shown) != 6 || len(chatwoot.Doubles()) > 0 || len(chatwoot.Delivered()) > 0 || len(chatwoot.Conversations()) != 2 || pictures != 1 {
			t.Errorf("inbox %d shows %v, %d pictures, doubles %v, delivers %v", inbox, shown, pictures, chatwoot.Doubles(), chatwoot.Delivered())
		}
	}
}
