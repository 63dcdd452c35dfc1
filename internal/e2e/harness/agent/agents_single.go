package agent

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	. "bridged/internal/e2e/harness"
)

// Single is a client that speaks only the protocol of 2026-07-28, over plain HTTP:
// there is no session, and each request states the client's capabilities.
type Single struct {
	T            *testing.T
	At, Token    string
	Capabilities string
}

// Ask makes one request and returns its HTTP and JSON-RPC answers.
func (c Single) Ask(method, name string, params Fields) (*http.Response, Fields) {
	c.T.Helper()
	if params == nil {
		params = Fields{}
	}
	params["_meta"] = Fields{
		"io.modelcontextprotocol/protocolVersion": WithoutSessions, "io.modelcontextprotocol/clientCapabilities": json.RawMessage(c.Capabilities),
		"io.modelcontextprotocol/clientInfo": Fields{"name": "single", "version": "1"},
	}
	body := Must(json.Marshal(Fields{"jsonrpc": "2.0", "id": 7, "method": method, "params": params}))(c.T)
	req := Must(http.NewRequestWithContext(Within(c.T), http.MethodPost, "http://"+c.At+"/mcp", bytes.NewReader(body)))(c.T)
	for header, value := range map[string]string{
		"Authorization": "Bearer " + c.Token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": WithoutSessions, "Mcp-Method": method, "Mcp-Name": name,
	} {
		if value != "" {
			req.Header.Set(header, value)
		}
	}
	resp := Must(http.DefaultClient.Do(req))(c.T)
	defer resp.Body.Close()
	data := Must(io.ReadAll(resp.Body))(c.T)
	if resp.Header.Get("Content-Type") == "text/event-stream" {
		data = LastEvent(data)
	}
	var answer Fields
	if err := json.Unmarshal(data, &answer); err != nil {
		c.T.Fatalf("%s: %d %s: %v", method, resp.StatusCode, data, err)
	}
	if resp.Header.Get("Mcp-Session-Id") != "" || resp.Header.Get("Cache-Control") != "no-store" {
		c.T.Errorf("%s: headers %v", method, resp.Header)
	}
	return resp, answer
}

// Result returns the result of a request, which must succeed.
func (c Single) Result(method, name string, params Fields) Fields {
	c.T.Helper()
	resp, answer := c.Ask(method, name, params)
	result, ok := answer["result"].(Fields)
	if resp.StatusCode != http.StatusOK || !ok {
		c.T.Fatalf("%s: %d %v", method, resp.StatusCode, answer)
	}
	return result
}

func (c Single) Call(tool string, params Fields) Fields {
	c.T.Helper()
	params["name"] = tool
	return c.Result("tools/call", tool, params)
}
