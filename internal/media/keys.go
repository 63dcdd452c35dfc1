package media

import (
	"crypto/hkdf"
	"crypto/sha256"
	"fmt"

	"bridged/internal/bridge"
)

const (
	mediaKeySize = 32
	macSize      = 10 // the network cuts the HMAC-SHA256 to so many bytes
	blockSize    = 16 // of AES
)

// family is what the network derives keys and addresses by.
type family struct {
	info string // of the key derivation
	mms  string // the name of the kind in the CDN's addresses
}

// Stickers are images to the network, and voice notes are audio.
var families = map[bridge.MediaType]family{
	bridge.MediaImage:    {"WhatsApp Image Keys", "image"},
	bridge.MediaSticker:  {"WhatsApp Image Keys", "image"},
	bridge.MediaVideo:    {"WhatsApp Video Keys", "video"},
	bridge.MediaAudio:    {"WhatsApp Audio Keys", "audio"},
	bridge.MediaDocument: {"WhatsApp Document Keys", "document"},
}

// fileKeys are what one media key expands to.
type fileKeys struct{ iv, cipher, mac []byte }

func expand(mediaKey []byte, t bridge.MediaType) (fileKeys, error) {
	f, known := families[t]
	if !known {
		return fileKeys{}, fmt.Errorf("expand media key: unknown kind of media %q", t)
	}
	if len(mediaKey) != mediaKeySize {
		return fileKeys{}, fmt.Errorf("expand media key: %d bytes long, not %d", len(mediaKey), mediaKeySize)
	}
	// The last 32 of the 112 bytes are a reference key that no client uses.
	b, err := hkdf.Key(sha256.New, mediaKey, nil, f.info, 112)
	if err != nil {
		return fileKeys{}, fmt.Errorf("expand media key: %w", err)
	}
	return fileKeys{iv: b[:16], cipher: b[16:48], mac: b[48:80]}, nil
}

// sealedSize is how long a file of n bytes is on the CDN: padded and with its MAC.
func sealedSize(n int64) int64 { return n - n%blockSize + blockSize + macSize }
