package simnet_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"testing"

	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"bridged/internal/simnet"
)

// Stanzas that clients other than whatsmeow send and expect.

// ask makes a query of any kind and returns the answer.
func (c *companion) ask(namespace, kind string, content ...waBinary.Node) (*waBinary.Node, error) {
	c.t.Helper()
	//lint:ignore SA1019 whatsmeow has no method for what it does not ask itself.
	return c.cli.DangerousInternals().SendIQ(within(c.t), whatsmeow.DangerousInfoQuery{
		Namespace: namespace, Type: whatsmeow.DangerousInfoQueryType(kind), To: types.ServerJID, Content: content,
	})
}

func (c *companion) mustAsk(namespace, kind string, content ...waBinary.Node) *waBinary.Node {
	c.t.Helper()
	answer, err := c.ask(namespace, kind, content...)
	if err != nil {
		c.t.Fatalf("ask %s: %v", namespace, err)
	}
	return answer
}

// part returns a child of an answer, which must exist: for a missing one, whatsmeow's
// GetChildByTag returns the parent.
func (c *companion) part(answer *waBinary.Node, tags ...string) *waBinary.Node {
	c.t.Helper()
	found, ok := answer.GetOptionalChildByTag(tags...)
	if !ok {
		c.t.Fatalf("no %v in %s", tags, answer.String())
	}
	return &found
}

func TestCDN_TakesTokensWithAndWithoutPadding(t *testing.T) {
	n := newNetwork(t)
	client := n.HTTPClient()
	t.Cleanup(client.CloseIdleConnections)
	body := []byte("a file that is not looked into")
	hash := sha256.Sum256(body)
	for _, token := range []string{base64.URLEncoding.EncodeToString(hash[:]), base64.RawURLEncoding.EncodeToString(hash[:])} {
		resp, err := client.Post("https://web.whatsapp.com/mms/image/"+token+"?auth=simulated&token="+token, "", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Errorf("upload to %s: %s", token, resp.Status)
		}
	}
}

func TestPreKeys_DigestDescribesTheStoredOnes(t *testing.T) {
	_, _, _, c := pair(t)
	digest := c.part(c.mustAsk("encrypt", "get", waBinary.Node{Tag: "digest"}), "digest")
	if identity := c.part(digest, "identity"); !bytes.Equal(identity.Content.([]byte), c.cli.Store.IdentityKey.Pub[:]) {
		t.Errorf("identity %x", identity.Content)
	}
	if ids := c.part(digest, "list").GetChildren(); len(ids) != c.device.PreKeys() {
		t.Errorf("%d ids of %d keys", len(ids), c.device.PreKeys())
	}
	if hash, _ := c.part(digest, "hash").Content.([]byte); len(hash) != 20 {
		t.Errorf("hash of %d bytes", len(hash))
	}
}

// A rotation replaces only the signed key; an upload of one-time keys, which has a
// signed key too, is not a rotation.
func TestPreKeys_RotationReplacesTheSignedKey(t *testing.T) {
	_, _, _, c := pair(t)
	before := c.device.PreKeys()
	rotated := c.cli.Store.IdentityKey.CreateSignedPreKey(77)
	c.mustAsk("encrypt", "set", waBinary.Node{Tag: "rotate", Content: []waBinary.Node{{Tag: "skey", Content: []waBinary.Node{
		{Tag: "id", Content: []byte{0, 0, 77}}, {Tag: "value", Content: rotated.Pub[:]}, {Tag: "signature", Content: rotated.Signature[:]},
	}}}})
	digest := c.part(c.mustAsk("encrypt", "get", waBinary.Node{Tag: "digest"}), "digest")
	if value := c.part(digest, "skey", "value"); !bytes.Equal(value.Content.([]byte), rotated.Pub[:]) {
		t.Errorf("signed key %x after the rotation", value.Content)
	}
	if after := c.device.PreKeys(); after != before {
		t.Errorf("%d one-time keys after the rotation, %d before", after, before)
	}
	if _, err := c.ask("encrypt", "set", waBinary.Node{Tag: "rotate"}); err == nil {
		t.Error("a rotation without a key is taken")
	}
}

