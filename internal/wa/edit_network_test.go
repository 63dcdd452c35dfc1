package wa_test

import (
	"testing"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
	"bridged/internal/simnet"
)

// TestEdit_OfACaptionIsForwardedAndQuoted as lists show it.
func TestEdit_OfACaptionIsForwardedAndQuoted(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	id, err := friend.SendImage(ctx, a.phone.PN(), simnet.Media{Data: []byte("picture"), Mimetype: "image/png", Caption: "befor"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = friend.Send(ctx, a.phone.PN(), &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{
		Type: waE2E.ProtocolMessage_MESSAGE_EDIT.Enum(), Key: &waCommon.MessageKey{ID: &id, FromMe: proto.Bool(true)},
		EditedMessage: &waE2E.Message{ImageMessage: &waE2E.ImageMessage{Caption: proto.String("after")}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the edit", func() bool {
		list := a.messages(jidOf(friend))
		return len(list) == 1 && list[0].Content == "after" && list[0].Media != nil
	})
	source, err := a.store.Message(ctx, jidOf(friend), id)
	if err != nil {
		t.Fatal(err)
	}
	forwarded, err := a.manager.Send(ctx, bridge.Outgoing{To: jidOf(friend), Content: bridge.Forward{Source: source}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := friend.ReceivedID(ctx, forwarded.ID)
	if err != nil {
		t.Fatal(err)
	}
	if image := got.Message.Message.GetImageMessage(); image.GetCaption() != "after" || len(image.GetMediaKey()) == 0 {
		t.Errorf("forwarded: %v", got.Message)
	}
	answer, err := a.manager.Send(ctx, bridge.Outgoing{To: jidOf(friend), Content: bridge.Text{Text: "nice"}, Quote: &source})
	if err != nil {
		t.Fatal(err)
	}
	if got, err = friend.ReceivedID(ctx, answer.ID); err != nil {
		t.Fatal(err)
	}
	if quoted := got.Message.Message.GetExtendedTextMessage().GetContextInfo().GetQuotedMessage().GetImageMessage(); quoted.GetCaption() != "after" {
		t.Errorf("quoted: %v", quoted)
	}
}
