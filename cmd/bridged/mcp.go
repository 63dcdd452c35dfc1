package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"bridged/internal/api"
	"bridged/internal/api/front"
	"bridged/internal/bridge"
	"bridged/internal/client"
	"bridged/internal/mcp"
)

// The values of MCP.
const (
	mcpOff  = "off"
	mcpRead = "read"
	mcpSend = "send"
)

// checkMCP reads what agents may do.
func (c *config) checkMCP(faults *configFaults) {
	c.MCP = strings.ToLower(strings.TrimSpace(c.MCP))
	if !slices.Contains([]string{mcpOff, mcpRead, mcpSend}, c.MCP) {
		faults.add("MCP must be off, read or send")
	}
	if c.MCPSendsPerMinute < 1 || c.MCPSendsPerMinute > 1000 {
		faults.add("MCP_SENDS_PER_MINUTE must be 1 to 1000")
	}
	for value := range strings.SplitSeq(c.MCPSendChats, ",") {
		if value = strings.TrimSpace(value); value == "" {
			continue
		}
		jid, err := bridge.ParseJID(value)
		if err != nil || !jid.IsPerson() && !jid.IsGroup() {
			faults.add("MCP_SEND_CHATS must list JIDs of people and groups with commas between, such as 15551234567@s.whatsapp.net")
			return
		}
		c.sendChats = append(c.sendChats, jid)
	}
}

// agents returns the door for agents, as it is configured. family is nil where
// there is one caller.
func (c config) agents(api *client.Client, a *app, family func(context.Context, string) (int64, bool)) *mcp.Server {
	return mcp.New(mcp.Options{
		Client: api, Family: family, Send: c.MCP == mcpSend && c.EnableSend, Chats: c.sendChats, Confirm: c.MCPConfirm, SendsPerMinute: c.MCPSendsPerMinute,
		Version: version, Log: a.log,
	})
}

// withAgents gives the path of agents to their door, where it is open.
func (a *app) withAgents(c config, router *api.Handler, next http.Handler) http.Handler {
	if c.MCP == mcpOff {
		return next
	}
	door := c.agents(client.InProcess(router, ""), a, router.Family).Handler(mcp.HTTP{Stopping: a.streams, Unwanted: front.RefuseBody, Admit: front.Admit, Body: router.NewBodies().Read})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == mcp.Path {
			door.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// mcpCommand serves one agent on standard input and output. It is a client of
// the running bridge, with the token of its environment.
type mcpCommand struct{}

// Run serves until the agent closes its end.
func (mcpCommand) Run(e *environment) error {
	c, err := readPart(e.environ, (*config).checkListenAddr, (*config).checkToken, (*config).checkMCP, (*config).checkLog)
	if err != nil {
		return err
	}
	if c.MCP == mcpOff {
		return configFaults{"MCP is off: set MCP=read or MCP=send, in the environment of the agent's client too"}
	}
	api := client.New("http://"+dialable(c.ListenAddr), c.Token)
	defer api.Close()
	log := newLog(e.stderr, c.level, c.LogFormat)
	c.EnableSend = true // the bridge has its own switch
	err = c.agents(api, &app{log: log}, nil).Run(e.ctx, c.Token, &sdk.StdioTransport{})
	if e.ctx.Err() != nil || errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}
