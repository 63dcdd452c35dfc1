package mcp

import (
	"context"
	"net/url"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"bridged/internal/bridge"
)

const scheme = "bridged://"

func (d door) addResources() {
	read := func(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return d.of(req.Extra).resource(ctx, req.Params.URI)
	}
	d.AddResource(&sdk.Resource{URI: scheme + "status", Name: "status", Title: "Status of the account", MIMEType: "application/json"}, read)
	d.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: scheme + "chats/{+jid}", Name: "chat", Title: "A chat and its latest messages", MIMEType: "application/json"}, read)
	d.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: scheme + "messages/{+jid}/{+id}", Name: "message", Title: "A message", MIMEType: "application/json"}, read)
}

// resource reads what a URI names.
func (c *caller) resource(ctx context.Context, uri string) (*sdk.ReadResourceResult, error) {
	parts, err := partsOf(uri)
	if err != nil {
		return nil, err
	}
	shown, err := c.reads(ctx, "resource "+kindOf(parts), chatOfParts(parts), func(ctx context.Context) (answer, error) { return c.named(ctx, parts) })
	switch {
	case bridge.CodeOf(err) == bridge.CodeNotFound:
		return nil, sdk.ResourceNotFoundError(uri)
	case err != nil:
		return nil, bridge.Fail(bridge.CodeOf(err), "%s", sentence(err))
	}
	text, err := shown.text()
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: "application/json", Text: text}}}, err
}

// partsOf returns the decoded parts of a resource's URI.
func partsOf(uri string) ([]string, error) {
	parts := strings.Split(strings.TrimPrefix(uri, scheme), "/")
	for i, part := range parts {
		plain, err := url.PathUnescape(part)
		if err != nil {
			return nil, bridge.Invalid("the URI is malformed")
		}
		parts[i] = plain
	}
	return parts, nil
}

// kindOf returns what kind of resource is named, for the log.
func kindOf(parts []string) string {
	switch parts[0] {
	case "status", "chats", "messages":
		return parts[0]
	}
	return "unknown"
}

// chatOfParts returns the chat that a resource is about; empty for none.
func chatOfParts(parts []string) bridge.JID {
	if len(parts) > 1 {
		return bridge.JID(parts[1])
	}
	return ""
}

func (c *caller) named(ctx context.Context, parts []string) (answer, error) {
	switch {
	case len(parts) == 1 && parts[0] == "status":
		return c.status(ctx)
	case len(parts) == 2 && parts[0] == "chats":
		return c.chat(ctx, bridge.JID(parts[1]))
	case len(parts) == 3 && parts[0] == "messages":
		if err := checkJID(bridge.JID(parts[1])); err != nil {
			return nil, err
		}
		m, err := c.client.Message(ctx, bridge.JID(parts[1]), parts[2])
		return answer{"chatJid": m.Chat, "untrusted": answer{"message": messageOf(m, maxLong)}}, err
	}
	return nil, bridge.NotFound("there is no such resource")
}
