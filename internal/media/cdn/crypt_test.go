package cdn

import (
	"bytes"
	"crypto/cipher"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/iotest"

	"bridged/internal/bridge"
	"bridged/internal/fuzzbudget"
	"bridged/internal/media/disk"
	"bridged/internal/media/mediatest"
)

// testSizes are around all the boundaries at which streams are cut.
var testSizes = []int{
	0, 1, 15, 16, 17, 5000, chunkSize - trailerSize, chunkSize - 17, chunkSize - 16, chunkSize - 10, chunkSize - 1, chunkSize,
	chunkSize + 1, chunkSize + 16, 2*chunkSize - 1, 2 * chunkSize, 9*chunkSize + 12345,
}

func TestEncrypt_IsWhatTheNetworksClientsOpen(t *testing.T) {
	for kind, info := range mediatest.Infos {
		for _, size := range testSizes {
			t.Run(fmt.Sprintf("%s/%d", kind, size), func(t *testing.T) {
				plain := mediatest.RandomBytes(size)
				var out bytes.Buffer
				got, err := Encrypt(&out, iotest.HalfReader(bytes.NewReader(plain)), kind)
				if err != nil {
					t.Fatal(err)
				}
				want := mediatest.PlainEncrypt(t, plain, info, got.MediaKey)
				if !bytes.Equal(out.Bytes(), want) {
					t.Fatal("other bytes than a plain encryption under the same key")
				}
				plainHash, encryptedHash := sha256.Sum256(plain), sha256.Sum256(want)
				if !bytes.Equal(got.FileSHA256, plainHash[:]) || !bytes.Equal(got.FileEncSHA256, encryptedHash[:]) {
					t.Error("wrong hashes")
				}
				if got.Size != int64(size) || got.EncryptedSize != int64(len(want)) {
					t.Errorf("sizes %d and %d, want %d and %d", got.Size, got.EncryptedSize, size, len(want))
				}
			})
		}
	}
}

func TestEncrypt_NeverUsesAKeyTwice(t *testing.T) {
	first, err := Encrypt(io.Discard, bytes.NewReader(nil), bridge.MediaImage)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Encrypt(io.Discard, bytes.NewReader(nil), bridge.MediaImage)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(first.MediaKey, second.MediaKey) {
		t.Error("the same key for two files")
	}
}

func TestEncrypt_ReportsWhatBreaks(t *testing.T) {
	broken := errors.New("broken")
	big := bytes.NewReader(mediatest.RandomBytes(3 * chunkSize))
	if _, err := Encrypt(io.Discard, io.MultiReader(big, iotest.ErrReader(broken)), bridge.MediaImage); !errors.Is(err, broken) {
		t.Errorf("reading: got %v", err)
	}
	if _, err := Encrypt(&failingWriter{left: chunkSize, err: broken}, bytes.NewReader(mediatest.RandomBytes(3*chunkSize)), bridge.MediaImage); !errors.Is(err, broken) {
		t.Errorf("writing: got %v", err)
	}
	if _, err := Encrypt(&failingWriter{left: 16, err: broken}, bytes.NewReader([]byte("x")), bridge.MediaImage); !errors.Is(err, broken) {
		t.Errorf("writing the MAC: got %v", err)
	}
	if _, err := Encrypt(io.Discard, bytes.NewReader(nil), "poem"); err == nil {
		t.Error("encrypted a kind that has no keys")
	}
	// A stream that broke off is not a stream that ended.
	if _, err := Encrypt(io.Discard, iotest.ErrReader(io.ErrUnexpectedEOF), bridge.MediaImage); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("broken off: got %v", err)
	}
}

// failingWriter takes a number of bytes and then fails.
type failingWriter struct {
	left int
	err  error
}

func (w *failingWriter) Write(p []byte) (int, error) {
	if len(p) > w.left {
		return 0, w.err
	}
	w.left -= len(p)
	return len(p), nil
}

func TestDecrypt_OpensWhatTheNetworksClientsEncrypt(t *testing.T) {
	for kind := range mediatest.Infos {
		for _, size := range testSizes {
			t.Run(fmt.Sprintf("%s/%d", kind, size), func(t *testing.T) {
				plain := mediatest.RandomBytes(size)
				m, encrypted := mediatest.EncryptedMedia(t, kind, plain)
				for name, src := range map[string]io.Reader{
					"at once": bytes.NewReader(encrypted), "halves": iotest.HalfReader(bytes.NewReader(encrypted)), "end with data": iotest.DataErrReader(bytes.NewReader(encrypted)),
				} {
					var out bytes.Buffer
					if _, err := Decrypt(&out, src, m); err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					if !bytes.Equal(out.Bytes(), plain) {
						t.Fatalf("%s: other bytes than were encrypted", name)
					}
				}
			})
		}
	}
}

