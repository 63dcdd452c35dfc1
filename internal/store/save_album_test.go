package store

import (
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/store/read"
)

func album(chat, sender bridge.JID, id string, seconds int) bridge.Message {
	m := says(chat, sender, id, seconds, "")
	m.MessageType, m.Album = "albumMessage", &bridge.Album{Images: 3}
	return m
}

func albumPart(chat, sender bridge.JID, id, album string, seconds int) bridge.Message {
	m := says(chat, sender, id, seconds, "")
	m.MessageType, m.Media, m.AlbumID = "imageMessage", &bridge.Media{Type: bridge.MediaImage}, &album
	return m
}

// TestAlbum_CountsItsParts before it and after it, of its author alone, less those
// that were deleted; each is told.
func TestAlbum_CountsItsParts(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, owner(), albumPart(club, bobLID, "EARLY", "ALBUM", 1), album(club, bobLID, "ALBUM", 2), placeholder(club, bobLID, "LATE", 4))
	arrived := func(what string, want int) {
		t.Helper()
		if m := message(t, s, club, "ALBUM"); m.Album == nil || m.Album.Arrived != want {
			t.Errorf("%s: %+v", what, m.Album)
		}
	}
	arrived("an early part", 1)
	before := lastNumber(t, s)
	save(t, s, albumPart(club, bobLID, "NEXT", "ALBUM", 3))
	sameList(t, "a part is told", toldSince(t, s, before), []bridge.EventType{bridge.EventMessageCreated, bridge.EventMessageUpdated})
	before = lastNumber(t, s)
	save(t, s, albumPart(club, bobLID, "NEXT", "ALBUM", 3))
	sameList(t, "the same part again", toldSince(t, s, before), nil)
	save(t, s, albumPart(club, bobLID, "LATE", "ALBUM", 4), albumPart(club, carol, "FORGED", "ALBUM", 5), albumPart(alice, alice, "ELSEWHERE", "ALBUM", 5),
		albumPart(club, bobLID, "OTHER", "ANOTHER", 5))
	arrived("three of the author's", 3)
	save(t, s, bridge.Identity{PN: bob, LID: bobLID}, album(club, bob, "ANOTHER", 6))
	arrived("by another name", 3)
	before = lastNumber(t, s)
	save(t, s, bridge.Deletion{Chat: club, Target: "NEXT", By: bob, Timestamp: at(9)})
	sameList(t, "a deletion is told", toldSince(t, s, before), []bridge.EventType{bridge.EventMessageUpdated, bridge.EventMessageUpdated})
	arrived("one deleted", 2)
	if m := message(t, s, club, "LATE"); m.AlbumID == nil || *m.AlbumID != "ALBUM" {
		t.Errorf("the part names %v", m.AlbumID)
	}
	if m := message(t, s, club, "NEXT"); m.AlbumID != nil {
		t.Errorf("the deleted part names %v", *m.AlbumID)
	}
	if _, err := s.Retain(t.Context(), at(2).Time); err != nil {
		t.Fatal(err)
	}
	arrived("one too old", 1)
	save(t, s, bridge.Deletion{Chat: club, Target: "ALBUM", By: bob, Timestamp: at(10)})
	if m := message(t, s, club, "ALBUM"); m.Album != nil {
		t.Errorf("a deleted album: %+v", m.Album)
	}
}

