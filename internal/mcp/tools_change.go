package mcp

import (
	"context"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// change is a change that a tool makes instead of sending a message.
type change interface {
	apply(ctx context.Context, api *client.Client, key string) (client.Sent, error)
}

// addChanges registers the tools that change messages and contacts.
func (r registry) addChanges() {
	addSend(r, "vote", "Vote", "Sets the account's vote in a poll.", func(in vote) (draft, error) {
		out := draft{what: "the vote " + quoted(strings.Join(in.Options, ", ")), about: in.MsgID, change: in}
		if len(in.Options) == 0 {
			out.what = "no vote any more"
		}
		return out, nil
	})
	addSend(r, "pin", "Pin", "Pins a message to the top of its chat, for everybody in it, or unpins it.", func(in pin) (draft, error) {
		out := draft{lead: "Pin a message for", what: in.For, link: "in", about: in.MsgID, change: in}
		if in.For == pinOff {
			out.lead, out.what = "Unpin", "a message"
		}
		return out, nil
	})
	addSend(r, "star", "Star", "Stars a message for the account alone, or removes its star.", func(in star) (draft, error) {
		out := draft{lead: "Star", what: "a message", link: "in", about: in.MsgID, change: in}
		if in.Off {
			out.lead = "Remove the star of"
		}
		return out, nil
	})
	add(r, "save_contact", "Save a contact", "Saves a person's name in the account's address book, as it is on the phone.", true, call.saveContact)
}

type vote struct {
	toChat
	MsgID   string   `json:"msgId" jsonschema:"the poll"`
	Options []string `json:"options" jsonschema:"the names of the chosen options; empty withdraws the vote"`
}

func (in vote) apply(ctx context.Context, api *client.Client, key string) (client.Sent, error) {
	return api.Vote(ctx, in.JID, in.MsgID, in.Options, key)
}

type pin struct {
	toChat
	MsgID string `json:"msgId"`
	For   string `json:"for" jsonschema:"off unpins it" enum:"24h,7d,30d,off"`
}

const pinOff = "off"

func (in pin) apply(ctx context.Context, api *client.Client, key string) (client.Sent, error) {
	if in.For == pinOff {
		return api.Unpin(ctx, in.JID, in.MsgID, key)
	}
	return api.Pin(ctx, in.JID, in.MsgID, in.For, key)
}

type star struct {
	toChat
	MsgID string `json:"msgId"`
	Off   bool   `json:"off,omitempty" jsonschema:"true removes the star"`
}

func (in star) apply(ctx context.Context, api *client.Client, key string) (client.Sent, error) {
	if in.Off {
		return api.Unstar(ctx, in.JID, in.MsgID, key)
	}
	return api.Star(ctx, in.JID, in.MsgID, key)
}

type saveContact struct {
	JID  bridge.JID `json:"jid" jsonschema:"the person's JID"`
	Name string     `json:"name" jsonschema:"empty removes the person from the address book"`
}

func (in saveContact) chat() bridge.JID { return in.JID }

func (in saveContact) apply(ctx context.Context, api *client.Client, key string) (client.Sent, error) {
	return client.Sent{Chat: in.JID}, api.SaveName(ctx, in.JID, bridge.ContactName{Full: in.Name}, key)
}

type savedAnswer struct {
	JID  bridge.JID `json:"jid"`
	Name string     `json:"name"`
}

func (a *savedAnswer) compact() any { return map[string]any{"saved": a.Name != "", "jid": a.JID} }

// saveContact saves a name under the conditions of a send.
func (c call) saveContact(ctx context.Context, in saveContact) (*sdk.ImageContent, *savedAnswer, error) {
	out := draft{chat: in.JID, lead: "Save", what: "the name " + quoted(in.Name), link: "in the address book for", change: in}
	if in.Name == "" {
		out.lead, out.what, out.link = "Remove", "the contact", "from the address book:"
	}
	if _, err := c.send(ctx, out); err != nil {
		return nil, nil, err
	}
	return nil, &savedAnswer{in.JID, capped(in.Name, maxName)}, nil
}