func TestDecrypt_RefusesWhatIsNotWhole(t *testing.T) {
	plain := mediatest.RandomBytes(3*chunkSize + 77)
	flip := func(b []byte, at int) []byte { b = bytes.Clone(b); b[at] ^= 1; return b }
	// rewritten describes other encrypted bytes as truthfully as their sender could.
	rewritten := func(m *bridge.Media, b []byte) (*bridge.Media, []byte) {
		hash := sha256.Sum256(b)
		m.Ref.FileEncSHA256 = hash[:]
		return m, b
	}
	for name, c := range map[string]struct {
		change func(*bridge.Media, []byte) (*bridge.Media, []byte)
		want   error
	}{
		"first byte":     {func(m *bridge.Media, b []byte) (*bridge.Media, []byte) { return m, flip(b, 0) }, errAltered},
		"middle":         {func(m *bridge.Media, b []byte) (*bridge.Media, []byte) { return m, flip(b, len(b)/2) }, errAltered},
		"MAC":            {func(m *bridge.Media, b []byte) (*bridge.Media, []byte) { return m, flip(b, len(b)-1) }, errAltered},
		"byte short":     {func(m *bridge.Media, b []byte) (*bridge.Media, []byte) { return m, b[:len(b)-1] }, errAltered},
		"block short":    {func(m *bridge.Media, b []byte) (*bridge.Media, []byte) { return m, b[:len(b)-16] }, errAltered},
		"empty":          {func(m *bridge.Media, b []byte) (*bridge.Media, []byte) { return m, nil }, errAltered},
		"forged bytes":   {func(m *bridge.Media, b []byte) (*bridge.Media, []byte) { return rewritten(m, flip(b, 5)) }, errForged},
		"forged MAC":     {func(m *bridge.Media, b []byte) (*bridge.Media, []byte) { return rewritten(m, flip(b, len(b)-1)) }, errForged},
		"no blocks":      {func(m *bridge.Media, b []byte) (*bridge.Media, []byte) { return rewritten(m, b[:len(b)-3]) }, errShort},
		"MAC alone":      {func(m *bridge.Media, b []byte) (*bridge.Media, []byte) { return rewritten(m, b[:10]) }, errShort},
		"nothing at all": {func(m *bridge.Media, b []byte) (*bridge.Media, []byte) { return rewritten(m, nil) }, errShort},
		"other kind":     {func(m *bridge.Media, b []byte) (*bridge.Media, []byte) { m.Type = bridge.MediaVideo; return m, b }, errForged},
	} {
		t.Run(name, func(t *testing.T) {
			m, encrypted := c.change(mediatest.EncryptedMedia(t, bridge.MediaDocument, plain))
			if _, err := Decrypt(io.Discard, bytes.NewReader(encrypted), m); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

// A message without the hash of the encrypted file leaves the MAC to decide.
func TestDecrypt_TheMACDecidesWhereThereIsNoHash(t *testing.T) {
	plain := mediatest.RandomBytes(chunkSize + 77)
	m, encrypted := mediatest.EncryptedMedia(t, bridge.MediaImage, plain)
	m.Ref.FileEncSHA256, m.Ref.FileSHA256, m.Size = nil, nil, 0
	sum := sha256.Sum256(plain)
	if got, err := Decrypt(io.Discard, bytes.NewReader(encrypted), m); err != nil || got.Size != int64(len(plain)) || !bytes.Equal(got.Sha256, sum[:]) {
		t.Errorf("got %d bytes: %v", got.Size, err)
	}
	for at, want := range map[int]error{5: errForged, len(encrypted) - 1: errForged} {
		forged := bytes.Clone(encrypted)
		forged[at] ^= 1
		if _, err := Decrypt(io.Discard, bytes.NewReader(forged), m); !errors.Is(err, want) {
			t.Errorf("byte %d: got %v, want %v", at, err, want)
		}
	}
}

func TestDecrypt_ReportsPadding(t *testing.T) {
	m, _ := mediatest.EncryptedMedia(t, bridge.MediaImage, nil)
	keys, err := expand(m.Ref.MediaKey, m.Type)
	if err != nil {
		t.Fatal(err)
	}
	encrypted := make([]byte, 16) // sixteen zeros are no padding
	cipher.NewCBCEncrypter(keys.block, keys.iv).CryptBlocks(encrypted, encrypted)
	mac := keys.newMAC()
	mac.Write(encrypted)
	encrypted = append(encrypted, mac.Sum(nil)[:10]...)
	hash := sha256.Sum256(encrypted)
	m.Ref.FileEncSHA256 = hash[:]
	if _, err := Decrypt(io.Discard, bytes.NewReader(encrypted), m); !errors.Is(err, errPadding) {
		t.Errorf("got %v, want %v", err, errPadding)
	}
}

func TestDecrypt_TellsTheDiskFromTheNetwork(t *testing.T) {
	m, encrypted := mediatest.EncryptedMedia(t, bridge.MediaImage, mediatest.RandomBytes(20*chunkSize))
	full := errors.New("full")
	_, err := Decrypt(disk.Room(nil).Writer(&failingWriter{left: chunkSize, err: full}), bytes.NewReader(encrypted), m)
	if write := (*disk.WriteError)(nil); !errors.As(err, &write) || !errors.Is(err, full) {
		t.Errorf("disk: got %v", err)
	}
	_, err = Decrypt(io.Discard, io.MultiReader(bytes.NewReader(encrypted[:len(encrypted)/2]), iotest.ErrReader(io.ErrUnexpectedEOF)), m)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("network: got %v", err)
	}
}

func FuzzDecrypt(f *testing.F) {
	f.Add([]byte(nil))
	f.Add(mediatest.RandomBytes(26))
	f.Add(mediatest.RandomBytes(chunkSize + 100))
	m, encrypted := mediatest.EncryptedMedia(f, bridge.MediaImage, []byte("hello"))
	f.Add(encrypted)
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzbudget.Usual.Check(t, len(b), func() {
			_, err := Decrypt(io.Discard, bytes.NewReader(b), m)
			if (err == nil) != bytes.Equal(b, encrypted) {
				t.Errorf("%d bytes: %v", len(b), err)
			}
		})
	})
}
