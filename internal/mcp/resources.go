package mcp

import (
	"context"
	"net/url"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"bridged/internal/bridge"
)

const scheme = "bridged://"

func (c *caller) addResources(server *sdk.Server) {
	server.AddResource(&sdk.Resource{URI: scheme + "status", Name: "status", Title: "Status of the account", MIMEType: "application/json"}, c.resource)
	server.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: scheme + "chats/{+jid}", Name: "chat", Title: "A chat and its latest messages", MIMEType: "application/json"}, c.resource)
	server.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: scheme + "messages/{+jid}/{+id}", Name: "message", Title: "A message", MIMEType: "application/json"}, c.resource)
}

// resource reads what a URI names.
func (c *caller) resource(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := req.Params.URI
	shown, err := c.named(ctx, uri)
	switch {
	case bridge.CodeOf(err) == bridge.CodeNotFound:
		return nil, sdk.ResourceNotFoundError(uri)
	case err != nil:
		return nil, bridge.Fail(bridge.CodeOf(err), "%s", sentence(err))
	}
	text, err := shown.text()
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: "application/json", Text: text}}}, err
}

func (c *caller) named(ctx context.Context, uri string) (answer, error) {
	parts := strings.Split(strings.TrimPrefix(uri, scheme), "/")
	for i, part := range parts {
		plain, err := url.PathUnescape(part)
		if err != nil {
			return nil, bridge.Invalid("the URI is malformed")
		}
		parts[i] = plain
	}
	switch {
	case len(parts) == 1 && parts[0] == "status":
		return c.status(ctx)
	case len(parts) == 2 && parts[0] == "chats":
		return c.chat(ctx, bridge.JID(parts[1]))
	case len(parts) == 3 && parts[0] == "messages":
		m, err := c.client.Message(ctx, bridge.JID(parts[1]), parts[2])
		return answer{"chatJid": m.Chat, "untrusted": answer{"message": messageOf(m, maxLong)}}, err
	}
	return nil, bridge.NotFound("there is no such resource")
}
