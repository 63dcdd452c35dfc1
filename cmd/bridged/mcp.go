package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"

	"bridged/internal/api"
	"bridged/internal/client"
	"bridged/internal/config"
	"bridged/internal/document"
	"bridged/internal/mcp"
)

// withAgents serves agents at their path, unless that is switched off.
func (a *app) withAgents(c config.Config, router *api.Handler, next http.Handler) (http.Handler, error) {
	if c.MCP == config.MCPOff {
		return next, nil
	}
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the program's own file: %w", err)
	}
	agents := mcp.New(mcp.Options{
		Client: client.InProcess(router, ""), Family: router.Family, Send: c.MCP == config.MCPSend && c.EnableSend, Chats: c.SendChats, Confirm: c.MCPConfirm,
		SendsPerMinute: c.MCPSendsPerMinute, Version: version, Log: a.log,
		Scale: func(ctx context.Context, picture io.Reader) ([]byte, error) {
			return a.preparer.ScaleFrom(ctx, picture, mcp.PictureSide)
		},
		Text: document.NewReader(program, documentText).Part,
	})
	server := agents.Handler(a.streams)
	return choose(func(path string) bool { return path == mcp.Path }, server, next), nil
}

const documentText = "document-text"

// documentTextCommand writes the text of the document on standard input: the process that
// a document.Reader starts. The help does not list it.
func documentTextCommand() *command {
	c := newCommand(documentText, "Write the text of the document on standard input.", func(e *environment, _ []string) error {
		return document.Serve(os.Stdin, e.stdout)
	})
	return c.withoutEnvFile()
}

// mcpCommand relays one agent on standard input and output to the running bridge.
func mcpCommand() *command {
	c := newCommand("mcp", "Connect one agent on standard input and output (Model Context Protocol) to the running bridge.", nil)
	return c.callsBridge(func(e *environment, api *client.Client, _ []string) error {
		relay := mcp.Relay{URL: api.BaseURL(), Token: api.Token(), HTTP: &http.Client{Transport: new(http.Transport)}}
		return relay.Run(e.ctx, os.Stdin, e.stdout)
	})
}
