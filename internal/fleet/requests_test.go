package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nats.go/micro"

	"bridged/internal/bridge"
)

// object is JSON as a test writes it.
type object = map[string]any

// caller is a program that uses only NATS.
type caller struct {
	t      *testing.T
	nc     *nats.Conn
	js     jetstream.JetStream
	prefix string
}

func connect(t *testing.T, url, prefix string) *caller {
	t.Helper()
	nc, js := dial(t, url)
	return &caller{t, nc, js, prefix}
}

// call asks an account, and returns what came back.
func (c *caller) call(account string, envelope any) (got answer, head nats.Header) {
	c.t.Helper()
	data, err := json.Marshal(envelope)
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), 30*time.Second)
	defer cancel()
	msg, err := c.nc.RequestWithContext(ctx, c.prefix+"."+account+".api", data)
	if err != nil {
		c.t.Fatalf("%v: %v", envelope, err)
	}
	if err := json.Unmarshal(msg.Data, &got); err != nil {
		c.t.Fatalf("%s: %v", msg.Data, err)
	}
	return got, msg.Header
}

// refused checks that a request is refused before it reaches the API.
func (c *caller) refused(account string, envelope any, code bridge.Code, status int, says string) {
	c.t.Helper()
	got, head := c.call(account, envelope)
	var body struct{ Error, Code string }
	if err := json.Unmarshal(got.Body, &body); err != nil {
		c.t.Fatal(err)
	}
	if got.Status != status || body.Code != string(code) || !strings.Contains(body.Error, says) || head.Get(micro.ErrorHeader) != string(code) {
		c.t.Errorf("%v: %d %s %v, want %d %s that says %q", envelope, got.Status, got.Body, head, status, code, says)
	}
}

// serveAPI runs a fleet that takes requests for api, and waits until it does.
func serveAPI(t *testing.T, prefix string, api http.HandlerFunc) *caller {
	t.Helper()
	cluster := sharedCluster(t)
	o := Options{Server: Server{URL: cluster.URL()}, Prefix: prefix, Log: newMemoryLog(ada), Version: "1.2.3", Stream: Limits{Replicas: 3, Duplicates: time.Minute}}
	runWith(t, o, api)
	c := connect(t, cluster.URL(), prefix)
	eventually(t, "the service", func() bool {
		_, err := c.nc.Request(prefix+"."+ada+".api", nil, time.Second)
		return err == nil
	})
	return c
}

// echo answers with its request.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(object{
		"method": r.Method, "uri": r.RequestURI, "key": r.Header.Get("Idempotency-Key"), "bearer": r.Header.Get("Authorization"),
		"type": r.Header.Get("Content-Type"), "from": r.RemoteAddr, "body": string(body),
	})
}

// The router gets a request unchanged, through any node.
func TestRequests_ComeAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	serveAPI(t, "written", echo)
	for url := range strings.SplitSeq(sharedCluster(t).URL(), ",") {
		c := connect(t, url, "written")
		for _, test := range []struct {
			body object
			kind string
			want string
		}{
			{object{}, "", ""},
			{object{"body": object{"text": "<&>"}}, "application/json", `{"text":"\u003c\u0026\u003e"}`},
			{object{"body": `{ "a":1}`}, "application/json", `{ "a":1}`},
			{object{"bodyBase64": "AAH+"}, "application/json", "\x00\x01\ufffd"},
		} {
			envelope := object{"method": "POST", "path": "/api/x?q=%20", "headers": object{"authorization": "Bearer b", "Idempotency-Key": "k"}}
			maps.Copy(envelope, test.body)
			got, _ := c.call(ada, envelope)
			var body object
			if err := json.Unmarshal(got.Body, &body); err != nil {
				t.Fatal(err)
			}
			want := object{"method": "POST", "uri": "/api/x?q=%20", "key": "k", "bearer": "Bearer b", "type": test.kind, "from": "nats", "body": test.want}
			if diff := cmp.Diff(want, body); got.Status != 200 || diff != "" {
				t.Errorf("%d %s", got.Status, diff)
			}
		}
	}
}

