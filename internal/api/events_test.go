package api_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/api"
	"bridged/internal/bridge"
)

// eventPage is a page of the log.
type eventPage struct {
	Count      int
	Events     []bridge.Event
	NextCursor string
	Reset      bool
}

func (s *server) eventPage(query string) (page eventPage) {
	s.t.Helper()
	s.Get("/api/events" + query).Want(http.StatusOK).Decode(&page)
	if page.Count != len(page.Events) {
		s.t.Errorf("count %d of %d events", page.Count, len(page.Events))
	}
	return page
}

// told are events as "type about" lines.
func told(events []bridge.Event) []string {
	lines := make([]string, len(events))
	for i, e := range events {
		lines[i] = toldLine(e)
	}
	return lines
}

func toldLine(e bridge.Event) string {
	switch {
	case e.Message != nil:
		return string(e.Type) + " " + e.Message.ID
	case e.Status != nil:
		return string(e.Type) + " " + string(e.Status.Status)
	}
	return string(e.Type) + " " + string(e.ChatJID)
}

func want(t *testing.T, what string, got, want []string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: -want +got\n%s", what, diff)
	}
}

// Every kind of change is told, with the thing as the reading routes show it.
func TestEvents_TellEveryKindOfChange(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.know(bridge.Owner{PN: me})
	changes := []struct {
		change string
		facts  []bridge.Fact
		want   []string
	}{
		{
			"a group is joined",
			[]bridge.Fact{members(club, "Readers", grace, alan)},
			[]string{"chat.updated " + string(club), "group.updated " + string(club)},
		},
		{"a message comes", []bridge.Fact{say(club, grace, "A1", "hello", 1)}, []string{"message.created A1"}},
		{"it comes again", []bridge.Fact{say(club, grace, "A1", "hello", 1)}, []string{}},
		{
			"somebody reacts",
			[]bridge.Fact{bridge.ReactionChange{Chat: club, Target: "A1", Sender: alan, Emoji: "👍", Timestamp: bridge.At(noon)}},
			[]string{"message.updated A1"},
		},
		{"it is edited", []bridge.Fact{bridge.Edit{
			Chat: club, Target: "A1", Editor: grace, Timestamp: bridge.At(noon.Add(time.Minute)),
			New: bridge.Message{MessageType: "conversation", Content: "hello all"},
		}}, []string{"message.updated A1"}},
		{"somebody else edits it", []bridge.Fact{bridge.Edit{
			Chat: club, Target: "A1", Editor: alan, Timestamp: bridge.At(noon.Add(time.Hour)),
			New: bridge.Message{MessageType: "conversation", Content: "no"},
		}}, []string{}},
		{
			"it is deleted",
			[]bridge.Fact{bridge.Deletion{Chat: club, Target: "A1", By: grace, Timestamp: bridge.At(noon.Add(2 * time.Minute))}},
			[]string{"message.updated A1"},
		},
		{"a poll comes", []bridge.Fact{poll("P1")}, []string{"message.created P1"}},
		{
			"somebody votes",
			[]bridge.Fact{bridge.PollVote{Chat: club, Target: "P1", Voter: alan, Hashes: votes("Monday"), Timestamp: bridge.At(noon)}},
			[]string{"message.updated P1"},
		},
		{
			"a message is sent",
			[]bridge.Fact{mine(club, "M1"), bridge.SendResult{Chat: club, ID: "M1", Status: bridge.DeliverySent}},
			[]string{"message.created M1", "message.status M1"},
		},
		{
			"it is read",
			[]bridge.Fact{bridge.Receipt{Chat: club, IDs: []string{"M1"}, From: alan, Status: bridge.DeliveryRead, Timestamp: bridge.At(noon)}},
			[]string{"message.status M1"},
		},
		{"what could not be read", []bridge.Fact{unreadable("U1")}, []string{"message.created U1"}},
		{"comes after all", []bridge.Fact{say(club, alan, "U1", "here", 4)}, []string{"message.updated U1"}},
		{"a name is learned", []bridge.Fact{bridge.Contact{JID: grace, Name: new("Grace")}}, []string{}},
		{
			"a private message comes",
			[]bridge.Fact{say(grace, grace, "B1", "psst", 5)},
			[]string{"chat.updated " + string(grace), "message.created B1"},
		},
		{"its chat gets another name", []bridge.Fact{bridge.Contact{JID: grace, Name: new("Grace H.")}}, []string{"chat.updated " + string(grace)}},
		{
			"the group is renamed",
			[]bridge.Fact{bridge.GroupChange{JID: club, Name: new("Writers"), Timestamp: bridge.At(noon)}},
			[]string{"chat.updated " + string(club), "group.updated " + string(club)},
		},
		{
			"somebody leaves",
			[]bridge.Fact{bridge.GroupChange{JID: club, Left: []bridge.JID{alan}, Timestamp: bridge.At(noon)}},
			[]string{"chat.updated " + string(club), "group.updated " + string(club)},
		},
		{
			"the account opens",
			[]bridge.Fact{bridge.Status{Status: bridge.StateOpen, HasSession: true, Since: bridge.At(noon)}},
			[]string{"account.status open"},
		},
	}
	cursor := s.eventPage("?after=now").NextCursor
	for _, c := range changes {
		s.know(c.facts...)
		page := s.eventPage("?after=" + cursor)
		got := told(page.Events)
		slices.Sort(got)
		slices.Sort(c.want)
		want(t, c.change, got, c.want)
		for _, e := range page.Events {
			s.wantAsRead(e)
		}
		cursor = page.NextCursor
	}
}

