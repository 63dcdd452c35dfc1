package wire

import (
	"bytes"
	"context"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waCert"
	"go.mau.fi/whatsmeow/proto/waWa6"
	"go.mau.fi/whatsmeow/socket"
	"go.mau.fi/whatsmeow/util/gcmutil"
	"go.mau.fi/whatsmeow/util/keys"
	"golang.org/x/crypto/hkdf"
	"google.golang.org/protobuf/proto"
)

// rootKey returns the root key of all networks of this process. whatsmeow checks against a package variable, so there can be only one,
// written before the first client exists.
var rootKey = sync.OnceValue(func() *keys.KeyPair {
	pair := keys.NewKeyPair()
	whatsmeow.WACertPubKey = *pair.Pub
	return pair
})

// Identity holds the server's static key and the certificate chain from the root to it.
type Identity struct {
	Root   [32]byte
	static *keys.KeyPair
	chain  []byte
}

// NewIdentity generates a static key and signs it with the root key.
func NewIdentity() (*Identity, error) {
	root, intermediate, static := rootKey(), keys.NewKeyPair(), keys.NewKeyPair()
	first, err := signNoiseCertificate(root, intermediate, 1, whatsmeow.WACertIssuerSerial)
	if err != nil {
		return nil, err
	}
	leaf, err := signNoiseCertificate(intermediate, static, 2, 1)
	if err != nil {
		return nil, err
	}
	chain, err := proto.Marshal(&waCert.CertChain{Intermediate: first, Leaf: leaf})
	if err != nil {
		return nil, fmt.Errorf("marshal the Noise certificates: %w", err)
	}
	return &Identity{Root: *root.Pub, static: static, chain: chain}, nil
}

func signNoiseCertificate(issuer, subject *keys.KeyPair, serial, issuerSerial uint32) (*waCert.CertChain_NoiseCertificate, error) {
	details, err := proto.Marshal(&waCert.CertChain_NoiseCertificate_Details{
		Serial:       proto.Uint32(serial),
		IssuerSerial: proto.Uint32(issuerSerial),
		Key:          subject.Pub[:],
		NotBefore:    proto.Uint64(uint64(time.Now().Add(-time.Hour).Unix())),
		NotAfter:     proto.Uint64(uint64(time.Now().Add(10 * 365 * 24 * time.Hour).Unix())),
	})
	if err != nil {
		return nil, fmt.Errorf("marshal a Noise certificate: %w", err)
	}
	signature := ecc.CalculateSignature(ecc.NewDjbECPrivateKey(*issuer.Priv), details)
	return &waCert.CertChain_NoiseCertificate{Details: details, Signature: signature[:]}, nil
}

// session holds the result of a handshake: two ciphers with their counters, and the client's identity.
type session struct {
	send, receive       cipher.AEAD
	sent, received      uint32
	clientStatic        [32]byte
	payload             *waWa6.ClientPayload
	sendNonce, recvNone [12]byte
}

func (s *session) seal(dst, plaintext []byte) []byte {
	binary.BigEndian.PutUint32(s.sendNonce[8:], s.sent)
	s.sent++
	return s.send.Seal(dst, s.sendNonce[:], plaintext, nil)
}

func (s *session) open(ciphertext []byte) ([]byte, error) {
	binary.BigEndian.PutUint32(s.recvNone[8:], s.received)
	s.received++
	return s.receive.Open(ciphertext[:0], s.recvNone[:], ciphertext, nil)
}

// handshaker implements the responder's side of Noise_XX_25519_AESGCM_SHA256. The symmetric state is whatsmeow's own.
type handshaker struct {
	*socket.NoiseHandshake
	// salt duplicates a hidden field of whatsmeow's state, because the final keys are derived the other way round here.
	salt []byte
}

func (h *handshaker) mix(private, public [32]byte) error {
	secret, err := ECDH(private, public)
	if err != nil {
		return err
	}
	if err = h.MixIntoKey(secret); err != nil {
		return err
	}
	h.salt, _ = expandTwo(h.salt, secret)
	return nil
}

