package convert

import (
	"bytes"
	"strings"
	"testing"

	"bridged/internal/simnet"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"go.mau.fi/whatsmeow/util/gcmutil"
	waLog "go.mau.fi/whatsmeow/util/log"
	"google.golang.org/protobuf/proto"
)

// TestQuirk_MalformedContentPanics: opened turns the panic into an error.
func TestQuirk_MalformedContentPanics(t *testing.T) {
	for name, decrypt := range map[string]func() ([]byte, error){
		"a nonce of another length": func() ([]byte, error) {
			return gcmutil.Decrypt(make([]byte, 32), []byte("short"), make([]byte, 32), nil)
		},
		"an edit without a type": func() ([]byte, error) {
			_, err := new(whatsmeow.Client).DecryptSecretEncryptedMessage(t.Context(), &events.Message{Message: &waE2E.Message{SecretEncryptedMessage: &waE2E.SecretEncryptedMessage{}}})
			return nil, err
		},
	} {
		if _, err := opened(decrypt); err == nil || !strings.HasPrefix(err.Error(), "malformed") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestQuirk_OpenSecretDecryptsWhatWhatsmeowEncrypts: votes, reactions, comments and others
// that whatsmeow encrypts with a message's secret.
func TestQuirk_OpenSecretDecryptsWhatWhatsmeowEncrypts(t *testing.T) {
	t.Parallel()
	device := simnet.NewDevice(waLog.Noop)
	own, friend := types.NewJID("100", types.HiddenUserServer), types.NewJID("101", types.HiddenUserServer)
	device.ID, device.LID = &types.JID{User: "15550100200", Device: 1, Server: types.DefaultUserServer}, own
	c := whatsmeow.NewClient(device, waLog.Noop) // encrypts without a connection
	ctx, secret := t.Context(), bytes.Repeat([]byte{7}, 32)
	about := types.MessageInfo{ID: "SECRET", MessageSource: types.MessageSource{Chat: friend, Sender: friend}}
	if err := c.Store.MsgSecrets.PutMessageSecret(ctx, about.Chat, about.Sender, about.ID, secret); err != nil {
		t.Fatal(err)
	}
	vote, err := c.BuildPollVote(ctx, &about, []string{"yes"})
	if err != nil {
		t.Fatal(err)
	}
	reaction, err := c.EncryptReaction(ctx, &about, c.BuildReaction(about.Chat, about.Sender, about.ID, "👍").GetReactionMessage())
	if err != nil {
		t.Fatal(err)
	}
	comment, err := c.EncryptComment(ctx, &about, &waE2E.Message{Conversation: proto.String("well")})
	if err != nil {
		t.Fatal(err)
	}
	// whatsmeow has no method for these.
	encrypted := map[whatsmeow.MsgSecretType]*waE2E.SecretEncryptedMessage{}
	for _, use := range []whatsmeow.MsgSecretType{whatsmeow.EncSecretEventResponse, whatsmeow.EncSecretPollAddOption} {
		//lint:ignore SA1019 nothing else encrypts them, and the library's version is pinned
		payload, iv, err := c.DangerousInternals().EncryptMsgSecret(ctx, own, about.Chat, about.Sender, about.ID, use, []byte("something"))
		if err != nil {
			t.Fatal(err)
		}
		encrypted[use] = &waE2E.SecretEncryptedMessage{
			TargetMessageKey: &waCommon.MessageKey{ID: &about.ID}, EncPayload: payload, EncIV: iv,
			SecretEncType: waE2E.SecretEncryptedMessage_POLL_ADD_OPTION.Enum(),
		}
	}
	response := encrypted[whatsmeow.EncSecretEventResponse]
	for name, msg := range map[string]*waE2E.Message{
		"vote": vote, "reaction": {EncReactionMessage: reaction}, "comment": comment,
		"added option":       {SecretEncryptedMessage: encrypted[whatsmeow.EncSecretPollAddOption]},
		"answer to an event": {EncEventResponseMessage: &waE2E.EncEventResponseMessage{EventCreationMessageKey: response.TargetMessageKey, EncPayload: response.EncPayload, EncIV: response.EncIV}},
	} {
		part, ok := encryptedIn(msg)
		if !ok {
			t.Errorf("%s: not encrypted", name)
			continue
		}
		if plain, err := openSecret(part, part.Use, secret, own, about.Sender); err != nil || len(plain) == 0 {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := openSecret(part, part.Use, secret, friend, about.Sender); err == nil {
			t.Errorf("%s: decrypted as another person's", name)
		}
	}
}
