package pairing

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"go.mau.fi/whatsmeow/proto/waCompanionReg"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/util/gcmutil"
	"go.mau.fi/whatsmeow/util/hkdfutil"
	"go.mau.fi/whatsmeow/util/keys"
	"google.golang.org/protobuf/proto"

	"bridged/internal/simnet/wire"
)

// ErrPasskeyRefused reports that the client's passkey assertion or one of the later proofs is wrong.
var ErrPasskeyRefused = errors.New("the passkey was refused")

// DemandPasskey asks a client for a passkey and takes it through the following steps. It calls show with the code that both sides compute,
// and returns the client's new secret.
func (n *Desk) DemandPasskey(ctx context.Context, waiting *Pairing, passkey *Authenticator, oldSecret []byte, show func(code string)) ([]byte, error) {
	request := &passkeyRequest{steps: make(chan passkeyStep, 4)}
	challenge := wire.Random(32)
	options, err := passkey.options(challenge)
	if err != nil {
		return nil, err
	}
	n.Mu.Lock()
	waiting.passkey = request
	id := n.NextID()
	n.Mu.Unlock()
	waiting.send(Node{Tag: "notification", Attrs: attrs{
		"from": types.ServerJID, "type": "passkey_prologue_request", "id": id, "t": wire.UnixNow(),
	}, Content: []Node{{Tag: "passkey_request_options", Content: options}}})
	dialogue := &passkeyDialogue{desk: n, passkey: passkey, show: show, waiting: waiting, request: request, oldSecret: oldSecret, challenge: challenge}
	return dialogue.run(ctx)
}

// options returns the request options for the client.
func (a *Authenticator) options(challenge []byte) ([]byte, error) {
	encode := base64.RawURLEncoding.EncodeToString
	return json.Marshal(map[string]any{
		"challenge": encode(challenge), "timeout": 300000, "rpId": relyingParty, "userVerification": "preferred",
		"allowCredentials": []map[string]any{{"id": encode(a.credential), "type": "public-key", "transports": []string{"internal", "hybrid"}}},
		"extensions":       map[string]any{},
	})
}

// passkeyDialogue runs the phone's side of linking with a passkey.
type passkeyDialogue struct {
	desk      *Desk
	passkey   *Authenticator
	show      func(code string)
	waiting   *Pairing
	request   *passkeyRequest
	oldSecret []byte
	challenge []byte

	payload  waCompanionReg.ProloguePayload
	identity waCompanionReg.CompanionEphemeralIdentity
	own      *keys.KeyPair
	nonce    []byte
}

func (g *passkeyDialogue) run(ctx context.Context) ([]byte, error) {
	if err := g.step(ctx, "passkey_prologue", g.prologue); err != nil {
		return nil, err
	}
	if err := g.introduce(); err != nil {
		return nil, err
	}
	if err := g.step(ctx, "companion_nonce", g.reveal); err != nil {
		return nil, err
	}
	var secret []byte
	err := g.step(ctx, "encrypted_pairing_request", func(request *Node) (err error) {
		secret, err = g.decrypt(wire.Bytes(*request))
		return err
	})
	return secret, err
}

// step waits for a request of the client, judges it and has the server answer. After a wrong one the client can try again.
func (g *passkeyDialogue) step(ctx context.Context, tag string, judge func(*Node) error) error {
	for {
		step, err := await(ctx, g.waiting, g.request.steps)
		if err != nil {
			return err
		}
		if step.tag != tag {
			step.reply(wire.BadRequest)
			continue
		}
		err = judge(step.request)
		if err == nil {
			step.reply(wire.Result())
			return nil
		}
		step.reply(wire.Refuse(403, "forbidden"))
		return fmt.Errorf("%w: %w", ErrPasskeyRefused, err)
	}
}