func TestQueries_ExperimentsAreAnswered(t *testing.T) {
	n, _, _, c := pair(t)
	props := c.part(c.mustAsk("abt", "get", waBinary.Node{Tag: "props", Attrs: waBinary.Attrs{"protocol": "1"}}), "props")
	if len(props.GetChildren()) != 0 || n.Unknown()["iq abt"] != 0 {
		t.Errorf("props %s, unknown %v", props.String(), n.Unknown())
	}
}

// The answer to a retry receipt in a group may list the device as a participant,
// besides the ciphertext for it.
func TestGroups_ResendWithOneParticipantGoesToItAlone(t *testing.T) {
	for _, attribute := range []bool{true, false} {
		n, own, anna, c := pair(t)
		ben := newPhone(t, n, "4915100000003", "Ben")
		g := newGroup(t, anna, simnet.GroupOptions{Subject: "Hikers", Members: []*simnet.Phone{own, ben}})
		enc := waBinary.Node{Tag: "enc", Attrs: waBinary.Attrs{"v": "2", "type": "msg", "count": "1"}, Content: []byte("no ciphertext")}
		again := waBinary.Node{Tag: "message", Attrs: waBinary.Attrs{"to": g.JID(), "id": "3EB0AGAIN", "type": "text"}, Content: []waBinary.Node{
			enc, {Tag: "participants", Content: []waBinary.Node{{Tag: "to", Attrs: waBinary.Attrs{"jid": anna.LID()}, Content: []waBinary.Node{enc}}}},
		}}
		if attribute {
			again.Attrs["participant"] = anna.LID()
		}
		//lint:ignore SA1019 whatsmeow resends in another form.
		internals := c.cli.DangerousInternals()
		ack := internals.WaitResponse("3EB0AGAIN")
		if err := internals.SendNode(within(t), again); err != nil {
			t.Fatal(err)
		}
		select {
		case answer := <-ack:
			if answer.Attrs["error"] != nil {
				t.Fatalf("refused: %s", answer.String())
			}
		case <-within(t).Done():
			t.Fatal("the message is not acknowledged")
		}
		if !got(anna, "3EB0AGAIN") || got(ben, "3EB0AGAIN") || got(own, "3EB0AGAIN") {
			t.Errorf("named as an attribute: %v: Anna got it %v, Ben %v, the own phone %v",
				attribute, got(anna, "3EB0AGAIN"), got(ben, "3EB0AGAIN"), got(own, "3EB0AGAIN"))
		}
	}
}

// got reports whether a message was queued for a phone, acknowledged or not.
func got(p *simnet.Phone, id types.MessageID) bool {
	for _, w := range p.Device().Waiting() {
		if w.ID == id && w.Class == "message" {
			return true
		}
	}
	for _, a := range p.Device().Acknowledged() {
		if a.ID == id && a.Class == "message" {
			return true
		}
	}
	return false
}

// The answer about a user named by LID has no LID: clients would store it as one of a
// number.
func TestUsync_TellsTheLIDOfNumbersOnly(t *testing.T) {
	_, _, anna, c := pair(t)
	info, err := c.cli.GetUserInfo(within(t), []types.JID{anna.PN(), anna.LID()})
	if err != nil {
		t.Fatal(err)
	}
	if info[anna.PN()].LID != anna.LID() || !info[anna.LID()].LID.IsEmpty() {
		t.Errorf("LIDs %q and %q", info[anna.PN()].LID, info[anna.LID()].LID)
	}
	if pn, err := c.cli.Store.LIDs.GetPNForLID(within(t), anna.LID()); err != nil || pn != anna.PN() {
		t.Errorf("the number of Anna's LID is %s, %v", pn, err)
	}
}

// A client that generates its code shows it before the network knows it.
func TestPairing_PhoneWaitsForTheRequestOfACode(t *testing.T) {
	n := newNetwork(t)
	own := newPhone(t, n, "4915100000001", "Owner")
	waited := make(chan error, 1)
	go func() { waited <- own.WaitCodeRequest(within(t)) }()
	c := newCompanion(t, n)
	c.connect()
	await[*events.QR](c, nil)
	code, err := c.cli.PairPhone(within(t), own.Number(), true, whatsmeow.PairClientChrome, "Chrome (Linux)")
	if err != nil {
		t.Fatal(err)
	}
	if err = <-waited; err != nil {
		t.Fatal(err)
	}
	if _, err = own.EnterPairingCode(within(t), code); err != nil {
		t.Error(err)
	}
}