// wantAsRead holds what an event shows against the route that shows the same.
func (s *server) wantAsRead(e bridge.Event) {
	s.t.Helper()
	var got, read any
	switch {
	case e.Message != nil:
		got, read = *e.Message, s.message(e.ChatJID, e.Message.ID)
	case e.Chat != nil:
		got, read = *e.Chat, s.chat(e.ChatJID)
	case e.Group != nil:
		var detail struct{ Stored bridge.StoredGroup }
		s.Get("/api/groups/" + e.ChatJID.Escaped()).Want(http.StatusOK).Decode(&detail)
		got, read = *e.Group, detail.Stored
	default:
		return
	}
	if diff := cmp.Diff(read, got); diff != "" {
		s.t.Errorf("%s: -read +told\n%s", toldLine(e), diff)
	}
}

// message is a message as its chat's history shows it.
func (s *server) message(chat bridge.JID, id string) bridge.Message {
	s.t.Helper()
	path := "/api/messages/individual/"
	if chat.IsGroup() {
		path = "/api/groups/"
	}
	path += chat.Escaped()
	if chat.IsGroup() {
		path += "/messages"
	}
	var history struct{ Messages []bridge.Message }
	s.Get(path).Want(http.StatusOK).Decode(&history)
	for _, m := range history.Messages {
		if m.ID == id {
			m.Chat = ""
			return m
		}
	}
	s.t.Fatalf("%s is not in the history of %s", id, chat)
	return bridge.Message{}
}

func (s *server) chat(jid bridge.JID) bridge.Chat {
	s.t.Helper()
	var list struct{ Chats []bridge.Chat }
	s.Get("/api/chats").Want(http.StatusOK).Decode(&list)
	for _, chat := range list.Chats {
		if chat.JID == jid {
			return chat
		}
	}
	s.t.Fatalf("%s is not in the list of chats", jid)
	return bridge.Chat{}
}

func poll(id string) bridge.Message {
	m := say(club, grace, id, "When?", 2)
	m.MessageType = "pollCreationMessage"
	m.Poll = &bridge.PollTally{Name: "When?", SelectableCount: 1, Options: []bridge.PollOption{{Name: "Monday"}, {Name: "Tuesday"}}}
	return m
}

