package media

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"

	"bridged/internal/bridge"
)

// Seal encrypts src into dst under a new key, in one pass and at flat memory.
func Seal(dst io.Writer, src io.Reader, t bridge.MediaType) (bridge.Sealed, error) {
	key := make([]byte, mediaKeySize)
	rand.Read(key) // never fails
	keys, err := expand(key, t)
	if err != nil {
		return bridge.Sealed{}, err
	}
	block, err := aes.NewCipher(keys.cipher)
	if err != nil {
		return bridge.Sealed{}, fmt.Errorf("seal file: %w", err)
	}
	s := sealer{cbc: cipher.NewCBCEncrypter(block, keys.iv), dst: dst}
	plainHash, sealedHash, mac := sha256.New(), sha256.New(), hmac.New(sha256.New, keys.mac)
	mac.Write(keys.iv)
	s.plain = newLanes(hashing(plainHash))
	s.sealed = newLanes(hashing(sealedHash), hashing(mac))
	err = s.run(src)
	s.plain.close()
	s.sealed.close()
	if err != nil {
		return bridge.Sealed{}, err
	}
	tag := mac.Sum(nil)[:macSize]
	sealedHash.Write(tag)
	if _, err := dst.Write(tag); err != nil {
		return bridge.Sealed{}, fmt.Errorf("write sealed file: %w", err)
	}
	return bridge.Sealed{MediaKey: key, FileSHA256: plainHash.Sum(nil), FileEncSHA256: sealedHash.Sum(nil),
		Size: s.size, SealedSize: sealedSize(s.size)}, nil
}

type sealer struct {
	cbc           cipher.BlockMode
	dst           io.Writer
	plain, sealed *lanes
	size          int64
}

func (s *sealer) run(src io.Reader) error {
	for {
		p := s.plain.next()
		n, last, err := fill(p.buf[:chunkSize], src)
		if err != nil {
			return fmt.Errorf("read file to seal: %w", err)
		}
		s.size += int64(n)
		p.data = p.buf[:n]
		padded := p.data
		if last {
			padded = pad(p.data)
		}
		s.plain.pass(p) // hashes the data; the padding behind it is ours
		if err := s.encrypt(padded); err != nil || last {
			return err
		}
	}
}

func (s *sealer) encrypt(plain []byte) error {
	p := s.sealed.next()
	p.data = p.buf[:len(plain)]
	s.cbc.CryptBlocks(p.data, plain)
	if _, err := s.dst.Write(p.data); err != nil {
		return fmt.Errorf("write sealed file: %w", err)
	}
	s.sealed.pass(p)
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
