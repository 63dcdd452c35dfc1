package store

import (
	"crypto/sha256"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
)

func sha(s string) []byte {
	sum := sha256.Sum256([]byte(s))
	return sum[:]
}

// clubNight is a group with Alice as its admin and a message of Bob's.
func clubNight(t *testing.T) *Store {
	t.Helper()
	s := newStore(t)
	save(t, s, owner(), bridge.Identity{PN: alice, LID: aliceLID}, bridge.Identity{PN: bob, LID: bobLID},
		bridge.Group{JID: club, Name: "Club", Participants: []bridge.Participant{
			{JID: alice, IsAdmin: true}, {JID: bob}, {JID: carol}, {JID: me},
		}},
		says(club, bob, "B1", 1, "original"))
	return s
}

func TestReaction_ReplacesAndRemoves(t *testing.T) {
	t.Parallel()
	s := clubNight(t)
	react := func(sender bridge.JID, emoji string, seconds int) {
		save(t, s, bridge.ReactionChange{Chat: club, Target: "B1", Sender: sender, Emoji: emoji, Timestamp: at(seconds)})
	}
	react(alice, "👍", 2)
	react(carol, "🎉", 3)
	react(aliceLID, "❤️", 4)
	want := []bridge.MessageReaction{{SenderJID: carol, Emoji: "🎉", Timestamp: at(3)}, {SenderJID: alice, Emoji: "❤️", Timestamp: at(4)}}
	if diff := cmp.Diff(want, message(t, s, club, "B1").Reactions); diff != "" {
		t.Error(diff)
	}
	react(alice, "", 5)
	react(alice, "👍", 2) // delivered again
	if diff := cmp.Diff(want[:1], historyOf(t, s, club)[0].Reactions); diff != "" {
		t.Error(diff)
	}
	checkCounts(t, s)
}

func TestReaction_ToAMessageThatIsNotStoredIsLeftOut(t *testing.T) {
	t.Parallel()
	s := clubNight(t)
	before := logged(t, s)
	save(t, s, bridge.ReactionChange{Chat: club, Target: "nothing", Sender: alice, Emoji: "👍", Timestamp: at(2)},
		bridge.Edit{Chat: carol, Target: "nothing", Editor: carol}, bridge.Deletion{Chat: club, Target: "nothing", By: alice},
		bridge.PollVote{Chat: club, Target: "nothing", Voter: alice}, bridge.Receipt{Chat: carol, IDs: []string{"nothing"}, From: carol},
		bridge.MediaMoved{Chat: club, ID: "nothing"}, bridge.SendResult{Chat: club, ID: "nothing"})
	sameList(t, "events", logged(t, s), before)
}

func TestEdit_ByOthersIsIgnored(t *testing.T) {
	t.Parallel()
	s := clubNight(t)
	edit := func(editor bridge.JID, seconds int, text string) {
		save(t, s, bridge.Edit{Chat: club, Target: "B1", Editor: editor, Timestamp: at(seconds), New: says(club, editor, "B1", seconds, text)})
	}
	edit(alice, 2, "by an admin")
	edit(me, 2, "by me")
	edit("", 2, "by nobody")
	if m := message(t, s, club, "B1"); m.Content != "original" || m.EditedAt != nil {
		t.Errorf("edited by somebody else: %+v", m)
	}
	edit(bobLID, 5, "second")
	edit(bob, 4, "first, late")
	m := message(t, s, club, "B1")
	if m.Content != "second" || *m.EditedAt != at(5) || m.Timestamp != at(1) {
		t.Errorf("message: %+v", m)
	}
	sameList(t, "search for the old text", matchIDs(matchesOf(t, s, bridge.SearchQuery{Q: "original"})), []string{})
	sameList(t, "search for the new text", matchIDs(matchesOf(t, s, bridge.SearchQuery{Q: "SECOND"})), []string{"B1"})
}

func TestEdit_InAPrivateChatIsForTheSideThatWrote(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner(), says(alice, alice, "A1", 1, "hers"), iSay(alice, "M1", 2, "mine"))
	edit := func(id string, editor bridge.JID, text string) {
		save(t, s, bridge.Edit{Chat: alice, Target: id, Editor: editor, Timestamp: at(3), New: says(alice, editor, id, 3, text)})
	}
	edit("A1", meLID, "changed by me")
	edit("M1", alice, "changed by her")
	edit("A1", aliceLID, "changed by her, whose LID is not known yet")
	edit("M1", me, "changed by me")
	got := historyOf(t, s, alice)
	sameList(t, "contents", []string{got[0].Content, got[1].Content}, []string{"changed by her, whose LID is not known yet", "changed by me"})
}

func TestEdit_OfACaptionRetainsTheFile(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	picture := says(alice, alice, "A1", 1, "caption")
	picture.MessageType = "imageMessage"
	picture.Media = &bridge.Media{
		Type: bridge.MediaImage, MimeType: "image/png", Caption: "caption", Width: 9,
		Ref: bridge.MediaRef{DirectPath: "/v/1", MediaKey: []byte("key")},
	}
	save(t, s, picture)
	save(t, s, bridge.Edit{Chat: alice, Target: "A1", Editor: alice, Timestamp: at(2), New: says(alice, alice, "A1", 2, "better")})
	m := message(t, s, alice, "A1")
	if m.MessageType != "imageMessage" || m.Content != "better" || m.Media.Caption != "better" || m.Media.Width != 9 ||
		m.Media.Ref.DirectPath != "/v/1" || string(m.Raw) != "raw of A1" {
		t.Errorf("message: %+v", m)
	}
}

