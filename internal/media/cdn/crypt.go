package cdn

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"sync"

	"bridged/internal/bridge"
)

const (
	mediaKeySize = 32
	macSize      = 10 // the network truncates the HMAC-SHA256 to this many bytes
	blockSize    = aes.BlockSize
	chunkSize    = 128 << 10 // bytes of a stream in memory, a multiple of the block size
	// trailerSize is the most that can follow the whole blocks of a file: the padding
	// when encrypting, the last block and the MAC when decrypting.
	trailerSize = blockSize + macSize
)

// The faults of an encrypted file.
var (
	errAltered = errors.New("the hash of the encrypted file is not the message's") // another host may have the right bytes
	// The others are the sender's fault: the encrypted bytes are as announced.
	errShort   = errors.New("the encrypted file is too short, or not a whole number of blocks")
	errForged  = errors.New("the file's MAC is wrong")
	errPadding = errors.New("the file's padding is wrong")
)

// mediaClass names a type of media in the derivation of keys and in addresses.
type mediaClass struct {
	info string // in the key derivation
	mms  string // in the CDN's addresses
}

// mediaClasses has the class of each type of media. WhatsApp treats stickers as images.
var mediaClasses = map[bridge.MediaType]mediaClass{
	bridge.MediaImage:    {"WhatsApp Image Keys", "image"},
	bridge.MediaSticker:  {"WhatsApp Image Keys", "image"},
	bridge.MediaVideo:    {"WhatsApp Video Keys", "video"},
	bridge.MediaAudio:    {"WhatsApp Audio Keys", "audio"},
	bridge.MediaDocument: {"WhatsApp Document Keys", "document"},
}

type fileKeys struct {
	iv, mac []byte
	block   cipher.Block
}

// newMAC returns the MAC of a file, which begins with the initial vector.
func (k fileKeys) newMAC() hash.Hash {
	mac := hmac.New(sha256.New, k.mac)
	mac.Write(k.iv)
	return mac
}

// expand derives the keys of a file from its media key.
func expand(mediaKey []byte, t bridge.MediaType) (fileKeys, error) {
	f, known := mediaClasses[t]
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
	block, err := aes.NewCipher(b[16:48])
	return fileKeys{iv: b[:16], mac: b[48:80], block: block}, err
}

// EncryptedSize returns the size of a file of n bytes on the CDN: padded, with its MAC.
func EncryptedSize(n int64) int64 { return n - n%blockSize + trailerSize }

// Encrypt encrypts src into dst under a new key, in one pass and in constant memory.
func Encrypt(dst io.Writer, src io.Reader, t bridge.MediaType) (f bridge.EncryptedFile, err error) {
	f.MediaKey = make([]byte, mediaKeySize)
	rand.Read(f.MediaKey) // never fails
	keys, err := expand(f.MediaKey, t)
	if err != nil {
		return f, err
	}
	cbc := cipher.NewCBCEncrypter(keys.block, keys.iv)
	plainHash, encryptedHash, mac := sha256.New(), sha256.New(), keys.newMAC()
	plain, encrypted := make([]byte, chunkSize+blockSize), make([]byte, chunkSize+blockSize)
	for ended := false; !ended; {
		n := 0
		if n, ended, err = fill(plain[:chunkSize], src); err != nil {
			return f, fmt.Errorf("read file to encrypt: %w", err)
		}
		f.Size += int64(n)
		blocks := plain[:n]
		if ended { // PKCS #7
			padding := blockSize - n%blockSize
			blocks = append(blocks, bytes.Repeat([]byte{byte(padding)}, padding)...)
		}
		out := encrypted[:len(blocks)]
		together(func() { cbc.CryptBlocks(out, blocks) }, func() { plainHash.Write(blocks[:n]) })
		together(func() { _, err = dst.Write(out); encryptedHash.Write(out) }, func() { mac.Write(out) })
		if err != nil {
			return f, err
		}
	}
	tag := mac.Sum(nil)[:macSize]
	encryptedHash.Write(tag)
	if _, err := dst.Write(tag); err != nil {
		return f, err
	}
	f.FileSHA256, f.FileEncSHA256, f.EncryptedSize = plainHash.Sum(nil), encryptedHash.Sum(nil), EncryptedSize(f.Size)
	return f, nil
}

