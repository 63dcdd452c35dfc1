package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// Relay passes the messages of one agent on standard input and output to the door of a
// running bridge, and its answers back. It decides nothing: what the agent may do and
// how often is decided by the bridge, as for agents over HTTP.
type Relay struct {
	URL   string // of the bridge, such as http://127.0.0.1:8080
	Token string
	HTTP  *http.Client

	out   io.Writer
	outMu sync.Mutex
	gone  context.CancelFunc // ends it all once the agent does not read

	mu      sync.Mutex
	session session                       // empty for protocols without sessions
	calls   map[string]context.CancelFunc // in progress, by their id
}

// session holds the values that go with each request after "initialize".
type session struct {
	id, version string
	initialize  json.RawMessage // as the agent sent it: begins another session if the bridge has lost this one
}

// message holds the part of a JSON-RPC message that its HTTP request depends on.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string          `json:"name"`
		URI       string          `json:"uri"`
		RequestID json.RawMessage `json:"requestId"`
		Meta      struct {
			Version string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	} `json:"params"`
	Result struct {
		Version string `json:"protocolVersion"`
	} `json:"result"`
}

func (m message) isCall() bool { return m.Method != "" && m.ID != nil }

// The codes of JSON-RPC for errors that no tool has caused.
const (
	codeParse    = -32700
	codeUnserved = -32000 // the bridge refused the message or could not be reached
)

const (
	// maxCalls bounds the requests in progress; the agent's next ones wait.
	maxCalls = 64
	// lastWords limits how long calls go on after the agent has closed its output.
	lastWords = time.Minute
	// sessionHeader names the session of a request (streamable HTTP).
	sessionHeader = "Mcp-Session-Id"
)

// Run relays until in ends, out is closed or ctx is done. It fails at once if the bridge
// cannot be reached, has MCP switched off or refuses the token.
func (r *Relay) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.out, r.gone, r.calls = out, cancel, make(map[string]context.CancelFunc)
	if err := r.reach(ctx); err != nil {
		return err
	}
	var requests sync.WaitGroup
	defer func() {
		defer time.AfterFunc(lastWords, cancel).Stop()
		requests.Wait()
		r.end()
	}()
	messages := make(chan json.RawMessage)
	go func() { // until the end of the process, if in does not end before
		defer close(messages)
		for input := json.NewDecoder(in); ; {
			var raw json.RawMessage
			err := input.Decode(&raw)
			if err != nil && !errors.Is(err, io.EOF) {
				r.refuse(nil, codeParse, "the input is not JSON: "+err.Error())
			}
			if err != nil {
				return
			}
			select {
			case messages <- raw:
			case <-ctx.Done():
				return
			}
		}
	}()
	places := make(chan struct{}, maxCalls)
	for {
		select {
		case <-ctx.Done():
			return nil
		case raw, more := <-messages:
			if !more {
				return nil
			}
			var m message
			_ = json.Unmarshal(raw, &m) // a list or another shape is for the bridge to refuse
			relay := r.begin(ctx, m, raw)
			if m.Method == "initialize" || strings.HasPrefix(m.Method, "notifications/") {
				relay() // the next message depends on it
				continue
			}
			places <- struct{}{}
			requests.Go(func() {
				defer func() { <-places }()
				relay()
			})
		}
	}
}

// reach checks that the bridge has a door and takes the token.
func (r *Relay) reach(ctx context.Context) error {
	resp, err := r.do(ctx, http.MethodGet, nil, nil)
	if err != nil {
		return err
	}
	_ = resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusNotFound:
		return bridge.Fail(bridge.CodeForbidden, "MCP is off at %s: set MCP=read or MCP=send in the bridge's environment, and restart it", r.URL)
	case http.StatusUnauthorized:
		return bridge.Fail(bridge.CodeUnauthorized, "the bridge at %s does not know this token, or it has expired: set BRIDGE_TOKEN to one that `bridged token create` printed", r.URL)
	}
	return nil
}

// begin registers a message and returns the function that relays it.
func (r *Relay) begin(ctx context.Context, m message, raw json.RawMessage) func() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.Method == "notifications/cancelled" {
		if r.session.id == "" {
			if cancel := r.calls[string(m.Params.RequestID)]; cancel != nil {
				cancel() // without sessions the end of the request is the message
			}
			return func() {}
		}
	}
	if !m.isCall() {
		return func() { r.relay(ctx, m, raw) }
	}
	ctx, cancel := context.WithCancel(ctx)
	r.calls[string(m.ID)] = cancel
	return func() {
		defer func() {
			cancel()
			r.mu.Lock()
			delete(r.calls, string(m.ID))
			r.mu.Unlock()
		}()
		r.relay(ctx, m, raw)
	}
}

// relay sends a message and writes what the bridge answers.
func (r *Relay) relay(ctx context.Context, m message, raw json.RawMessage) {
	r.mu.Lock()
	used := r.session
	r.mu.Unlock()
	resp, err := r.post(ctx, used, m, raw)
	if err == nil && resp.StatusCode == http.StatusNotFound && used.id != "" && m.Method != "initialize" {
		_ = resp.Body.Close()
		if used, err = r.renew(ctx, used); err == nil {
			resp, err = r.post(ctx, used, m, raw)
		}
	}
	if err == nil {
		err = r.answer(m, raw, resp)
	}
	if err != nil && m.isCall() && ctx.Err() == nil {
		r.refuse(m.ID, codeUnserved, err.Error())
	}
}

