package wa_test

import (
	"fmt"
	"testing"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

func recaption(id, caption string) *waE2E.Message {
	return &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{
		Type: waE2E.ProtocolMessage_MESSAGE_EDIT.Enum(), Key: &waCommon.MessageKey{ID: &id, FromMe: proto.Bool(true)},
		EditedMessage: &waE2E.Message{ImageMessage: &waE2E.ImageMessage{Caption: &caption}},
	}}
}

// TestPart_AnHDUploadReplacesItsPicture without a trace, whichever comes first, and
// counts as the same message: editing or deleting either changes it.
func TestPart_AnHDUploadReplacesItsPicture(t *testing.T) {
	t.Parallel()
	for name, late := range map[string][]string{"in order": nil, "the upload first": {"SD"}, "the edit first": {"SD", "HD"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := testContext(t)
			network := newNetwork(t)
			a := newAccount(t, network)
			friend := newPhone(t, network, "15550100301", "Sam")
			chat := jidOf(friend)
			must := func(_ string, err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			a.device().HoldBack(late...)
			must(friend.SendImage(ctx, a.phone.PN(), simnet.Media{Data: []byte("small"), Caption: "before", Width: 100}, simnet.WithID("SD")))
			must(friend.SendImage(ctx, a.phone.PN(), simnet.Media{Data: []byte("large picture"), Caption: "before", Width: 4000}, simnet.WithID("HD"),
				simnet.PartOf("SD", waE2E.MessageAssociation_HD_IMAGE_DUAL_UPLOAD)))
			if name != "the edit first" {
				must(friend.SendText(ctx, a.phone.PN(), "behind it", simnet.WithID("BEHIND1")))
				eventually(t, "the upload", func() bool { return len(a.messages(chat)) == 2 })
				if m := a.messages(chat)[0]; m.EditedAt != nil || m.Media == nil || m.Media.Width != 4000 || m.Media.Size != int64(len("large picture")) || m.Content != "before" {
					t.Errorf("picture: %+v %+v", m, m.Media)
				}
			}
			must(friend.Send(ctx, a.phone.PN(), recaption("HD", "after")))
			must(friend.ReactTo(ctx, a.phone.PN(), friend.PN(), "SD", "👍"))
			must(friend.SendText(ctx, a.phone.PN(), "behind it", simnet.WithID("BEHIND2")))
			eventually(t, "the edit", func() bool { return isStored(a, chat, "BEHIND2") })
			a.device().Release()
			must(friend.SendText(ctx, a.phone.PN(), "behind it", simnet.WithID("BEHIND3")))
			eventually(t, "what comes behind it", func() bool { return isStored(a, chat, "BEHIND3") })
			m := only(t, a, chat, "imageMessage")
			if m.EditedAt == nil || m.Content != "after" || m.Media == nil || m.Media.Width != 4000 || len(m.Reactions) != 1 {
				t.Errorf("edited: %+v %+v", m, m.Media)
			}
			must(friend.Revoke(ctx, a.phone.PN(), "HD"))
			eventually(t, "the deletion", func() bool { return a.message(chat, m.ID).DeletedAt != nil })
		})
	}
}

// TestPart_TheFilmOfAMotionPhotoIsNoMessage, nor is the copy of a film.
func TestPart_TheFilmOfAMotionPhotoIsNoMessage(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	for i, kind := range []waE2E.MessageAssociation_AssociationType{
		waE2E.MessageAssociation_MOTION_PHOTO, waE2E.MessageAssociation_HEVC_VIDEO_DUAL_UPLOAD, waE2E.MessageAssociation_MEDIA_ALBUM,
	} {
		parent := fmt.Sprintf("PARENT%d", i)
		if _, err := friend.SendImage(ctx, a.phone.PN(), simnet.Media{Data: []byte("picture")}, simnet.WithID(parent)); err != nil {
			t.Fatal(err)
		}
		if _, err := friend.SendVideo(ctx, a.phone.PN(), simnet.Media{Data: []byte("film")}, simnet.PartOf(parent, kind), simnet.WithID(kind.String())); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the last", func() bool { return isStored(a, jidOf(friend), waE2E.MessageAssociation_MEDIA_ALBUM.String()) })
	if list := a.messages(jidOf(friend)); len(list) != 4 {
		t.Errorf("%d messages, want three pictures and a film of an album: %+v", len(list), list)
	}
}

func isStored(a *account, chat bridge.JID, id string) bool {
	_, err := a.store.Message(testContext(a.t), chat, id)
	return err == nil
}

// only returns the only message of a type.
func only(t *testing.T, a *account, chat bridge.JID, kind string) (found bridge.Message) {
	t.Helper()
	for _, m := range a.messages(chat) {
		if m.MessageType != kind {
			continue
		}
		if found.ID != "" {
			t.Errorf("two of them: %+v and %+v", found, m)
		}
		found = m
	}
	return found
}