func mine(chat bridge.JID, id string) bridge.Message {
	m := say(chat, me, id, "mine", 3)
	m.FromMe, m.Status = true, new(bridge.DeliveryPending)
	return m
}

func unreadable(id string) bridge.Message {
	m := say(club, alan, id, "", 4)
	m.MessageType, m.Raw = bridge.TypeUndecryptable, nil
	return m
}

func TestEvents_Filter(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.know(bridge.Identity{PN: grace, LID: graceLID}, members(club, "Readers", grace, alan))
	for i := range 3 {
		s.know(say(club, alan, fmt.Sprint("A", i), "a", i), say(grace, grace, fmt.Sprint("B", i), "b", i))
	}
	s.know(bridge.ReactionChange{Chat: grace, Target: "B0", Sender: grace, Emoji: "👍", Timestamp: bridge.At(noon)})
	own := say(grace, grace, "C0", "c", 4)
	own.FromMe = true
	s.know(own)
	for query, wanted := range map[string][]string{
		"?types=message.updated":                      {"message.updated B0"},
		"?types=message.created&chat=" + string(club): {"message.created A0", "message.created A1", "message.created A2"},
		"?types=message.created,message.updated&chat=" + string(grace): {
			"message.created B0", "message.created B1", "message.created B2", "message.updated B0", "message.created C0",
		},
		"?types=message.created&chat=" + string(graceLID):                                                   {"message.created B0", "message.created B1", "message.created B2", "message.created C0"},
		"?types=message.created&chat=" + string(alan):                                                       {},
		"?types=message.created&limit=3&chat=" + string(alan) + "," + string(club) + "," + string(graceLID): {"message.created A0", "message.created B0", "message.created A1"},
		"?types=message.created&fromMe=true":                                                                {"message.created C0"},
		"?types=message.created&fromMe=false&chat=" + string(grace):                                         {"message.created B0", "message.created B1", "message.created B2"},
		"?types=account.status":                                                                             {},
		"?types=message.created&limit=2&chat=" + string(club):                                               {"message.created A0", "message.created A1"},
	} {
		page := s.eventPage(query)
		want(t, query, told(page.Events), wanted)
		if page.Reset {
			t.Errorf("%s: told to begin anew", query)
		}
	}
}

// Pages of any size, taken one after the other while more is stored, tell each
// event once and in order.
func TestEvents_PagesTellEachEventOnce(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	var got, all []string
	cursor := "0"
	for i := range 60 {
		id := fmt.Sprint("A", i)
		s.know(say(grace, grace, id, "a", i))
		all = append(all, "message.created "+id)
		if i%4 != 3 {
			continue
		}
		page := s.eventPage("?types=message.created&limit=3&after=" + cursor)
		got, cursor = append(got, told(page.Events)...), page.NextCursor
	}
	for {
		page := s.eventPage("?types=message.created&limit=7&cursor=" + cursor)
		if len(page.Events) == 0 {
			break
		}
		got, cursor = append(got, told(page.Events)...), page.NextCursor
	}
	want(t, "events", got, all)
}

func TestEvents_WaitsForTheFirst(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.know(say(grace, grace, "A1", "a", 1))
	pages := make(chan eventPage, 1)
	go func() { pages <- s.eventPage("?after=now&wait=30s&types=message.created&chat=" + string(alan)) }()
	for i := range 3 {
		s.know(say(grace, grace, fmt.Sprint("B", i), "b", i)) // not what is waited for
	}
	s.know(say(alan, alan, "C1", "c", 1))
	page := <-pages
	if len(page.Events) == 0 { // it was all stored before the request came
		page = s.eventPage("?wait=30s&types=message.created&chat=" + string(alan))
	}
	want(t, "events", told(page.Events), []string{"message.created C1"})
}

