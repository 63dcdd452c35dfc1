package wa

import (
	"bytes"
	"testing"

	"bridged/internal/wa/convert"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"
)

// TestQuirk_SecretsSealAsOpenSecretOpens: votes, reactions, comments and others that
// whatsmeow encrypts with a message's secret.
func TestQuirk_SecretsSealAsOpenSecretOpens(t *testing.T) {
	t.Parallel()
	c := newPlainClient(t)
	ctx, secret := plainContext(t), bytes.Repeat([]byte{7}, 32)
	about := types.MessageInfo{ID: "SECRET", MessageSource: types.MessageSource{Chat: c.friend.LID(), Sender: c.friend.LID()}}
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
	// For these whatsmeow has no method.
	sealed := map[whatsmeow.MsgSecretType]*waE2E.SecretEncryptedMessage{}
	for _, use := range []whatsmeow.MsgSecretType{whatsmeow.EncSecretEventResponse, whatsmeow.EncSecretPollAddOption} {
		//lint:ignore SA1019 nothing else encrypts them, and the library's version is pinned
		payload, iv, err := c.DangerousInternals().EncryptMsgSecret(ctx, c.Store.GetLID(), about.Chat, about.Sender, about.ID, use, []byte("something"))
		if err != nil {
			t.Fatal(err)
		}
		sealed[use] = &waE2E.SecretEncryptedMessage{TargetMessageKey: &waCommon.MessageKey{ID: &about.ID}, EncPayload: payload, EncIV: iv,
			SecretEncType: waE2E.SecretEncryptedMessage_POLL_ADD_OPTION.Enum()}
	}
	response := sealed[whatsmeow.EncSecretEventResponse]
	for name, msg := range map[string]*waE2E.Message{
		"vote": vote, "reaction": {EncReactionMessage: reaction}, "comment": comment,
		"added option":       {SecretEncryptedMessage: sealed[whatsmeow.EncSecretPollAddOption]},
		"answer to an event": {EncEventResponseMessage: &waE2E.EncEventResponseMessage{EventCreationMessageKey: response.TargetMessageKey, EncPayload: response.EncPayload, EncIV: response.EncIV}},
	} {
		part, ok := convert.Encrypted(msg)
		if !ok {
			t.Errorf("%s: not sealed", name)
			continue
		}
		if plain, err := convert.OpenSecret(part, part.Use, secret, c.Store.GetLID(), about.Sender); err != nil || len(plain) == 0 {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := convert.OpenSecret(part, part.Use, secret, c.friend.LID(), about.Sender); err == nil {
			t.Errorf("%s: opened as somebody else's", name)
		}
	}
}