func (g *passkeyDialogue) prologue(request *Node) error {
	payload := wire.ChildBytes(request, "prologue_payload")
	credential, assertion := wire.ChildBytes(request, "credential_id"), wire.ChildBytes(request, "webauthn_assertion")
	if err := g.passkey.verify(g.challenge, credential, assertion); err != nil {
		return err
	}
	if proof, ok := wire.Child(request, "pairing_handoff_proof"); ok {
		mac := hmac.New(sha256.New, hkdfutil.SHA256(g.oldSecret, nil, []byte("shortcake-passkey-handoff-v1"), 32))
		mac.Write(payload)
		if !hmac.Equal(mac.Sum(nil), wire.Bytes(*proof)) {
			return errors.New("the handoff proof is wrong")
		}
	}
	if err := proto.Unmarshal(payload, &g.payload); err != nil {
		return fmt.Errorf("parse the prologue: %w", err)
	}
	if err := proto.Unmarshal(g.payload.GetCompanionEphemeralIdentity(), &g.identity); err != nil {
		return fmt.Errorf("parse the companion's identity: %w", err)
	}
	if len(g.identity.GetPublicKey()) != 32 {
		return errors.New("the companion's ephemeral key is missing")
	}
	return nil
}

// introduce sends the client the phone's ephemeral key.
func (g *passkeyDialogue) introduce() error {
	g.own, g.nonce = keys.NewKeyPair(), wire.Random(32)
	identity, err := proto.Marshal(&waCompanionReg.PrimaryEphemeralIdentity{PublicKey: g.own.Pub[:], Nonce: g.nonce})
	if err != nil {
		return fmt.Errorf("marshal the phone's identity: %w", err)
	}
	g.desk.Mu.Lock()
	id := g.desk.NextID()
	g.desk.Mu.Unlock()
	g.waiting.send(Node{Tag: "notification", Attrs: attrs{
		"from": types.ServerJID, "type": "crsc_continuation", "id": id, "t": wire.UnixNow(),
	}, Content: []Node{{Tag: "primary_ephemeral_identity", Content: identity}}})
	return nil
}

// reveal checks the nonce against the client's commitment and shows the code that both sides compute.
func (g *passkeyDialogue) reveal(request *Node) error {
	nonce := wire.Bytes(*request)
	committed := sha256.Sum256(append(append([]byte(nil), g.payload.GetCompanionEphemeralIdentity()...), nonce...))
	if !hmac.Equal(committed[:], g.payload.GetCommitment().GetHash()) {
		return errors.New("the nonce is not the committed one")
	}
	digest := sha256.Sum256(append(append([]byte(nil), nonce...), g.own.Pub[:]...))
	code := make([]byte, 5)
	for i := range code {
		code[i] = g.nonce[i] ^ digest[i]
	}
	text := base32.NewEncoding("123456789ABCDEFGHJKLMNPQRSTVWXYZ").EncodeToString(code)
	g.show(text[:4] + "-" + text[4:])
	return nil
}

// decrypt decrypts the client's pairing request and returns its new secret.
func (g *passkeyDialogue) decrypt(encrypted []byte) ([]byte, error) {
	var wrapped waCompanionReg.EncryptedPairingRequest
	if err := proto.Unmarshal(encrypted, &wrapped); err != nil {
		return nil, fmt.Errorf("parse the pairing request: %w", err)
	}
	shared, err := wire.ECDH(*g.own.Priv, [32]byte(g.identity.GetPublicKey()))
	if err != nil {
		return nil, fmt.Errorf("combine the ephemeral keys: %w", err)
	}
	salt := fmt.Sprintf("Companion Pairing %d with ref %s", g.identity.GetDeviceType(), g.identity.GetRef())
	key := hkdfutil.SHA256(shared, []byte(salt), []byte("Pairing Information Encryption Key"), 32)
	plain, err := gcmutil.Decrypt(key, wrapped.GetIV(), wrapped.GetEncryptedPayload(), nil)
	if err != nil {
		return nil, fmt.Errorf("decrypt the pairing request: %w", err)
	}
	var request waCompanionReg.PairingRequest
	if err = proto.Unmarshal(plain, &request); err != nil {
		return nil, fmt.Errorf("parse the pairing request: %w", err)
	}
	if string(request.GetCompanionIdentityKey()) != string(g.waiting.identity[:]) || string(request.GetCompanionPublicKey()) != string(g.waiting.noise[:]) {
		return nil, errors.New("the pairing request is for another client")
	}
	return request.GetAdvSecret(), nil
}
