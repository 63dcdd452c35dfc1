package store

import (
	"testing"

	"bridged/internal/bridge"
)

// upload is the HD upload of a picture that was sent before.
func upload(chat, sender bridge.JID, target, id string, seconds int, caption string) bridge.Edit {
	m := photo(id, seconds, caption)
	m.Chat, m.SenderJID, m.Raw, m.Media.Width, m.Media.Ref.DirectPath = chat, sender, []byte("raw of "+id), 4000, "/hd/"+id
	hd := m
	hd.ID = target
	return bridge.Edit{Chat: chat, Target: target, Editor: sender, Timestamp: at(seconds), New: hd, Upload: &m}
}

func wantUpload(caption, raw string, edited bool) func(*testing.T, bridge.Message) {
	return func(t *testing.T, m bridge.Message) {
		t.Helper()
		if m.MessageType != "imageMessage" || m.Content != caption || m.Media == nil || m.Media.Caption != caption || m.Media.Width != 4000 ||
			m.Media.Ref.DirectPath != "/hd/HD" || string(m.Raw) != raw || (m.EditedAt != nil) != edited {
			t.Errorf("message %+v with the file %+v and the protobuf %q", m, m.Media, m.Raw)
		}
	}
}

func wantDeleted(t *testing.T, m bridge.Message) {
	t.Helper()
	if m.DeletedAt == nil || m.Content != "" || m.Media != nil || len(m.Raw) != 0 {
		t.Errorf("message: %+v", m)
	}
}

// TestUpload_ReplacesTheFileAlone in whichever order the two and an edit come.
func TestUpload_ReplacesTheFileAlone(t *testing.T) {
	t.Parallel()
	picture, hd := photo("SD", 1, "look"), upload(alice, alice, "SD", "HD", 2, "look")
	deletion := func(id string) bridge.Deletion {
		return bridge.Deletion{Chat: alice, Target: id, By: alice, Timestamp: at(3)}
	}
	for name, test := range map[string]struct {
		facts []bridge.Fact
		id    string // that the message has
		check func(*testing.T, bridge.Message)
	}{
		"with its caption":      {[]bridge.Fact{picture, hd}, "SD", wantUpload("look", "raw of HD", false)},
		"without the caption":   {[]bridge.Fact{picture, upload(alice, alice, "SD", "HD", 2, "")}, "SD", wantUpload("look", "raw of HD + raw of SD", false)},
		"after an edit":         {[]bridge.Fact{picture, recaptioned("SD", 3, "edited"), hd}, "SD", wantUpload("edited", "raw of HD + raw of SD + caption edited", true)},
		"before an edit of it":  {[]bridge.Fact{picture, hd, recaptioned("HD", 3, "edited")}, "SD", wantUpload("edited", "raw of HD + caption edited", true)},
		"before its picture":    {[]bridge.Fact{hd, recaptioned("SD", 3, "edited"), picture}, "HD", wantUpload("edited", "raw of HD + caption edited", true)},
		"of a placeholder":      {[]bridge.Fact{placeholder(alice, alice, "SD", 1), hd, picture}, "SD", wantUpload("look", "raw of HD", false)},
		"from a LID":            {[]bridge.Fact{picture, bridge.Identity{PN: alice, LID: aliceLID}, upload(aliceLID, aliceLID, "SD", "HD", 2, "look")}, "SD", wantUpload("look", "raw of HD", false)},
		"of what is deleted":    {[]bridge.Fact{picture, deletion("SD"), hd}, "SD", wantDeleted},
		"deleted by its own id": {[]bridge.Fact{picture, hd, deletion("HD")}, "SD", wantDeleted},
		"deleted before":        {[]bridge.Fact{deletion("HD"), picture, hd}, "SD", wantDeleted},
	} {
		t.Run(name, func(t *testing.T) {
			s := storeOfEdits(t)
			save(t, s, owner())
			for _, fact := range test.facts {
				save(t, s, fact)
			}
			for range 2 {
				list := historyOf(t, s, alice)
				if len(list) != 1 || list[0].ID != test.id {
					t.Fatalf("messages: %+v", list)
				}
				save(t, s, picture) // told again
			}
			test.check(t, message(t, s, alice, test.id))
			checkCounts(t, s)
		})
	}
}