func TestDeletion_IsForTheAuthorAndAdmins(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		by   bridge.JID
		want bool
	}{
		"author":             {bob, true},
		"author by LID":      {bobLID, true},
		"admin":              {alice, true},
		"admin by LID":       {aliceLID, true},
		"member":             {carol, false},
		"the account itself": {me, false},
		"a non-member":       {"4917099@s.whatsapp.net", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := clubNight(t)
			save(t, s, bridge.Deletion{Chat: club, Target: "B1", By: test.by, Timestamp: at(9)})
			if got := message(t, s, club, "B1").DeletedAt != nil; got != test.want {
				t.Errorf("deleted: %v, want %v", got, test.want)
			}
		})
	}
}

func TestDeletion_LeavesNothingOfTheMessage(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	m := says(alice, alice, "A1", 1, "secret caption")
	m.Media = &bridge.Media{Type: bridge.MediaImage, Ref: bridge.MediaRef{MediaKey: []byte("key")}}
	m.ContextInfo = &bridge.ContextInfo{QuotedMsgID: ptr("Q1")}
	save(t, s, m, bridge.ReactionChange{Chat: alice, Target: "A1", Sender: alice, Emoji: "👍", Timestamp: at(2)},
		bridge.Deletion{Chat: alice, Target: "A1", By: alice, Timestamp: at(3)})
	want := bridge.Message{
		Chat: alice, ID: "A1", SenderJID: alice, MessageType: "conversation", Timestamp: at(1),
		DeletedAt: ptr(at(3)), Reactions: []bridge.MessageReaction{},
	}
	if diff := cmp.Diff(want, message(t, s, alice, "A1")); diff != "" {
		t.Error(diff)
	}
	sameList(t, "search", matchIDs(matchesOf(t, s, bridge.SearchQuery{Q: "secret"})), []string{})
	save(t, s, m) // delivered again
	save(t, s, bridge.Edit{Chat: alice, Target: "A1", Editor: alice, Timestamp: at(4), New: m},
		bridge.ReactionChange{Chat: alice, Target: "A1", Sender: alice, Emoji: "👍", Timestamp: at(4)})
	if diff := cmp.Diff(want, message(t, s, alice, "A1")); diff != "" {
		t.Error(diff)
	}
}

func TestQuoted_NamesTheFileOfADocument(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	plan, answer := says(alice, alice, "A1", 1, ""), says(alice, alice, "A2", 2, "thanks")
	plan.MessageType, plan.Media = "documentMessage", &bridge.Media{Type: bridge.MediaDocument, FileName: "plan.pdf"}
	answer.ContextInfo = &bridge.ContextInfo{QuotedMsgID: ptr("A1")}
	save(t, s, plan, answer)
	if q := message(t, s, alice, "A2").Quoted; q == nil || q.FileName != "plan.pdf" {
		t.Errorf("quoted: %+v", q)
	}
	save(t, s, bridge.Deletion{Chat: alice, Target: "A1", By: alice, Timestamp: at(3)})
	if q := message(t, s, alice, "A2").Quoted; q == nil || q.FileName != "" || q.DeletedAt == nil {
		t.Errorf("quoted once it was deleted: %+v", q)
	}
}

func TestVote_IsCountedByPerson(t *testing.T) {
	t.Parallel()
	s := clubNight(t)
	poll := says(club, bob, "P1", 2, "Lunch?")
	poll.MessageType = "pollCreationMessage"
	poll.Poll = &bridge.PollTally{Name: "Lunch?", SelectableCount: 2, Options: []bridge.PollOption{{Name: "Suppe"}, {Name: "Reis"}, {Name: "🍕"}}}
	save(t, s, poll)
	vote := func(voter bridge.JID, seconds int, options ...string) {
		f := bridge.PollVote{Chat: club, Target: "P1", Voter: voter, Timestamp: at(seconds)}
		for _, option := range options {
			f.Hashes = append(f.Hashes, sha(option))
		}
		save(t, s, f)
	}
	vote(alice, 3, "Suppe")
	vote(bob, 4, "Reis", "🍕")
	vote(aliceLID, 6, "🍕")
	vote(alice, 5, "Reis") // late
	vote(carol, 7, "Suppe")
	vote(carol, 8)
	want := &bridge.PollTally{Name: "Lunch?", SelectableCount: 2, Options: []bridge.PollOption{
		{Name: "Suppe", Voters: []bridge.JID{}},
		{Name: "Reis", Votes: 1, Voters: []bridge.JID{bob}},
		{Name: "🍕", Votes: 2, Voters: []bridge.JID{alice, bob}},
	}}
	if diff := cmp.Diff(want, historyOf(t, s, club)[1].Poll); diff != "" {
		t.Error(diff)
	}
}

func TestMediaMoved_ChangesOnlyThePath(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	m := says(alice, alice, "A1", 1, "")
	m.Media = &bridge.Media{Type: bridge.MediaImage, Ref: bridge.MediaRef{DirectPath: "/old", MediaKey: []byte("key"), FileSHA256: []byte("sum")}}
	save(t, s, m, bridge.MediaMoved{Chat: alice, ID: "A1", DirectPath: "/new"})
	want := bridge.MediaRef{DirectPath: "/new", MediaKey: []byte("key"), FileSHA256: []byte("sum")}
	if diff := cmp.Diff(want, message(t, s, alice, "A1").Media.Ref); diff != "" {
		t.Error(diff)
	}
}
