package main

import (
	"context"
	"errors"
	"net/http"
	"os"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rs/zerolog"

	"bridged/internal/api"
	"bridged/internal/client"
	"bridged/internal/config"
	"bridged/internal/mcp"
)

// agents returns the server of agents. family is nil if there is one caller.
func agents(c config.Config, api *client.Client, log zerolog.Logger, family func(context.Context, string) (int64, bool)) *mcp.Server {
	return mcp.New(mcp.Options{
		Client: api, Family: family, Send: c.MCP == config.MCPSend && c.EnableSend, Chats: c.SendChats, Confirm: c.MCPConfirm, SendsPerMinute: c.MCPSendsPerMinute,
		Version: version, Log: log,
	})
}

// withAgents serves agents at their path, unless that is switched off.
func (a *app) withAgents(c config.Config, router *api.Handler, next http.Handler) http.Handler {
	if c.MCP == config.MCPOff {
		return next
	}
	server := agents(c, client.InProcess(router, ""), a.log, router.Family).Handler(a.streams)
	return choose(func(path string) bool { return path == mcp.Path }, server, next)
}

// mcpCommand serves one agent on standard input and output, as a client of the running
// bridge.
func mcpCommand() *command {
	const help = "Serve one agent on standard input and output (Model Context Protocol), through the running bridge."
	return newCommand("mcp", help, func(e *environment, _ []string) error {
		c, err := config.Part(e.environ, (*config.Config).CheckListenAddr, (*config.Config).CheckToken, (*config.Config).CheckMCP, (*config.Config).CheckLog)
		if err != nil {
			return err
		}
		if c.MCP == config.MCPOff {
			return config.Faults{"MCP is off: set MCP=read or MCP=send, in the environment of the agent's client too"}
		}
		api := client.New("http://"+dialable(c.ListenAddr), c.Token)
		defer api.Close()
		c.EnableSend = true // the bridge has its own switch
		err = agents(c, api, newLog(e.stderr, c.Level, c.LogFormat), nil).Run(e.ctx, c.Token, &sdk.StdioTransport{})
		if e.ctx.Err() != nil || errors.Is(err, os.ErrClosed) {
			return nil
		}
		return err
	})
}
