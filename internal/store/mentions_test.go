package store

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
	"bridged/internal/store/read"
)

// hails is a message of Carol's that mentions people.
func hails(text string, people ...bridge.JID) bridge.Message {
	m := says(club, carol, "M1", 1, text)
	m.ContextInfo = &bridge.ContextInfo{MentionedJID: people}
	return m
}

func TestMentions_NameEachPersonOnceWithTheirWord(t *testing.T) {
	t.Parallel()
	both := bridge.Identity{PN: alice, LID: aliceLID}
	named := bridge.Contact{JID: alice, Name: ptr("Alice")}
	byNumber, byLID := "@"+alice.User(), "@"+aliceLID.User()
	for name, test := range map[string]struct {
		facts []bridge.Fact
		want  []bridge.Mention
	}{
		"number and LID of one":        {[]bridge.Fact{both, named, hails("hi "+byLID+"!", alice, aliceLID)}, []bridge.Mention{{JID: alice, LID: aliceLID, Name: "Alice", Token: &byLID}}},
		"word is the number":           {[]bridge.Fact{both, named, hails("hi "+byNumber, aliceLID)}, []bridge.Mention{{JID: alice, LID: aliceLID, Name: "Alice", Token: &byNumber}}},
		"one form known":               {[]bridge.Fact{hails(byLID, aliceLID)}, []bridge.Mention{{JID: aliceLID, LID: aliceLID, Token: &byLID}}},
		"number alone":                 {[]bridge.Fact{hails(byNumber, alice)}, []bridge.Mention{{JID: alice, Token: &byNumber}}},
		"mapping learned later":        {[]bridge.Fact{hails(byLID+" or "+byNumber, alice, aliceLID), both, named}, []bridge.Mention{{JID: alice, LID: aliceLID, Name: "Alice", Token: &byLID}}},
		"former LID":                   {[]bridge.Fact{both, hails(byLID, aliceLID), bridge.Identity{PN: alice, LID: "99@lid"}}, []bridge.Mention{{JID: alice, LID: "99@lid", Token: &byLID}}},
		"not in the text":              {[]bridge.Fact{both, hails("hi", alice)}, []bridge.Mention{{JID: alice, LID: aliceLID}}},
		"beginning of a longer number": {[]bridge.Fact{hails(byNumber+"0", alice)}, []bridge.Mention{{JID: alice}}},
		"two people": {
			[]bridge.Fact{hails("@@ "+byNumber+"@"+bob.User()+" a@b", bob, alice)},
			[]bridge.Mention{{JID: bob, Token: ptr("@" + bob.User())}, {JID: alice, Token: &byNumber}},
		},
		"nobody": {[]bridge.Fact{func() bridge.Message {
			m := hails("@everybody")
			m.ContextInfo.QuotedMsgID = ptr("Q")
			return m
		}()}, []bridge.Mention{}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			save(t, s, test.facts...)
			c := message(t, s, club, "M1").ContextInfo
			if diff := cmp.Diff(test.want, c.Mentions); diff != "" {
				t.Error(diff)
			}
			jids := []bridge.JID{}
			for _, m := range test.want {
				jids = append(jids, m.JID)
			}
			if diff := cmp.Diff(jids, c.MentionedJID); diff != "" || c.MentionsAll {
				t.Errorf("mentionedJid: %s, all: %v", diff, c.MentionsAll)
			}
		})
	}
}

func TestMentions_All(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	m := says(club, carol, "M1", 1, "@all come")
	m.ContextInfo = &bridge.ContextInfo{MentionsAll: true}
	save(t, s, m)
	if c := message(t, s, club, "M1").ContextInfo; c == nil || !c.MentionsAll || len(c.Mentions) != 0 || c.MentionedJID == nil {
		t.Errorf("context: %+v", c)
	}
}

// TestMentions_AreLookedForSoFar: a text of nothing but words with an @ costs
// no page its time.
func TestMentions_AreLookedForSoFar(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, hails("@"+alice.User()+strings.Repeat("@1", read.MaxTokens)+"@"+bob.User(), alice, bob))
	c := message(t, s, club, "M1").ContextInfo
	if c.Mentions[0].Token == nil || c.Mentions[1].Token != nil {
		t.Errorf("mentions: %+v", c.Mentions)
	}
}
