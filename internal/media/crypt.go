package media

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"bridged/internal/bridge"
)

const (
	mediaKeySize = 32
	macSize      = 10 // the network truncates the HMAC-SHA256 to this many bytes
	blockSize    = aes.BlockSize
)

// What can be wrong with an encrypted file.
var (
	// errAltered means that the bytes are not those that the message names: another
	// host may have the right ones.
	errAltered = errors.New("the hash of the encrypted file is not the message's")
	// The others are the sender's fault: the encrypted bytes are as announced.
	errShort   = errors.New("the encrypted file is too short, or not a whole number of blocks")
	errForged  = errors.New("the file's MAC is wrong")
	errPadding = errors.New("the file's padding is wrong")
)

// writeError is a failure of the disk, as opposed to one of the network.
type writeError struct{ err error }

func (e *writeError) Error() string { return "write media file: " + e.err.Error() }
func (e *writeError) Unwrap() error { return e.err }

// family names a kind of media in the derivation of keys and in addresses.
type family struct {
	info string // in the key derivation
	mms  string // in the CDN's addresses
}

// families has an entry for each type of media. Stickers are images to the
// network, and voice notes are audio.
var families = map[bridge.MediaType]family{
	bridge.MediaImage:    {"WhatsApp Image Keys", "image"},
	bridge.MediaSticker:  {"WhatsApp Image Keys", "image"},
	bridge.MediaVideo:    {"WhatsApp Video Keys", "video"},
	bridge.MediaAudio:    {"WhatsApp Audio Keys", "audio"},
	bridge.MediaDocument: {"WhatsApp Document Keys", "document"},
}

// fileKeys are the keys that one media key expands to.
type fileKeys struct{ iv, cipher, mac []byte }

// expand derives the keys of a file from its media key.
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

// encryptedSize returns the size of a file of n bytes on the CDN: padded, with its
// MAC.
func encryptedSize(n int64) int64 { return n - n%blockSize + trailerSize }

// Encrypt encrypts src into dst under a new key, in one pass and in constant memory.
func Encrypt(dst io.Writer, src io.Reader, t bridge.MediaType) (bridge.EncryptedFile, error) {
	key := make([]byte, mediaKeySize)
	rand.Read(key) // never fails
	keys, err := expand(key, t)
	if err != nil {
		return bridge.EncryptedFile{}, err
	}
	block, err := aes.NewCipher(keys.cipher)
	if err != nil {
		return bridge.EncryptedFile{}, fmt.Errorf("encrypt file: %w", err)
	}
	e := encrypter{cbc: cipher.NewCBCEncrypter(block, keys.iv), dst: dst}
	plainHash, encryptedHash, mac := sha256.New(), sha256.New(), hmac.New(sha256.New, keys.mac)
	mac.Write(keys.iv)
	e.plain = newPipeline(hashing(plainHash))
	e.encrypted = newPipeline(hashing(encryptedHash), hashing(mac))
	err = e.run(src)
	e.plain.close()
	e.encrypted.close()
	if err != nil {
		return bridge.EncryptedFile{}, err
	}
	tag := mac.Sum(nil)[:macSize]
	encryptedHash.Write(tag)
	if _, err := dst.Write(tag); err != nil {
		return bridge.EncryptedFile{}, &writeError{err}
	}
	return bridge.EncryptedFile{
		MediaKey: key, FileSHA256: plainHash.Sum(nil), FileEncSHA256: encryptedHash.Sum(nil),
		Size: e.size, EncryptedSize: encryptedSize(e.size),
	}, nil
}

type encrypter struct {
	cbc              cipher.BlockMode
	dst              io.Writer
	plain, encrypted *pipeline
	size             int64
}

// run encrypts and writes all of src but the MAC.
func (e *encrypter) run(src io.Reader) error {
	for {
		c := e.plain.next()
		n, last, err := fill(c.buf[:chunkSize], src)
		if err != nil {
			return fmt.Errorf("read file to encrypt: %w", err)
		}
		e.size += int64(n)
		c.data = c.buf[:n]
		padded := c.data
		if last {
			padded = pad(c.data)
		}
		e.plain.pass(c) // hashes the data; the padding behind it is ours
		if err := e.write(padded); err != nil || last {
			return err
		}
	}
}

// write encrypts whole blocks and writes them.
func (e *encrypter) write(plain []byte) error {
	c := e.encrypted.next()
	c.data = c.buf[:len(plain)]
	e.cbc.CryptBlocks(c.data, plain)
	if _, err := e.dst.Write(c.data); err != nil {
		return &writeError{err}
	}
	e.encrypted.pass(c)
	return nil
}

