package media

import (
	"errors"
	"fmt"

	"go.mau.fi/whatsmeow/proto/waMmsRetry"
	"go.mau.fi/whatsmeow/util/gcmutil"
	"google.golang.org/protobuf/proto"

	"bridged/internal/simnet/wire"
)

// CheckRequest fails unless the request proves knowledge of the file's key.
func CheckRequest(request *wire.Node, id string, key []byte) error {
	encrypted, iv := wire.ChildBytes(request, "encrypt", "enc_p"), wire.ChildBytes(request, "encrypt", "enc_iv")
	if len(iv) != 12 {
		return errors.New("a media request without nonce")
	}
	if _, err := gcmutil.Decrypt(key, iv, encrypted, []byte(id)); err != nil {
		return fmt.Errorf("decrypt a media request: %w", err)
	}
	return nil
}

// EncryptAnswer returns the encrypted answer to such a request.
func EncryptAnswer(notification *waMmsRetry.MediaRetryNotification, id string, key []byte) (wire.Node, error) {
	plain, err := proto.Marshal(notification)
	if err != nil {
		return wire.Node{}, fmt.Errorf("marshal a media answer: %w", err)
	}
	iv := wire.Random(12)
	encrypted, err := gcmutil.Encrypt(key, iv, plain, []byte(id))
	if err != nil {
		return wire.Node{}, fmt.Errorf("encrypt a media answer: %w", err)
	}
	return wire.Node{Tag: "encrypt", Content: []wire.Node{{Tag: "enc_p", Content: encrypted}, {Tag: "enc_iv", Content: iv}}}, nil
}
