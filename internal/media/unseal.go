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

// What a sealed file can be found to be.
var (
	// errAltered means that these are not the bytes that the message names:
	// another host may have the right ones.
	errAltered = errors.New("the hash of the encrypted file is not the message's")
	// The others are the sender's doing: the encrypted bytes are as announced.
	errShort   = errors.New("the encrypted file is too short or no whole number of blocks")
	errForged  = errors.New("the file's MAC is wrong")
	errPadding = errors.New("the file's padding is wrong")
	errPlain   = errors.New("the hash of the decrypted file is not the message's")
	errLength  = errors.New("the length of the file is not the message's")
)

// writeError is a failure of the disk, for which the network is not to blame.
type writeError struct{ err error }

func (e *writeError) Error() string { return "write media file: " + e.err.Error() }
func (e *writeError) Unwrap() error { return e.err }

// unseal decrypts what the CDN sends into dst and verifies it, in one pass. What
// dst has received must not be used unless the error is nil.
func unseal(dst io.Writer, src io.Reader, m *bridge.Media) error {
	keys, err := expand(m.Ref.MediaKey, m.Type)
	if err != nil {
		return err
	}
	block, err := aes.NewCipher(keys.cipher)
	if err != nil {
		return fmt.Errorf("open sealed file: %w", err)
	}
	u := unsealer{cbc: cipher.NewCBCDecrypter(block, keys.iv), dst: dst}
	plainHash, sealedHash, mac := sha256.New(), sha256.New(), hmac.New(sha256.New, keys.mac)
	mac.Write(keys.iv)
	u.plain = newLanes(hashing(plainHash))
	u.sealed = newLanes(hashing(sealedHash), hashing(mac), u.decrypt)
	tag, err := u.run(src)
	u.sealed.close()
	u.plain.close()

	sealedHash.Write(tag)
	switch {
	case u.writeErr != nil:
		return &writeError{u.writeErr}
	case err != nil && !errors.Is(err, errShort):
		return fmt.Errorf("read sealed file: %w", err)
	case !hmac.Equal(sealedHash.Sum(nil), m.Ref.FileEncSHA256):
		return errAltered
	case err != nil:
		return err
	case !hmac.Equal(mac.Sum(nil)[:macSize], tag):
		return errForged
	case u.badPadding:
		return errPadding
	case !hmac.Equal(plainHash.Sum(nil), m.Ref.FileSHA256):
		return errPlain
	case m.Size > 0 && u.size != m.Size:
		return errLength
	}
	return nil
}

// unsealer takes a stream apart. The fields below plain belong to the decrypting
// lane until it has ended, but for failed.
type unsealer struct {
	cbc           cipher.BlockMode
	dst           io.Writer
	sealed, plain *lanes
	size          int64
	badPadding    bool
	writeErr      error
	failed        atomic.Bool // the rest need not be read
}

// run passes the ciphertext on and returns the MAC behind it. The end of a
// stream shows only when it comes, so the bytes that may be the last block and
// the MAC are always carried over into the next piece.
func (u *unsealer) run(src io.Reader) (tag []byte, err error) {
	var carried [slack]byte
	have := 0
	for {
		p := u.sealed.next()
		copy(p.buf[:], carried[:have])
		n, ended, err := fill(p.buf[have:], src)
		switch {
		case err != nil:
			return nil, err
		case ended:
			return u.end(p, have+n)
		case u.failed.Load():
			return nil, nil
		}
		have = copy(carried[:], p.buf[chunkSize:])
		p.data = p.buf[:chunkSize]
		u.sealed.pass(p)
	}
}

// end passes on the last piece, of which n bytes are filled.
func (u *unsealer) end(p *piece, n int) (tag []byte, err error) {
	body := n - macSize
	if body < blockSize || body%blockSize != 0 {
		return append(tag, p.buf[:n]...), errShort
	}
	tag = append(tag, p.buf[body:n]...)
	p.data, p.last = p.buf[:body], true
	u.sealed.pass(p)
	return tag, nil
}

// decrypt is the lane that writes the file.
func (u *unsealer) decrypt(p *piece) {
	if u.writeErr != nil {
		return
	}
	out := u.plain.next()
	out.data = out.buf[:len(p.data)]
	u.cbc.CryptBlocks(out.data, p.data)
	if p.last {
		out.data = u.unpad(out.data)
	}
	u.size += int64(len(out.data))
	if _, err := u.dst.Write(out.data); err != nil {
		u.writeErr = err
		u.failed.Store(true)
	}
	u.plain.pass(out) // only now: the hashing lane gives the piece free
}

// unpad takes PKCS #7 padding off. That it is all of one byte needs no check:
// the MAC and the hash say whether the bytes are the sender's.
func (u *unsealer) unpad(b []byte) []byte {
	n := int(b[len(b)-1])
	if n == 0 || n > blockSize {
		u.badPadding = true
		return b
	}
	return b[:len(b)-n]
}
