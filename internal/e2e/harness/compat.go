package harness

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/simnet"
)

// CompatScene is a paired bridge with compatibility APIs, a friend and tokens.
type CompatScene struct {
	*Process
	Network              *simnet.Network
	Owner, Friend        *simnet.Phone
	Device               *simnet.Device
	Own                  string // the address that serves Evolution API at its root
	Full, Reader, Narrow string // tokens: to read and send, to read, and for another chat
}

var evolutionAddress = regexp.MustCompile(`"api":"evolution","address":"([^"]+)"`)

func NewCompatScene(t *testing.T, settings ...string) CompatScene {
	t.Helper()
	network, owner := NewOwner(t, simnet.PhoneOptions{})
	s := CompatScene{Network: network, Owner: owner, Friend: NewPhone(t, network, simnet.PhoneOptions{Number: "15550100301", Name: "Sam"})}
	s.Process = StartBridge(t, network, append([]string{"COMPAT=waha,evolution", "COMPAT_LISTEN=evolution=127.0.0.1:0"}, settings...)...)
	s.Device = Pair(t, s.Process, owner)
	hello := Must(s.Friend.SendText(Within(t), owner.PN(), "hello"))(t)
	if err := s.Device.WaitAcknowledged(Within(t), hello); err != nil {
		t.Fatal(err)
	}
	s.Full = s.Token(t, "full", nil, bridge.ScopeRead, bridge.ScopeSend)
	s.Reader = s.Token(t, "reader", nil, bridge.ScopeRead)
	s.Narrow = s.Token(t, "narrow", []bridge.JID{"15550100399@s.whatsapp.net"}, bridge.ScopeRead, bridge.ScopeSend)
	listening := evolutionAddress.FindStringSubmatch(s.Log.String())
	if listening == nil { // a panic would leave the bridge running
		t.Fatal("the log does not name the listener of COMPAT_LISTEN")
	}
	s.Own = listening[1]
	return s
}

// Token creates a token and returns its secret.
func (s CompatScene) Token(t *testing.T, name string, chats []bridge.JID, scopes ...bridge.Scope) string {
	t.Helper()
	made := Must(s.API.CreateToken(Within(t), client.NewToken{Name: name, Scopes: scopes, Chats: chats}))(t)
	s.Secrets = append(s.Secrets, made.Secret)
	return made.Secret
}

// CompatRequest is a request of a client of a compatibility API.
type CompatRequest struct {
	Method, Address string
	Header          map[string]string
	Body            string
}

// Ask makes a request and returns the answer with its JSON.
func (s CompatScene) Ask(t *testing.T, r CompatRequest) (*http.Response, any) {
	t.Helper()
	req := Must(http.NewRequestWithContext(Within(t), r.Method, "http://"+r.Address, strings.NewReader(r.Body)))(t)
	for name, value := range r.Header {
		req.Header.Set(name, value)
	}
	resp := Must(http.DefaultClient.Do(req))(t)
	defer resp.Body.Close()
	data := Must(io.ReadAll(resp.Body))(t)
	var answer any
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&answer); err != nil {
		t.Fatalf("%s %s answers %d %q: %v", r.Method, r.Address, resp.StatusCode, data, err)
	}
	if resp.Header.Get("X-Content-Type-Options") != "nosniff" || resp.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s %s: headers %v", r.Method, r.Address, resp.Header)
	}
	return resp, answer
}

// At returns the value at a path of members, such as "key.id", or nil if there is none.
func At(answer any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		switch v := answer.(type) {
		case map[string]any:
			answer = v[name]
		case []any:
			var i int
			if _, err := fmt.Sscan(name, &i); err != nil || i >= len(v) {
				return nil
			}
			answer = v[i]
		default:
			return nil
		}
	}
	return answer
}

// NewCloudScene is a paired bridge with the Cloud API and the settings that its tests need.
func NewCloudScene(t *testing.T) CompatScene {
	t.Helper()
	return NewCompatScene(t, "COMPAT=cloud", "COMPAT_URL_TOKEN=true", "WEBHOOK_ALLOW_PRIVATE=127.0.0.1/32", FetchesLoopback)
}

const CloudAccount = "491510000001"

// Bearer returns the headers of a client of the Cloud API.
func Bearer(token string) map[string]string {
	return map[string]string{"Authorization": "Bearer " + token, "Content-Type": "application/json"}
}

// UploadTo uploads a file as clients do, and returns its id.
func (s CompatScene) UploadTo(t *testing.T, name string, file []byte) string {
	t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part := Must(w.CreateFormFile("file", name))(t)
	_, err := part.Write(file)
	if err := errors.Join(err, w.WriteField("messaging_product", "whatsapp"), w.Close()); err != nil {
		t.Fatal(err)
	}
	header := map[string]string{"Authorization": "Bearer " + s.Full, "Content-Type": w.FormDataContentType()}
	resp, answer := s.Ask(t, CompatRequest{"POST", s.Address + "/cloud/v21.0/" + CloudAccount + "/media", header, form.String()})
	id, _ := At(answer, "id").(string)
	if resp.StatusCode != http.StatusOK || id == "" {
		t.Fatalf("uploaded: %d %v", resp.StatusCode, answer)
	}
	return id
}

func InBase64(file []byte) string { return base64.StdEncoding.EncodeToString(file) }
