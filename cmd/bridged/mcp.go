package main

import (
	"net/http"
	"os"

	"bridged/internal/api"
	"bridged/internal/client"
	"bridged/internal/config"
	"bridged/internal/mcp"
)

// withAgents serves agents at their path, unless that is switched off.
func (a *app) withAgents(c config.Config, router *api.Handler, next http.Handler) http.Handler {
	if c.MCP == config.MCPOff {
		return next
	}
	agents := mcp.New(mcp.Options{
		Client: client.InProcess(router, ""), Family: router.Family, Send: c.MCP == config.MCPSend && c.EnableSend, Chats: c.SendChats, Confirm: c.MCPConfirm,
		SendsPerMinute: c.MCPSendsPerMinute, Version: version, Log: a.log,
	})
	server := agents.Handler(a.streams)
	return choose(func(path string) bool { return path == mcp.Path }, server, next)
}

// mcpCommand relays one agent on standard input and output to the running bridge.
func mcpCommand() *command {
	return newCommand("mcp", "Connect one agent on standard input and output (Model Context Protocol) to the running bridge.", func(e *environment, _ []string) error {
		api, err := newClient(e.environ)
		if err != nil {
			return err
		}
		defer api.Close()
		relay := mcp.Relay{URL: api.BaseURL(), Token: api.Token(), HTTP: &http.Client{Transport: new(http.Transport)}}
		return relay.Run(e.ctx, os.Stdin, e.stdout)
	})
}