// renew begins the agent's session again after the bridge was restarted or has ended it.
func (r *Relay) renew(ctx context.Context, lost session) (session, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.session.id != lost.id {
		return r.session, nil
	}
	resp, err := r.post(ctx, session{}, message{Method: "initialize"}, lost.initialize)
	if err != nil {
		return lost, err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return lost, err
	}
	lost.id = resp.Header.Get(sessionHeader)
	ready := json.RawMessage(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if resp, err = r.post(ctx, lost, message{Method: "notifications/initialized"}, ready); err != nil {
		return lost, err
	}
	r.session = lost
	return lost, resp.Body.Close()
}

// post sends a message with the headers that its version of the protocol has.
func (r *Relay) post(ctx context.Context, s session, m message, raw json.RawMessage) (*http.Response, error) {
	header := http.Header{}
	version := s.version
	if m.Params.Meta.Version != "" {
		version = m.Params.Meta.Version
	}
	if version != "" {
		header.Set("Mcp-Protocol-Version", version)
	}
	if s.id != "" {
		header.Set(sessionHeader, s.id)
	}
	if version >= sessionless && m.Method != "" { // SEP-2243
		header.Set("Mcp-Method", m.Method)
		switch m.Method {
		case "tools/call", "prompts/get":
			header.Set("Mcp-Name", m.Params.Name)
		case "resources/read":
			header.Set("Mcp-Name", m.Params.URI)
		}
	}
	return r.do(ctx, http.MethodPost, header, raw)
}

func (r *Relay) do(ctx context.Context, method string, header http.Header, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, r.URL+Path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if header != nil {
		req.Header = header
	}
	req.Header.Set("Authorization", "Bearer "+r.Token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := r.HTTP.Do(req)
	if err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("the bridge at %s does not answer: is it running? (%w)", r.URL, errors.Unwrap(err))
	}
	return resp, err
}

// answer writes the messages of a response.
func (r *Relay) answer(m message, raw json.RawMessage, resp *http.Response) error {
	defer resp.Body.Close()
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	answered := false
	write := func(data []byte) error {
		var shown message
		if err := json.Unmarshal(data, &shown); err != nil {
			return fmt.Errorf("the bridge's answer is not JSON: %w", err)
		}
		if m.isCall() && bytes.Equal(shown.ID, m.ID) && shown.Method == "" {
			answered = true
			if id := resp.Header.Get(sessionHeader); m.Method == "initialize" && id != "" {
				r.mu.Lock()
				r.session = session{id: id, version: shown.Result.Version, initialize: raw}
				r.mu.Unlock()
			}
		}
		return r.write(data)
	}
	switch {
	case kind == "text/event-stream":
		for frames := bufio.NewReader(resp.Body); ; {
			frame, err := client.NextFrame(frames)
			switch {
			case err != nil && (answered || !m.isCall()):
				return nil
			case err != nil:
				return fmt.Errorf("the connection to the bridge was lost before it answered: try again (%w)", err)
			case strings.TrimSpace(frame.Data) == "":
				continue
			}
			if err := write([]byte(frame.Data)); err != nil {
				return err
			}
		}
	case kind == "application/json" && resp.StatusCode < http.StatusInternalServerError && m.isCall():
		data, err := io.ReadAll(resp.Body)
		if err == nil {
			err = write(data)
		}
		if err != nil || answered {
			return err
		}
		return errors.New("the bridge refused the message: HTTP " + resp.Status)
	case resp.StatusCode >= http.StatusMultipleChoices:
		data, _ := io.ReadAll(io.LimitReader(resp.Body, 1024)) // the status says enough
		return fmt.Errorf("the bridge refused the message: %s (HTTP %s)", strings.TrimSpace(string(data)), resp.Status)
	}
	return nil
}

// write writes a message on one line.
func (r *Relay) write(data []byte) error {
	var line bytes.Buffer
	if err := json.Compact(&line, data); err != nil {
		return err
	}
	line.WriteByte('\n')
	r.outMu.Lock()
	defer r.outMu.Unlock()
	_, err := r.out.Write(line.Bytes())
	if err != nil {
		r.gone()
	}
	return err
}

// refuse answers a message that the bridge has not answered.
func (r *Relay) refuse(id json.RawMessage, code int, why string) {
	if id == nil {
		id = json.RawMessage("null")
	}
	data, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": why}})
	if err != nil {
		data = []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"the answer cannot be encoded"}}`)
	}
	_ = r.write(data) // which ends it all if it fails
}

// end ends the session at the bridge.
func (r *Relay) end() {
	r.mu.Lock()
	ended := r.session
	r.mu.Unlock()
	if ended.id == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	resp, err := r.do(ctx, http.MethodDelete, http.Header{sessionHeader: {ended.id}, "Mcp-Protocol-Version": {ended.version}}, nil)
	if err == nil {
		_ = resp.Body.Close()
	}
}
