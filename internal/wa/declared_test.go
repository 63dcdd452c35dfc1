package wa_test

import (
	"testing"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"bridged/internal/bridge"
)

// TestResend_OfAFileThatComputersRefuse covers rows that earlier versions left pending: their files are declared anew, or
// refused.
func TestResend_OfAFileThatComputersRefuse(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	network := newNetwork(t)
	a := newAccount(t, network)
	friend := newPhone(t, network, "15550100301", "Sam")
	up, err := a.phone.Upload(ctx, []byte("OggS\x00\x02 some head OpusHead and so on"), whatsmeow.MediaAudio)
	if err != nil {
		t.Fatal(err)
	}
	for declared, isOpened := range map[string]bool{"audio/ogg": true, "audio/ogg;codecs=opus": true, "audio/wav": false} {
		raw, err := proto.Marshal(&waE2E.Message{AudioMessage: &waE2E.AudioMessage{
			URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey, FileSHA256: up.FileSHA256, FileEncSHA256: up.FileEncSHA256,
			FileLength: &up.FileLength, Mimetype: &declared,
		}})
		if err != nil {
			t.Fatal(err)
		}
		pending := bridge.DeliveryPending
		row := bridge.Message{
			Chat: jidOf(friend), ID: "3EB0" + declared, FromMe: true, MessageType: "audioMessage", Raw: raw,
			Timestamp: bridge.At(time.Now()), Status: &pending,
		}
		if err := a.store.Save(ctx, row); err != nil {
			t.Fatal(err)
		}
		sent, err := a.manager.Resend(ctx, row)
		if !isOpened {
			if bridge.CodeOf(err) != bridge.CodeUnsupportedMedia {
				t.Errorf("%s: %v", declared, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(declared, err)
		}
		got, err := friend.ReceivedID(ctx, sent.ID)
		if err != nil {
			t.Fatal(declared, err)
		}
		if _, err := friend.Computer().Open(ctx, got); err != nil {
			t.Errorf("%s: %v", declared, err)
		}
	}
}
