package chats

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"bridged/internal/bridge"
	"bridged/internal/console/names"
)

// Changes of a group are told as the apps do, by the names that the visitor knows.
func TestChangeTexts(t *testing.T) {
	me, ada, bea, cem, dan, layla := bridge.JID("15550000001@s.whatsapp.net"), bridge.JID("15550000002@s.whatsapp.net"), bridge.JID("15550000003@s.whatsapp.net"), bridge.JID("15550000004@s.whatsapp.net"), bridge.JID("15550000005@s.whatsapp.net"), bridge.JID("15550000006@s.whatsapp.net")
	n := names.Names{Me: me, Known: map[bridge.JID]string{ada: "Ada", bea: "Bea", cem: "Cem", dan: "Dan", layla: "ليلى"}}
	for want, change := range map[string]bridge.GroupChanges{
		"Ada added you":                   {By: ada, Added: []bridge.JID{me}},
		"ليلى added you":                  {By: layla, Added: []bridge.JID{me}},
		"Bea joined":                      {By: bea, Added: []bridge.JID{bea}},
		"You removed Bea and Cem":         {By: me, Removed: []bridge.JID{bea, cem}},
		"You left":                        {By: me, Left: []bridge.JID{me}},
		"Ada, Bea, Cem and 1 more joined": {Added: []bridge.JID{ada, bea, cem, dan}},
		"Ada made Bea admin":              {By: ada, Promoted: []bridge.JID{bea}},
		"An admin changed the group name to “Walks”":                                 {Subject: &bridge.Change[string]{Old: "x", New: "Walks"}},
		"Ada allowed only admins to send messages":                                   {By: ada, IsAnnounce: &bridge.Change[bool]{New: true}},
		"Bea allowed all members to add members":                                     {By: bea, MemberAddMode: &bridge.Change[bridge.MemberAddMode]{Old: bridge.AddedByAdmins, New: bridge.AddedByEveryone}},
		"Ada turned on disappearing messages: new messages disappear after 24 hours": {By: ada, Expiration: &bridge.Change[uint32]{New: 86400}},
		"You turned off disappearing messages":                                       {By: me, Expiration: &bridge.Change[uint32]{Old: 86400}},
	} {
		if diff := cmp.Diff([]string{want}, changeTexts(&change, n)); diff != "" {
			t.Error(diff)
		}
	}
	if got := changeTexts(nil, n); got != nil {
		t.Errorf("no change is %q", got)
	}
}