// TestUpload_ClaimsNobodyElsesMessage, neither one that is stored nor one to come.
func TestUpload_ClaimsNobodyElsesMessage(t *testing.T) {
	t.Parallel()
	s := clubNight(t)
	save(t, s, upload(club, carol, "B1", "C1", 2, "mine"), upload(club, carol, "B2", "C2", 2, "mine"),
		bridge.Deletion{Chat: club, Target: "B3", By: bob, Timestamp: at(3)}, upload(club, carol, "B3", "C3", 2, "mine"),
		bridge.Deletion{Chat: club, Target: "B2", By: bob, Timestamp: at(3)}, rewritten(club, bob, "B4", 2, "edited"),
		says(club, bob, "B2", 1, "deleted"), says(club, bob, "B3", 1, "deleted"))
	sameList(t, "shown", ids(shownIn(t, s, club)), []string{"B1", "C1", "C2", "C3"})
	for _, m := range shownIn(t, s, club) {
		if m.ID != "B1" && m.Content != "mine" || m.ID == "B1" && m.Content != "original" {
			t.Errorf("message: %+v", m)
		}
	}
}

// TestEdit_ReplacedFileIsRemoved from the cache, and no file that stays.
func TestEdit_ReplacedFileIsRemoved(t *testing.T) {
	t.Parallel()
	picture, hd := photo("SD", 1, "look"), upload(alice, alice, "SD", "HD", 2, "look")
	hd.New.Media.Ref.MediaKey, hd.Upload.Media.Ref.MediaKey = []byte("key of HD"), []byte("key of HD")
	whole := photo("SD", 3, "other")
	whole.MessageType, whole.Media.Type, whole.Media.Ref = "videoMessage", bridge.MediaVideo, bridge.MediaRef{DirectPath: "/v/2", MediaKey: []byte("key 2")}
	moved := photo("SD", 3, "moved")
	moved.Media.Ref.DirectPath = "/v/3"
	edit := func(m bridge.Message) bridge.Edit {
		return bridge.Edit{Chat: alice, Target: "SD", Editor: alice, Timestamp: m.Timestamp, New: m}
	}
	for name, test := range map[string]struct {
		edits []bridge.Fact
		want  []string // the keys of the files to remove
	}{
		"by an HD upload":           {[]bridge.Fact{hd}, []string{"image key"}},
		"by an upload told twice":   {[]bridge.Fact{hd, hd}, []string{"image key"}},
		"by a whole new file":       {[]bridge.Fact{edit(whole)}, []string{"image key"}},
		"one after the other":       {[]bridge.Fact{hd, edit(whole)}, []string{"image key", "image key of HD"}},
		"not by a caption":          {[]bridge.Fact{recaptioned("SD", 3, "edited")}, []string{}},
		"not where it has moved":    {[]bridge.Fact{edit(moved)}, []string{}},
		"not by an edit that loses": {[]bridge.Fact{recaptioned("SD", 4, "edited"), edit(whole)}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			s := storeOfEdits(t)
			save(t, s, owner(), picture)
			for _, fact := range test.edits {
				save(t, s, fact)
			}
			files, err := s.ErasedFiles(t.Context(), 10)
			if err != nil {
				t.Fatal(err)
			}
			keys := []string{}
			for _, f := range files {
				keys = append(keys, string(f.Media.Type)+" "+string(f.Media.Ref.MediaKey))
			}
			sameList(t, "files to remove", keys, test.want)
			if drain(s.FilesErased()) != (len(test.want) > 0) {
				t.Error("whoever removes files is told the wrong thing")
			}
		})
	}
}