// together runs two steps at the same time: with two processors, BenchmarkDownload takes
// two thirds of the time.
func together(first, second func()) {
	var other sync.WaitGroup
	other.Go(second)
	first()
	other.Wait()
}

// fill reads until b is full or src has ended. [io.ReadFull] would not do: it returns
// [io.ErrUnexpectedEOF] both for an end and for a connection that broke off.
func fill(b []byte, src io.Reader) (n int, ended bool, err error) {
	for n < len(b) {
		read, err := src.Read(b[n:])
		n += read
		if errors.Is(err, io.EOF) {
			return n, true, nil
		}
		if err != nil {
			return n, false, err
		}
	}
	return n, false, nil
}

// Content identifies the bytes of a decrypted file.
type Content struct {
	Sha256 []byte
	Size   int64
}

// Decrypt decrypts a file from the CDN into dst and verifies it, in one pass: by its MAC,
// and by the hash of the encrypted bytes if the message has one. After an error, the bytes in dst
// must not be used.
//
// It ignores the sender's size and hash of the plaintext: in real messages they are
// sometimes wrong.
func Decrypt(dst io.Writer, src io.Reader, m *bridge.Media) (Content, error) {
	keys, err := expand(m.Ref.MediaKey, m.Type)
	if err != nil {
		return Content{}, err
	}
	cbc := cipher.NewCBCDecrypter(keys.block, keys.iv)
	plainHash, encryptedHash, mac := sha256.New(), sha256.New(), keys.newMAC()
	buf, plain := make([]byte, chunkSize+trailerSize), make([]byte, chunkSize+trailerSize)
	var size int64
	var padding, have int // have counts the bytes in buf
	var invalid error
	for ended := false; !ended; {
		n := 0
		if n, ended, err = fill(buf[have:], src); err != nil {
			return Content{}, fmt.Errorf("read encrypted file: %w", err)
		}
		have += n
		body := buf[:chunkSize] // what follows may be the last block and the MAC
		if ended {
			if have < blockSize+macSize || (have-macSize)%blockSize != 0 {
				invalid = errShort
				break
			}
			body = buf[:have-macSize]
		}
		out := plain[:len(body)]
		together(func() { encryptedHash.Write(body); mac.Write(body) }, func() {
			cbc.CryptBlocks(out, body)
			if ended {
				// The padding's other bytes need no check: the MAC proves that they are the sender's.
				if padding = int(out[len(out)-1]); padding >= 1 && padding <= blockSize {
					out = out[:len(out)-padding]
				}
			}
			_, err = dst.Write(out)
			plainHash.Write(out)
		})
		if err != nil {
			return Content{}, err
		}
		size += int64(len(out))
		have = copy(buf, buf[len(body):have])
	}
	tag := buf[:have]
	encryptedHash.Write(tag)
	switch {
	case hasEncryptedHash(m) && !hmac.Equal(encryptedHash.Sum(nil), m.Ref.FileEncSHA256):
		return Content{}, errAltered
	case invalid != nil:
		return Content{}, invalid
	case !hmac.Equal(mac.Sum(nil)[:macSize], tag):
		return Content{}, errForged
	case padding < 1 || padding > blockSize:
		return Content{}, errPadding
	}
	return Content{Sha256: plainHash.Sum(nil), Size: size}, nil
}

// Identity identifies the file of a message: by the hash of its encrypted bytes, which decrypt
// checks, and by its key. The contents that a sender claims do not count. Without that hash, the
// path on the CDN identifies the file, which does not last.
func Identity(m *bridge.Media) (id string, isLasting bool, err error) {
	if _, err := expand(m.Ref.MediaKey, m.Type); err != nil {
		return "", false, err
	}
	isLasting = hasEncryptedHash(m)
	bytes := []byte(m.Ref.DirectPath)
	if isLasting {
		bytes = m.Ref.FileEncSHA256
		if len(bytes) != sha256.Size {
			return "", false, fmt.Errorf("the hash of the encrypted file has %d bytes, not %d", len(bytes), sha256.Size)
		}
	}
	h := sha256.New()
	h.Write(bytes)
	h.Write(m.Ref.MediaKey)
	h.Write([]byte(mediaClasses[m.Type].info))
	return hex.EncodeToString(h.Sum(nil)), isLasting, nil
}

func hasEncryptedHash(m *bridge.Media) bool { return len(m.Ref.FileEncSHA256) > 0 }
