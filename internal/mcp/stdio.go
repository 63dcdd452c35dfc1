package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"bridged/internal/bridge"
)

// ServeStdio serves one agent on in and out until in ends, out is closed or ctx is done. It offers
// the tools, resources and prompts that the running bridge at url offers to the token, and passes
// every call on to it, so the bridge's limits and its log are the same as for agents over HTTP. It
// fails at once if the bridge cannot be reached, has MCP switched off or refuses the token.
func ServeStdio(ctx context.Context, url, token string, in io.ReadCloser, out io.WriteCloser) error {
	upstream := sdk.NewClient(&sdk.Implementation{Name: "bridged mcp"}, &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{}, MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true}, // each call passes on the agent's
	})
	session, err := upstream.Connect(ctx, &sdk.StreamableClientTransport{
		Endpoint: url + Path, HTTPClient: &http.Client{Transport: &bridgeTransport{new(http.Transport), url, token}},
	}, nil)
	if err != nil {
		return refused(err)
	}
	defer session.Close()
	server, err := mirror(ctx, session)
	if err != nil {
		return refused(err)
	}
	err = server.Run(ctx, &stdioTransport{sdk.IOTransport{Reader: in, Writer: out}})
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// mirror returns a server with the tools, resources and prompts of a bridge, which answers them.
func mirror(ctx context.Context, session *sdk.ClientSession) (*sdk.Server, error) {
	about := session.InitializeResult()
	server := sdk.NewServer(about.ServerInfo, &sdk.ServerOptions{Instructions: about.Instructions, Capabilities: about.Capabilities, SetCacheable: forbidCaching})
	server.AddReceivingMiddleware(explainUnasked)
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		server.AddTool(tool, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			result, err := session.CallTool(ctx, &sdk.CallToolParams{
				Meta: sdk.Meta{sdk.MetaKeyClientCapabilities: req.ClientCapabilities()}, // whether the client can ask a person
				Name: req.Params.Name, Arguments: req.Params.Arguments, InputResponses: req.Params.InputResponses, RequestState: req.Params.RequestState,
			})
			return result, refused(err)
		})
	}
	if about.Capabilities.Resources == nil {
		return server, nil
	}
	read := func(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		result, err := session.ReadResource(ctx, &sdk.ReadResourceParams{URI: req.Params.URI})
		return result, refused(err)
	}
	for resource, err := range session.Resources(ctx, nil) {
		if err != nil {
			return nil, err
		}
		server.AddResource(resource, read)
	}
	for template, err := range session.ResourceTemplates(ctx, nil) {
		if err != nil {
			return nil, err
		}
		server.AddResourceTemplate(template, read)
	}
	for prompt, err := range session.Prompts(ctx, nil) {
		if err != nil {
			return nil, err
		}
		server.AddPrompt(prompt, func(ctx context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			result, err := session.GetPrompt(ctx, &sdk.GetPromptParams{Name: req.Params.Name, Arguments: req.Params.Arguments})
			return result, refused(err)
		})
	}
	return server, nil
}

// codeUnserved is the JSON-RPC code for a message that the bridge refused or did not get.
const codeUnserved = -32000

// refused returns an error for the agent: the bridge's own, or the reason why it was not reached.
func refused(err error) error {
	if known, ok := errors.AsType[*bridge.Error](err); ok {
		return &jsonrpc.Error{Code: codeUnserved, Message: known.Msg}
	}
	if answered, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return answered
	}
	return err
}

// bridgeTransport sends the messages of the SDK to a bridge. A failure is an error of one request
// only. Without it, the SDK would end the session after an unexpected status or an incomplete answer.
type bridgeTransport struct {
	http.RoundTripper
	url, token string
}

// RoundTrip returns the answer with its whole body.
func (t *bridgeTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+t.token)
	resp, err := t.RoundTripper.RoundTrip(req)
	if err != nil {
		return nil, bridge.Fail(bridge.CodeNotConnected, "the bridge at %s does not answer: is it running? (%v)", t.url, err)
	}
	body, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return nil, bridge.Fail(bridge.CodeNotConnected, "the connection to the bridge was lost before it answered: try again (%v)", err)
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	switch isMessage := bytes.Contains(body, []byte(`"jsonrpc"`)); {
	case resp.StatusCode == http.StatusNotFound && !isMessage:
		return nil, bridge.Fail(bridge.CodeForbidden, "MCP is off at %s: set MCP=read or MCP=send in the bridge's environment, and restart it", t.url)
	case resp.StatusCode == http.StatusUnauthorized:
		return nil, bridge.Fail(bridge.CodeUnauthorized, "the bridge at %s does not know this token, or it has expired: set BRIDGE_TOKEN to one that `bridged token create` printed", t.url)
	case resp.StatusCode >= http.StatusMultipleChoices && !isMessage:
		return nil, bridge.Fail(bridge.CodeNotConnected, "the bridge refused the message: %.1000s (HTTP %s)", refusalOf(body), resp.Status)
	}
	return resp, nil
}

// refusalOf returns the sentence of a refusal, or the whole body if a proxy has answered.
func refusalOf(body []byte) string {
	var refusal struct{ Error string }
	if json.Unmarshal(body, &refusal) == nil && refusal.Error != "" {
		return refusal.Error
	}
	return string(bytes.TrimSpace(body))
}

// lastCalls limits how long calls go on after the agent has closed its output.
const lastCalls = time.Minute

// stdioTransport connects an agent on standard input and output.
type stdioTransport struct{ sdk.IOTransport }

// Connect implements [sdk.Transport].
func (t *stdioTransport) Connect(ctx context.Context) (sdk.Connection, error) {
	lines, err := t.IOTransport.Connect(ctx)
	c := &stdioConnection{Connection: lines}
	c.open, c.close = context.WithCancel(ctx)
	return c, err
}

// stdioConnection ends only after the calls that were read are answered, or after [lastCalls].
type stdioConnection struct {
	sdk.Connection
	calls sync.WaitGroup
	open  context.Context
	close context.CancelFunc
}

// Read returns the next message.
func (c *stdioConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	message, err := c.Connection.Read(ctx)
	if request, ok := message.(*jsonrpc.Request); ok && request.IsCall() {
		c.calls.Add(1)
	}
	if errors.Is(err, io.EOF) {
		defer time.AfterFunc(lastCalls, c.close).Stop()
		go func() {
			c.calls.Wait()
			c.close()
		}()
		<-c.open.Done()
	}
	return message, err
}

// Write writes a message.
func (c *stdioConnection) Write(ctx context.Context, message jsonrpc.Message) error {
	if _, answers := message.(*jsonrpc.Response); answers {
		defer c.calls.Done()
	}
	return c.Connection.Write(ctx, message)
}

// Close ends the connection at once.
func (c *stdioConnection) Close() error {
	c.close()
	return c.Connection.Close()
}
