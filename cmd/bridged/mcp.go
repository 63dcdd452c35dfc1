package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"bridged/internal/api"
	"bridged/internal/client"
	"bridged/internal/config"
	"bridged/internal/document"
	"bridged/internal/mcp"
	"bridged/internal/oauth"
	"bridged/internal/urlguard"
)

// withAgents serves agents at [mcp.Path], unless MCP is off.
func (a *app) withAgents(c config.Config, router *api.Handler, next http.Handler) (http.Handler, error) {
	if c.MCP == config.MCPOff {
		return next, nil
	}
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the program's own file: %w", err)
	}
	options := mcp.Options{
		Client: client.InProcess(router, ""), Token: router.Token, Public: c.PublicURLs, Send: c.MCP == config.MCPSend && c.EnableSend, Chats: c.SendChats, Confirm: c.MCPConfirm,
		SendsPerMinute: c.MCPSendsPerMinute, Version: version, Log: a.log,
		Scale: func(ctx context.Context, picture io.Reader) ([]byte, error) {
			return a.preparer.ScaleFrom(ctx, picture, mcp.PictureSide)
		},
		Text: document.NewReader(program, documentText).Part,
	}
	if a.oauth != nil {
		options.Metadata = a.oauth.MetadataURL
		next = choose(a.oauth.Serves, a.oauth.Handler(), next)
	}
	server := mcp.New(options).Handler(a.streams)
	return choose(func(path string) bool { return path == mcp.Path }, server, next), nil
}

// newOAuth returns the server that gives agents' clients tokens with the owner's consent, or nil without
// MCP_OAUTH.
func (a *app) newOAuth(c config.Config, router *api.Handler) *oauth.Server {
	if !c.MCPOAuth {
		return nil
	}
	guard := urlguard.New(urlguard.Options{Timeout: documentTimeout, UserAgent: userAgent(), MaxConcurrent: 2, AllowPrefixes: c.FetchAllow})
	return oauth.New(oauth.Options{
		Store: a.store, Tokens: router.Tokens(), Operator: client.InProcess(router, c.Token), Fetch: guard.Fetch,
		Public: c.OAuthURLs, BasePath: c.BasePath, Path: mcp.Path, Send: c.MCP == config.MCPSend && c.EnableSend, Log: a.log,
	})
}

// documentTimeout limits how long fetching the document about an OAuth client takes, with a person waiting.
const documentTimeout = 5 * time.Second

const documentText = "document-text"

// documentTextCommand is the process that a document.Reader starts.
func (e *environment) documentTextCommand() *cobra.Command {
	return withoutEnvFile(e.newCommand(documentText, "Write the text of the document on standard input.", func([]string) error {
		return document.Serve(os.Stdin, e.stdout)
	}))
}

// mcpCommand serves one agent on standard input and output through the running bridge.
func (e *environment) mcpCommand() *cobra.Command {
	const help = "Connect one agent on standard input and output (Model Context Protocol) to the running bridge."
	return e.bridgeCommand("mcp", help, func(api *client.Client, _ []string) error {
		return mcp.ServeStdio(e.ctx, api.BaseURL(), api.Token(), os.Stdin, os.Stdout)
	})
}
