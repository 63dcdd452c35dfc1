package cdn

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"io"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/media/mediatest"
)

const largeFile = 100 << 20

// BenchmarkDecrypt measures decryption without the network.
func BenchmarkDecrypt(b *testing.B) {
	m, encrypted := mediatest.EncryptedMedia(b, bridge.MediaVideo, mediatest.RandomBytes(largeFile))
	b.SetBytes(largeFile)
	for b.Loop() {
		if _, err := Decrypt(io.Discard, bytes.NewReader(encrypted), m); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncrypt(b *testing.B) {
	plain := mediatest.RandomBytes(largeFile)
	b.SetBytes(largeFile)
	for b.Loop() {
		if _, err := Encrypt(io.Discard, bytes.NewReader(plain), bridge.MediaVideo); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCipher measures AES-CBC alone, for comparison.
func BenchmarkCipher(b *testing.B) {
	block, err := aes.NewCipher(make([]byte, 32))
	if err != nil {
		b.Fatal(err)
	}
	data, iv := make([]byte, largeFile), make([]byte, 16)
	b.Run("decrypt", func(b *testing.B) {
		b.SetBytes(largeFile)
		for b.Loop() {
			cipher.NewCBCDecrypter(block, iv).CryptBlocks(data, data)
		}
	})
	b.Run("encrypt", func(b *testing.B) {
		b.SetBytes(largeFile)
		for b.Loop() {
			cipher.NewCBCEncrypter(block, iv).CryptBlocks(data, data)
		}
	})
}
