package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"bridged/internal/bridge"
)

type listScheduled struct {
	Chat bridge.JID `json:"chat,omitempty" jsonschema:"the JID of the only chat"`
	paged
}

func (in listScheduled) chat() bridge.JID { return in.Chat }

type scheduledAnswer struct {
	trusted
	Untrusted struct {
		Scheduled []scheduledView `json:"scheduled"`
	} `json:"untrusted"`
}

// scheduledView is a message that is sent later. Its text may come from another caller.
type scheduledView struct {
	ChatJID bridge.JID             `json:"chatJid"`
	MsgID   string                 `json:"msgId"`
	SendAt  bridge.Time            `json:"sendAt"`
	Status  bridge.ScheduledStatus `json:"status"`
	Type    bridge.ScheduledType   `json:"type"`
	Text    string                 `json:"text"`
	Problem string                 `json:"problem,omitempty"`
}

func (m scheduledView) compact() []any {
	return notes{"problem": m.Problem}.row(m.ChatJID, m.MsgID, m.SendAt, m.Status, m.Type, m.Text)
}

func (a *scheduledAnswer) compact() any {
	columns := []string{"chatJid", "msgId", "sendAt", "status", "type", "text"}
	return a.with(map[string]any{"columns": columns, "scheduled": compactRows(a.Untrusted.Scheduled)})
}

// scheduled returns the messages that are sent later.
func (c *caller) scheduled(ctx context.Context, in listScheduled) (*scheduledAnswer, error) {
	return fitting(in.limit(), func(most int) (*scheduledAnswer, int, error) {
		page, err := c.client.Scheduled(ctx, bridge.ScheduledQuery{Chat: in.Chat, Limit: most, Cursor: in.Cursor})
		shown := &scheduledAnswer{trusted: trusted{in.Chat, page.NextCursor}}
		shown.Untrusted.Scheduled = make([]scheduledView, 0, len(page.Items))
		for _, m := range page.Items {
			one := scheduledView{m.Chat, capped(m.ID, maxName), m.SendAt, m.Status, m.Type, capped(m.Content, maxShort), ""}
			if m.Error != nil {
				one.Problem = capped(m.Error.Error, maxShort)
			}
			shown.Untrusted.Scheduled = append(shown.Untrusted.Scheduled, one)
		}
		return shown, len(page.Items), err
	})
}

type cancelScheduled struct {
	toChat
	MsgID string `json:"msgId" jsonschema:"the scheduled message to that chat"`
}

type cancelledAnswer struct {
	ChatJID bridge.JID `json:"chatJid"`
	MsgID   string     `json:"msgId"`
}

func (a *cancelledAnswer) compact() any { return map[string]any{"cancelled": true, "msgId": a.MsgID} }

// cancelScheduled erases a scheduled message to a chat that agents may write to.
func (c call) cancelScheduled(ctx context.Context, in cancelScheduled) (*sdk.ImageContent, *cancelledAnswer, error) {
	if err := c.mayWrite(ctx, in.JID); err != nil {
		return nil, nil, err
	}
	page, err := c.client.ScheduledMessage(ctx, in.MsgID)
	if err == nil && page.Chat != in.JID {
		err = bridge.NoScheduled(in.MsgID)
	}
	if err == nil {
		err = c.client.CancelScheduled(ctx, in.MsgID)
	}
	return nil, &cancelledAnswer{in.JID, in.MsgID}, err
}
