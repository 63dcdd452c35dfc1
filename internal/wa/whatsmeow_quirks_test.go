package wa

import (
	"strings"
	"testing"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types/events"
	"go.mau.fi/whatsmeow/util/gcmutil"
)

// TestOpened_MalformedIsAnError names what whatsmeow panics at.
func TestOpened_MalformedIsAnError(t *testing.T) {
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
