package simnet

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waGroupHistory"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/util/cbcutil"
	"go.mau.fi/whatsmeow/util/hkdfutil"
	"google.golang.org/protobuf/proto"

	"bridged/internal/simnet/content"
	"bridged/internal/simnet/wire"
)

// ShareHistory sends messages of the group to a new member, as the apps do on request of the member who added them. Messages are as in the
// history of the member's phone: FromMe is the member.
func (g *Group) ShareHistory(ctx context.Context, by, with *Phone, messages ...*content.PastInfo) (types.MessageID, error) {
	raw, err := proto.Marshal(&waGroupHistory.GroupHistory{Messages: messages})
	if err != nil {
		return "", fmt.Errorf("marshal the shared messages: %w", err)
	}
	var compressed bytes.Buffer
	writer := zlib.NewWriter(&compressed)
	if _, err := writer.Write(raw); err != nil {
		return "", fmt.Errorf("compress the shared messages: %w", err)
	}
	if err := writer.Close(); err != nil {
		return "", fmt.Errorf("compress the shared messages: %w", err)
	}
	uploaded, err := by.uploadShared(ctx, compressed.Bytes())
	if err != nil {
		return "", fmt.Errorf("upload the shared messages: %w", err)
	}
	return by.Send(ctx, g.jid, &waE2E.Message{MessageHistoryBundle: &waE2E.MessageHistoryBundle{
		Mimetype: proto.String("application/protobuf"), FileSHA256: uploaded.FileSHA256, MediaKey: uploaded.MediaKey,
		FileEncSHA256: uploaded.FileEncSHA256, DirectPath: &uploaded.DirectPath,
		MessageHistoryMetadata: &waE2E.MessageHistoryMetadata{HistoryReceivers: []string{with.LID().String()}, MessageCount: proto.Int64(int64(len(messages)))},
	}})
}

// uploadShared encrypts and uploads a file with the keys of shared messages, which whatsmeow does not know. The address is that of a history: the
// media server does not look at it.
func (p *Phone) uploadShared(ctx context.Context, data []byte) (uploaded whatsmeow.UploadResponse, err error) {
	hash := sha256.Sum256(data)
	uploaded.MediaKey, uploaded.FileSHA256 = wire.Random(32), append([]byte(nil), hash[:]...)
	keys := hkdfutil.SHA256(uploaded.MediaKey, nil, []byte("Group History"), 112)
	iv, macKey := keys[:16], keys[48:80]
	encrypted, err := cbcutil.Encrypt(keys[16:48], iv, data)
	if err != nil {
		return uploaded, err
	}
	mac := hmac.New(sha256.New, macKey)
	mac.Write(iv)
	mac.Write(encrypted)
	encrypted = append(encrypted, mac.Sum(nil)[:10]...)
	hash = sha256.Sum256(encrypted)
	uploaded.FileEncSHA256 = hash[:]
	//lint:ignore SA1019 whatsmeow's own Upload takes no other keys, and the library's version is pinned
	internals := p.client.DangerousInternals()
	err = internals.RawUpload(ctx, bytes.NewReader(encrypted), uint64(len(encrypted)), uploaded.FileEncSHA256, whatsmeow.MediaHistory, false, &uploaded)
	return uploaded, err
}
