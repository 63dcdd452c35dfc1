package fleet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"bridged/internal/bridge"
	"bridged/internal/client"
	. "bridged/internal/e2e/harness"
	"bridged/internal/fleet/fleettest"
	"bridged/internal/simnet"
)

// natsCluster starts three servers and returns their address.
func natsCluster(t *testing.T) (*fleettest.Cluster, string) {
	t.Helper()
	cluster, err := fleettest.Start(t.TempDir(), 3)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Stop)
	return cluster, cluster.URL()
}

// natsCaller is a program that reaches accounts only over NATS.
type natsCaller struct {
	t      *testing.T
	nc     *nats.Conn
	bearer string
}

func callOverNATS(t *testing.T, url, bearer string) *natsCaller {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return &natsCaller{t, nc, bearer}
}

// natsAnswer is the answer to a request.
type natsAnswer struct {
	Status     int
	Headers    map[string]string
	Body       json.RawMessage
	BodyBase64 []byte
	File       *struct{ Bucket, Name string }
}

// reaches waits until an account answers at the caller's node, which learns of it from the others.
func (c *natsCaller) reaches(account string) {
	c.t.Helper()
	Eventually(c.t, func() error {
		_, err := c.nc.Request("bridged."+account+".api", []byte("{}"), time.Second)
		return err
	})
}

// ask sends a request to an account; fields are added to the envelope.
func (c *natsCaller) ask(account, method, path string, fields Object) (got natsAnswer) {
	c.t.Helper()
	envelope := Object{"method": method, "path": path, "headers": Object{"Authorization": "Bearer " + c.bearer}}
	maps.Copy(envelope, fields)
	data := Must(json.Marshal(envelope))(c.t)
	msg := Must(c.nc.Request("bridged."+account+".api", data, TestTimeout))(c.t)
	if err := json.Unmarshal(msg.Data, &got); err != nil {
		c.t.Fatalf("%s: %v", msg.Data, err)
	}
	return got
}

// code returns the code of an error.
func (a natsAnswer) code() (body struct{ Code bridge.Code }) {
	_ = json.Unmarshal(a.Body, &body) // empty unless it is an error
	return body
}

// A program that knows only NATS reads and writes through any node, with exactly
// the rights of its token.
func TestFleet_RequestsComeThroughTheOneWay(t *testing.T) {
	t.Parallel()
	cluster, url := natsCluster(t)
	network, owner := NewOwner(t, simnet.PhoneOptions{})
	sam := NewPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})
	kim := NewPhone(t, network, simnet.PhoneOptions{Number: "15550100302", Name: "Kim"})
	p := StartBridge(t, network, "NATS_URL="+url, "NATS_REPLICAS=3")
	device := Pair(t, p, owner)
	picture := bytes.Repeat([]byte("no picture, but large enough for no message of NATS. "), 40000)
	ids := []simnet.MessageID{
		Must(sam.SendText(Within(t), owner.PN(), "a word of Sam"))(t), Must(kim.SendText(Within(t), owner.PN(), "a word of Kim"))(t),
		Must(sam.SendDocument(Within(t), owner.PN(), simnet.Media{Data: picture, Mimetype: "application/octet-stream", FileName: "large.bin"}))(t),
	}
	if err := device.WaitAcknowledged(Within(t), ids...); err != nil {
		t.Fatal(err)
	}
	made := Must(p.API.CreateToken(Within(t), client.NewToken{Name: "desk", Scopes: []bridge.Scope{bridge.ScopeRead, bridge.ScopeSend}, Chats: []bridge.JID{bridge.JID(sam.PN().String())}}))(t)
	p.Secrets = append(p.Secrets, made.Secret)
	account := owner.Number()

	root := callOverNATS(t, url, TestToken)
	for node := range strings.SplitSeq(url, ",") {
		c := callOverNATS(t, node, TestToken)
		c.reaches(account)
		if got := c.ask(account, "GET", "/api/messages/search?q=word", nil); got.Status != http.StatusOK || !strings.Contains(string(got.Body), "of Kim") {
			t.Errorf("through %s: %d %s", node, got.Status, got.Body)
		}
	}

	desk := callOverNATS(t, url, made.Secret)
	if got := desk.ask(account, "GET", "/api/messages/search?q=word", nil); !strings.Contains(string(got.Body), "of Sam") || strings.Contains(string(got.Body), "of Kim") {
		t.Errorf("a token of one chat found %s", got.Body)
	}
	if got := desk.ask(account, "POST", "/api/messages/send", Object{"body": Object{"jid": kim.PN().String(), "text": "no"}}); got.Status != http.StatusNotFound {
		t.Errorf("to a chat of others: %d", got.Status)
	}
	once := Object{"headers": Object{"Authorization": "Bearer " + made.Secret, "Idempotency-Key": "once"}, "body": Object{"jid": sam.PN().String(), "text": "yes"}}
	first, again := desk.ask(account, "POST", "/api/messages/send", once), desk.ask(account, "POST", "/api/messages/send", once)
	if first.Status != http.StatusOK || !bytes.Equal(first.Body, again.Body) {
		t.Errorf("a send and its repetition: %d %s, %d %s", first.Status, first.Body, again.Status, again.Body)
	}
	p.WantSentBy(t, sam, "yes", "over NATS with the token desk")
	for _, bearer := range []string{"", "wrong", made.Secret + "x"} {
		if got := callOverNATS(t, url, bearer).ask(account, "GET", "/api/chats", nil); got.Status != http.StatusUnauthorized || got.code().Code != bridge.CodeUnauthorized {
			t.Errorf("with the bearer %q: %d %s", bearer, got.Status, got.Body)
		}
	}
	if _, err := root.nc.Request("bridged.15550109999.api", []byte("{}"), TestTimeout); !errors.Is(err, nats.ErrNoResponders) {
		t.Errorf("an unknown account: %v", err)
	}

	got := desk.ask(account, "GET", Path("/api/messages/media/%s/", sam.PN())+ids[2], nil)
	if got.Status != http.StatusOK || got.File == nil {
		t.Fatalf("a large file: %d %s", got.Status, got.Body)
	}
	bucket := Must(Must(jetstream.New(root.nc))(t).ObjectStore(t.Context(), got.File.Bucket))(t)
	Eventually(t, func() error { // the node may be behind
		data, err := bucket.GetBytes(t.Context(), got.File.Name)
		if err == nil && !bytes.Equal(data, picture) {
			err = fmt.Errorf("the object has %d bytes", len(data))
		}
		return err
	})
	Must(bucket.PutBytes(t.Context(), "offer", picture))(t)
	sent := desk.ask(account, "POST", "/api/messages/send-file", Object{"form": Object{"jid": sam.PN().String(), "type": "document"}, "file": Object{"name": "offer", "fileName": "offer.bin"}})
	if sent.Status != http.StatusOK {
		t.Errorf("a file by name: %d %s", sent.Status, sent.Body)
	}
	leader := Must(cluster.StreamLeader("OBJ_BRIDGED_FILES"))(t)
	cluster.StopNode(leader)
	desk.reaches(account) // again: the bridge may have been connected to that node
}