// pad appends PKCS #7 padding within the capacity of b.
func pad(b []byte) []byte {
	n := blockSize - len(b)%blockSize
	for range n {
		b = append(b, byte(n))
	}
	return b
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

// content identifies the bytes of a decrypted file.
type content struct {
	sha256 []byte
	size   int64
}

// decrypt decrypts a file from the CDN into dst and verifies it, in one pass: by its
// MAC, and by the hash of the encrypted bytes if the message has one. The bytes
// written to dst must not be used unless the error is nil.
//
// It does not compare the result with the size and the hash that the sender gives
// for the plaintext: in real messages they are sometimes wrong.
func decrypt(dst io.Writer, src io.Reader, m *bridge.Media) (content, error) {
	keys, err := expand(m.Ref.MediaKey, m.Type)
	if err != nil {
		return content{}, err
	}
	block, err := aes.NewCipher(keys.cipher)
	if err != nil {
		return content{}, fmt.Errorf("decrypt file: %w", err)
	}
	d := decrypter{cbc: cipher.NewCBCDecrypter(block, keys.iv), dst: dst}
	plainHash, encryptedHash, mac := sha256.New(), sha256.New(), hmac.New(sha256.New, keys.mac)
	mac.Write(keys.iv)
	d.plain = newPipeline(hashing(plainHash))
	d.encrypted = newPipeline(hashing(encryptedHash), hashing(mac), d.decrypt)
	tag, err := d.run(src)
	d.encrypted.close()
	d.plain.close()

	encryptedHash.Write(tag)
	switch {
	case d.writeErr != nil:
		return content{}, &writeError{d.writeErr}
	case err != nil && !errors.Is(err, errShort):
		return content{}, fmt.Errorf("read encrypted file: %w", err)
	case hasEncryptedHash(m) && !hmac.Equal(encryptedHash.Sum(nil), m.Ref.FileEncSHA256):
		return content{}, errAltered
	case err != nil:
		return content{}, err
	case !hmac.Equal(mac.Sum(nil)[:macSize], tag):
		return content{}, errForged
	case d.badPadding:
		return content{}, errPadding
	}
	return content{sha256: plainHash.Sum(nil), size: d.size}, nil
}

// hasEncryptedHash reports whether the message gives a hash of the encrypted file.
func hasEncryptedHash(m *bridge.Media) bool { return len(m.Ref.FileEncSHA256) > 0 }

// decrypter splits a stream into chunks. The fields below plain belong to the
// decrypting worker until it has ended, except failed.
type decrypter struct {
	cbc              cipher.BlockMode
	dst              io.Writer
	encrypted, plain *pipeline
	size             int64
	badPadding       bool
	writeErr         error
	failed           atomic.Bool // the rest need not be read
}

// run passes the ciphertext on and returns the MAC that follows it. The end of a
// stream is known only when it is reached, so the bytes that may be the last block
// and the MAC are always carried over into the next chunk.
func (d *decrypter) run(src io.Reader) (tag []byte, err error) {
	var carried [trailerSize]byte
	have := 0
	for {
		c := d.encrypted.next()
		copy(c.buf[:], carried[:have])
		n, ended, err := fill(c.buf[have:], src)
		switch {
		case err != nil:
			return nil, err
		case ended:
			return d.end(c, have+n)
		case d.failed.Load():
			return nil, nil
		}
		have = copy(carried[:], c.buf[chunkSize:])
		c.data = c.buf[:chunkSize]
		d.encrypted.pass(c)
	}
}

// end passes on the last chunk, of which n bytes are filled.
func (d *decrypter) end(c *chunk, n int) (tag []byte, err error) {
	body := n - macSize
	if body < blockSize || body%blockSize != 0 {
		return append(tag, c.buf[:n]...), errShort
	}
	tag = append(tag, c.buf[body:n]...)
	c.data, c.last = c.buf[:body], true
	d.encrypted.pass(c)
	return tag, nil
}

// decrypt decrypts a chunk and writes it. It runs as a worker.
func (d *decrypter) decrypt(c *chunk) {
	if d.writeErr != nil {
		return
	}
	out := d.plain.next()
	out.data = out.buf[:len(c.data)]
	d.cbc.CryptBlocks(out.data, c.data)
	if c.last {
		out.data = d.unpad(out.data)
	}
	d.size += int64(len(out.data))
	if _, err := d.dst.Write(out.data); err != nil {
		d.writeErr = err
		d.failed.Store(true)
	}
	d.plain.pass(out) // only now: the hashing worker frees the chunk
}

// unpad removes PKCS #7 padding. Its bytes need no further check: the MAC proves
// that they are the sender's.
func (d *decrypter) unpad(b []byte) []byte {
	n := int(b[len(b)-1])
	if n == 0 || n > blockSize {
		d.badPadding = true
		return b
	}
	return b[:len(b)-n]
}