// TestAlbum_OfSomebodyElseTakesNoPart: a message that names another author's album shows no
// album, wherever it is read, also if the album is stored after it. An event says so then.
func TestAlbum_OfSomebodyElseTakesNoPart(t *testing.T) {
	t.Parallel()
	for name, albumFirst := range map[string]bool{"album first": true, "album last": false} {
		s := newStore(t)
		its, forged, other := album(club, bob, "ALBUM", 1), albumPart(club, carol, "FORGED", "ALBUM", 2), albumPart(club, carol, "OPEN", "UNSTORED", 3)
		if albumFirst {
			save(t, s, owner(), its)
			save(t, s, forged, other, albumPart(club, bob, "OWN", "ALBUM", 4))
		} else {
			save(t, s, owner(), forged, other, albumPart(club, bob, "OWN", "ALBUM", 4))
			if m := message(t, s, club, "FORGED"); m.AlbumID == nil {
				t.Error("before the album is stored, its author is not known")
			}
			before := lastNumber(t, s)
			save(t, s, its)
			changed := map[string][]bridge.MessageField{}
			updates := bridge.EventFilter{Types: []bridge.EventType{bridge.EventMessageUpdated}}
			for _, e := range events(t, s, read.EventQuery{After: before, EventFilter: updates}).Events {
				changed[e.Message.ID] = e.Changes.Fields
				if e.Message.AlbumID != nil {
					t.Errorf("the event shows the album %s", *e.Message.AlbumID)
				}
			}
			sameList(t, "the album changed", changed["FORGED"], []bridge.MessageField{bridge.ChangedAlbumID})
			if len(changed) != 1 {
				t.Errorf("changed messages: %v", changed)
			}
		}
		listed := map[string]*string{}
		for _, m := range historyOf(t, s, club) {
			listed[m.ID] = m.AlbumID
		}
		for what, id := range map[string]*string{"the list": listed["FORGED"], "the message": message(t, s, club, "FORGED").AlbumID} {
			if id != nil {
				t.Errorf("%s: %s names %s", name, what, *id)
			}
		}
		if listed["OWN"] == nil || listed["OPEN"] == nil || message(t, s, club, "OPEN").AlbumID == nil {
			t.Errorf("%s: the author's part or the part of an unknown album lost its album", name)
		}
	}
}

// TestAlbum_OfChatsThatBecomeOne has the parts of both.
func TestAlbum_OfChatsThatBecomeOne(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, album(alice, alice, "ALBUM", 1), albumPart(alice, alice, "ONE", "ALBUM", 2), albumPart(aliceLID, aliceLID, "TWO", "ALBUM", 3),
		albumPart(aliceLID, aliceLID, "ONE", "ALBUM", 2))
	save(t, s, bridge.Identity{PN: alice, LID: aliceLID})
	if m := message(t, s, alice, "ALBUM"); m.Album.Arrived != 2 {
		t.Errorf("%+v", m.Album)
	}
}

// TestAlbum_AnHDUploadIsThePartThatItReplaces, whichever of the two comes first.
func TestAlbum_AnHDUploadIsThePartThatItReplaces(t *testing.T) {
	t.Parallel()
	for name, uploadFirst := range map[string]bool{"picture first": false, "upload first": true} {
		s := newStore(t)
		picture, hd := albumPart(alice, alice, "SMALL", "ALBUM", 2), says(alice, alice, "HD", 3, "")
		picture.Media.Ref = bridge.MediaRef{DirectPath: "/small", MediaKey: []byte("1")}
		hd.MessageType, hd.Media = "imageMessage", &bridge.Media{Type: bridge.MediaImage, Size: 9, Ref: bridge.MediaRef{DirectPath: "/hd", MediaKey: []byte("2")}}
		edited := hd
		edited.ID = "SMALL"
		facts := []bridge.Fact{picture, bridge.Edit{Chat: alice, Target: "SMALL", Editor: alice, Timestamp: at(3), New: edited, Upload: &hd}}
		if uploadFirst {
			facts[0], facts[1] = facts[1], facts[0]
		}
		save(t, s, album(alice, alice, "ALBUM", 1))
		save(t, s, facts[0])
		save(t, s, facts[1])
		list := historyOf(t, s, alice)
		if len(list) != 2 || list[0].Album.Arrived != 1 || list[1].AlbumID == nil || message(t, s, alice, list[1].ID).Media.Ref.DirectPath != "/hd" {
			t.Errorf("%s: %+v, %+v %+v", name, list, list[0].Album, message(t, s, alice, list[1].ID).Media)
		}
	}
}