// JSON, text, bytes and large answers have different forms.
func TestRequests_FormsOfAnswers(t *testing.T) {
	t.Parallel()
	const large = 3 << 20
	c := serveAPI(t, "forms", func(w http.ResponseWriter, r *http.Request) {
		kind, body, _ := strings.Cut(r.URL.Query().Get("a"), "|")
		if kind != "" {
			w.Header().Set("Content-Type", kind)
		}
		if body == "large" {
			body = `"` + strings.Repeat("x", large-2) + `"`
		}
		w.WriteHeader(map[string]int{"": 204}[kind] + map[bool]int{true: 0, false: 200}[kind == ""])
		_, _ = io.WriteString(w, body)
	})
	get := func(a string) answer {
		got, _ := c.call(ada, object{"method": "GET", "path": "/?a=" + a})
		return got
	}
	for a, want := range map[string]answer{
		"":                             {Status: 204, Headers: map[string]string{}},
		"application/json|[1,%202]%0A": {Status: 200, Headers: map[string]string{"Content-Type": "application/json"}, Body: json.RawMessage("[1,2]")},
		"text/plain|a%0A":              {Status: 200, Headers: map[string]string{"Content-Type": "text/plain"}, Body: json.RawMessage(`"a\n"`)},
		"text/plain|%FF":               {Status: 200, Headers: map[string]string{"Content-Type": "text/plain"}, BodyBase64: "/w=="},
		"image/png|%89PNG%0A":          {Status: 200, Headers: map[string]string{"Content-Type": "image/png"}, BodyBase64: "iVBORwo="},
	} {
		if diff := cmp.Diff(want, get(a), cmp.AllowUnexported(answer{})); diff != "" {
			t.Errorf("%s: %s", a, diff)
		}
	}
	got := get("application/json|large")
	if got.File == nil || got.File.Size != large || got.File.Bucket != "FORMS_FILES" || got.Headers["Content-Type"] != "application/json" {
		t.Fatalf("a large answer: %+v", got)
	}
	bucket, err := c.js.ObjectStore(t.Context(), got.File.Bucket)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the object", func() bool { // a node may lag
		data, err := bucket.GetBytes(t.Context(), got.File.Name)
		return err == nil && len(data) == large && data[0] == '"' && data[large-1] == '"'
	})
	if status, err := bucket.Status(t.Context()); err != nil || status.TTL() != filesLife || status.Replicas() != 3 {
		t.Errorf("the bucket: %+v, %v", status, err)
	}
}

// Streams and waiting pages are refused with a sentence that names the alternative.
func TestRequests_StreamsAreElsewhere(t *testing.T) {
	t.Parallel()
	c := serveAPI(t, "elsewhere", echo)
	events := func(query, accept string) object {
		return object{"method": "GET", "path": "/api/events" + query, "headers": object{"Accept": accept}}
	}
	c.refused(ada, events("", "text/html, Text/Event-Stream"), CodeNotOverNATS, 400, "ELSEWHERE_EVENTS")
	c.refused(ada, object{"method": "HEAD", "path": "/api/events", "headers": object{"Accept": "text/event-stream"}}, CodeNotOverNATS, 400, "ELSEWHERE_EVENTS")
	c.refused(ada, object{"method": "GET", "path": "/api/%65vents?wait=30s"}, CodeNotOverNATS, 400, "ELSEWHERE_EVENTS")
	c.refused(ada, events("?wait=30s", "*/*"), CodeNotOverNATS, 400, "ELSEWHERE_EVENTS")
	if got, _ := c.call(ada, events("?wait=0s&after=now", "*/*")); got.Status != 200 {
		t.Errorf("a page: %d", got.Status)
	}
	c.refused(ada, "not an envelope", CodeInvalidEnvelope, 400, "must be a JSON object")
	if _, err := c.nc.Request("elsewhere.15550000000.api", nil, time.Second); !errors.Is(err, nats.ErrNoResponders) {
		t.Errorf("an unknown account: %v", err)
	}
}