func TestEvents_WaitsNoLongerThanAsked(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.know(say(grace, grace, "A1", "a", 1))
	page := s.eventPage("?after=now&wait=10ms")
	if len(page.Events) != 0 || page.Reset || page.NextCursor != s.eventPage("").NextCursor {
		t.Errorf("got %+v", page)
	}
}

func TestEvents_WaitingEndsWithTheService(t *testing.T) {
	t.Parallel()
	stop, cancel := context.WithCancel(t.Context())
	s := newServer(t, func(o *api.Options) { o.Streams = stop })
	pages := make(chan eventPage, 1)
	go func() { pages <- s.eventPage("?after=now&wait=60s") }()
	cancel()
	if page := <-pages; len(page.Events) != 0 {
		t.Errorf("got %v", told(page.Events))
	}
}

// A reader from before the log's beginning, or of another log, is told.
func TestEvents_TellWhoHasMissedSomething(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for i := range 10 {
		s.know(say(grace, grace, fmt.Sprint("A", i), "a", i))
	}
	first := s.eventPage("?limit=3")
	if _, err := s.store.PruneEvents(t.Context(), time.Time{}, 4); err != nil {
		t.Fatal(err)
	}
	missed := s.eventPage("?after=" + first.NextCursor)
	want(t, "what is left", told(missed.Events), []string{"message.created A6", "message.created A7", "message.created A8", "message.created A9"})
	if !missed.Reset {
		t.Error("not told that something is missing")
	}
	if again := s.eventPage("?after=" + missed.NextCursor); again.Reset || len(again.Events) > 0 {
		t.Errorf("told twice: %+v", again)
	}
	if fresh := s.eventPage(""); fresh.Reset || len(fresh.Events) != 4 {
		t.Errorf("a reader that has seen nothing has missed nothing: %+v", fresh)
	}
	ahead := s.eventPage("?after=99999&wait=30s")
	if !ahead.Reset || ahead.NextCursor != missed.NextCursor {
		t.Errorf("a number of another log: %+v", ahead)
	}
}

// The log never holds what pairing needs.
func TestEvents_KeepPairingSecrets(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	code, qr := "ABCD-EFGH", "2@the-qr-code"
	s.know(bridge.Status{Status: bridge.StateNeedsPair, PairingCode: &code, QR: &qr, Since: bridge.At(noon)})
	got := s.Get("/api/events").Want(http.StatusOK)
	if strings.Contains(string(got.Body), code) || strings.Contains(string(got.Body), qr) {
		t.Errorf("told: %s", got.Body)
	}
}

func TestEvents_RefuseWhatIsNotUnderstood(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for query, sentence := range map[string]string{
		"?after=-1":                         "after must be",
		"?after=soon":                       "after must be",
		"?after=1&cursor=1":                 "mean the same",
		"?types=message.gone":               "types must be among message.created",
		"?chat=nobody":                      "chat",
		"?chat=status@broadcast":            "chat",
		"?chat=15550100301@s.whatsapp.net,": "chat",
		"?fromMe=yes":                       "fromMe must be",
		"?limit=0":                          "limit must be",
		"?limit=1001":                       "limit must be",
		"?wait=61s":                         "wait must be between 0s and 60s",
		"?wait=-1":                          "wait must be",
		"?wait=9223372036854775807s":        "wait must be",
		"?wait=long":                        "wait must be",
	} {
		got := s.Get("/api/events" + query).Want(http.StatusBadRequest)
		if !strings.Contains(got.Error(), sentence) {
			t.Errorf("%s: %q, want it to say %q", query, got.Error(), sentence)
		}
	}
	got := s.Get("/api/events", "Accept", "text/event-stream", "Last-Event-ID", "x").Want(http.StatusBadRequest)
	if !strings.Contains(got.Error(), "Last-Event-ID must be") {
		t.Errorf("Last-Event-ID: %q", got.Error())
	}
}