func expandTwo(salt, secret []byte) (first, second []byte) {
	out := make([]byte, 64)
	if _, err := io.ReadFull(hkdf.New(sha256.New, secret, salt, nil), out); err != nil {
		panic(fmt.Errorf("hkdf cannot run out after 64 bytes: %w", err))
	}
	return out[:32], out[32:]
}

// frameSource reads one whole frame; frameSink writes one.
type (
	frameSource func(context.Context) ([]byte, error)
	frameSink   func(context.Context, []byte) error
)

// handshake performs the server's side of a client's handshake; the prologue includes the header.
func (id *Identity) handshake(ctx context.Context, prologue []byte, read frameSource, write frameSink) (*session, error) {
	if !bytes.Equal(prologue, socket.WAConnHeader) {
		return nil, fmt.Errorf("the client speaks another dictionary: header %x", prologue)
	}
	h := &handshaker{NoiseHandshake: socket.NewNoiseHandshake(), salt: []byte(socket.NoiseStartPattern)}
	h.Start(socket.NoiseStartPattern, prologue)
	ephemeral, err := id.hello(ctx, h, read, write)
	if err != nil {
		return nil, err
	}
	session, err := finish(ctx, h, ephemeral, read)
	if err != nil {
		return nil, err
	}
	fromClient, toClient := expandTwo(h.salt, nil)
	if session.receive, err = gcmutil.Prepare(fromClient); err != nil {
		return nil, err
	}
	session.send, err = gcmutil.Prepare(toClient)
	return session, err
}

func (id *Identity) hello(ctx context.Context, h *handshaker, read frameSource, write frameSink) (own *keys.KeyPair, err error) {
	var msg waWa6.HandshakeMessage
	if err = readProto(ctx, read, &msg); err != nil {
		return nil, err
	}
	if len(msg.GetClientHello().GetEphemeral()) != 32 {
		return nil, errors.New("client hello without an ephemeral key")
	}
	client := [32]byte(msg.GetClientHello().GetEphemeral())
	own = keys.NewKeyPair()
	h.Authenticate(client[:])
	h.Authenticate(own.Pub[:])
	if err = h.mix(*own.Priv, client); err != nil {
		return nil, err
	}
	static := h.Encrypt(id.static.Pub[:])
	if err = h.mix(*id.static.Priv, client); err != nil {
		return nil, err
	}
	return own, writeProto(ctx, write, &waWa6.HandshakeMessage{ServerHello: &waWa6.HandshakeMessage_ServerHello{
		Ephemeral: own.Pub[:],
		Static:    static,
		Payload:   h.Encrypt(id.chain),
	}})
}

func finish(ctx context.Context, h *handshaker, ephemeral *keys.KeyPair, read frameSource) (*session, error) {
	var msg waWa6.HandshakeMessage
	if err := readProto(ctx, read, &msg); err != nil {
		return nil, err
	}
	static, err := h.Decrypt(msg.GetClientFinish().GetStatic())
	if err != nil {
		return nil, fmt.Errorf("decrypt the client's static key: %w", err)
	} else if len(static) != 32 {
		return nil, fmt.Errorf("the client's static key has %d bytes instead of 32", len(static))
	}
	session := &session{clientStatic: [32]byte(static), payload: &waWa6.ClientPayload{}}
	if err = h.mix(*ephemeral.Priv, session.clientStatic); err != nil {
		return nil, err
	}
	payload, err := h.Decrypt(msg.GetClientFinish().GetPayload())
	if err != nil {
		return nil, fmt.Errorf("decrypt the client's payload: %w", err)
	}
	if err = proto.Unmarshal(payload, session.payload); err != nil {
		return nil, fmt.Errorf("parse the client's payload: %w", err)
	}
	return session, nil
}

func readProto(ctx context.Context, read frameSource, into proto.Message) error {
	frame, err := read(ctx)
	if err != nil {
		return err
	}
	return proto.Unmarshal(frame, into)
}

func writeProto(ctx context.Context, write frameSink, msg proto.Message) error {
	frame, err := proto.Marshal(msg)
	if err != nil {
		return err
	}
	return write(ctx, frame)
}