// The number of concurrent requests is limited: in all, for one token tree, and without a token; a
// part is reserved for BRIDGE_TOKEN. After the service has ended no request begins, and running ones
// are answered.
func TestRequests_AreBounded(t *testing.T) {
	t.Parallel()
	var inside atomic.Int32
	release := make(chan struct{})
	cluster := sharedCluster(t)
	o := Options{Server: Server{URL: cluster.URL()}, Prefix: "bounded", Log: newMemoryLog(ada)}
	f := runWith(t, o, func(w http.ResponseWriter, r *http.Request) {
		inside.Add(1)
		<-release
	})
	c := connect(t, cluster.URL(), "bounded")
	eventually(t, "the service", func() bool {
		_, err := c.nc.Request("bounded."+ada+".api", nil, time.Second)
		return err == nil
	})
	inbox := make(chan *nats.Msg, mostRequests+1)
	sub, err := c.nc.ChanSubscribe("inbox.bounded", inbox)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	by := func(bearer string) object {
		return object{"method": "GET", "path": "/", "headers": object{"Authorization": "Bearer " + bearer}}
	}
	data, _ := json.Marshal(by("nobody"))
	underWay := int32(0)
	for _, one := range []struct {
		bearer string
		count  int
	}{{"of-tree-7", 24}, {"of-tree-8", 12}, {"nobody", mostUnknown}, {"of-tree-0", 12}} {
		data, _ := json.Marshal(by(one.bearer))
		for range one.count {
			if err := c.nc.PublishRequest("bounded."+ada+".api", "inbox.bounded", data); err != nil {
				t.Fatal(err)
			}
		}
		underWay += int32(one.count)
		eventually(t, "the slots to be taken", func() bool { return inside.Load() == underWay })
		c.refused(ada, by("of-tree-7"), CodeTooManyRequests, 429, "too many requests are running")
	}
	for _, bearer := range []string{"of-tree-9", "of-tree-0", "nobody"} {
		c.refused(ada, by(bearer), CodeTooManyRequests, 429, "too many requests are running")
	}
	stopped := make(chan struct{})
	go func() { f.stop(); close(stopped) }()
	eventually(t, "the service to end", func() bool {
		_, err := c.nc.Request("bounded."+ada+".api", data, time.Second)
		return errors.Is(err, nats.ErrNoResponders)
	})
	close(release)
	for range mostRequests {
		select {
		case msg := <-inbox:
			if !strings.Contains(string(msg.Data), `"status":200`) {
				t.Errorf("%s", msg.Data)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("requests under way were not answered")
		}
	}
	<-stopped
}

// A request that takes longer than the caller's timeout is ended, and counted.
func TestRequests_HaveATimeout(t *testing.T) {
	t.Parallel()
	c := serveAPI(t, "timeout", func(w http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		w.WriteHeader(499)
	})
	c.refused(ada, object{"method": "GET", "path": "/", "timeout": "1s"}, CodeRequestTimeout, 504, "Idempotency-Key")
}

// Service discovery finds the account and its statistics.
func TestRequests_AreDiscovered(t *testing.T) {
	t.Parallel()
	c := serveAPI(t, "discovered", echo)
	c.call(ada, object{"method": "GET", "path": "/"})
	eventually(t, "the figures", func() bool {
		for _, stats := range c.services() {
			var data requestStats
			if len(stats.Endpoints) == 1 && stats.Endpoints[0].Subject == "discovered."+ada+".api" && json.Unmarshal(stats.Endpoints[0].Data, &data) == nil {
				return stats.Metadata["account"] == ada && stats.Version == "1.2.3" && data.Answers["2xx"] == 1
			}
		}
		return false
	})
}

// services returns the statistics of all bridges that answer within a moment.
func (c *caller) services() (all []micro.Stats) {
	c.t.Helper()
	inbox := nats.NewInbox()
	sub, err := c.nc.SubscribeSync(inbox)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := c.nc.PublishRequest("$SRV.STATS.bridged", inbox, nil); err != nil {
		c.t.Fatal(err)
	}
	for {
		msg, err := sub.NextMsg(100 * time.Millisecond)
		if err != nil {
			return all
		}
		var stats micro.Stats
		if err := json.Unmarshal(msg.Data, &stats); err == nil {
			all = append(all, stats)
		}
	}
}
