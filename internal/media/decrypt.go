package media

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"bridged/internal/bridge"
)

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
