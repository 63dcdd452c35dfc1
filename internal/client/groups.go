package client

import (
	"context"
	"net/http"

	"bridged/internal/bridge"
)

// GroupPatch is what is to change in a group; nil fields stay as they are.
type GroupPatch struct {
	Name                *string `json:"name,omitempty"`
	Topic               *string `json:"topic,omitempty"`
	IsAnnounce          *bool   `json:"isAnnounce,omitempty"`
	IsLocked            *bool   `json:"isLocked,omitempty"`
	JoinApproval        *bool   `json:"joinApproval,omitempty"`
	DisappearingSeconds *int    `json:"disappearingSeconds,omitempty"`
}

// CreateGroup makes a group, once for a key; without one ("") the call must not
// be repeated.
func (c *Client) CreateGroup(ctx context.Context, name string, participants []bridge.JID, key string) (made bridge.GroupCreated, err error) {
	err = c.callOnce(ctx, http.MethodPost, "/api/groups", map[string]any{"name": name, "participants": participants}, key, &made)
	return made, err
}

// ChangeGroup changes a group, and returns the fields that were changed. An
// [*Error] has those that were changed before it.
func (c *Client) ChangeGroup(ctx context.Context, jid bridge.JID, patch GroupPatch, key string) ([]string, error) {
	var answer struct{ Changed []string }
	err := c.callOnce(ctx, http.MethodPatch, "/api/groups/"+jid.Escaped(), patch, key, &answer)
	return answer.Changed, err
}

// ChangeParticipants changes members, and returns what became of each.
func (c *Client) ChangeParticipants(ctx context.Context, jid bridge.JID, action bridge.ParticipantAction, people []bridge.JID, key string) ([]bridge.ParticipantResult, error) {
	return c.changePeople(ctx, "/api/groups/"+jid.Escaped()+"/participants", action, people, key)
}

func (c *Client) changePeople(ctx context.Context, path string, action bridge.ParticipantAction, people []bridge.JID, key string) ([]bridge.ParticipantResult, error) {
	var answer struct{ Participants []bridge.ParticipantResult }
	body := map[string]any{"action": action, "participants": people}
	err := c.callOnce(ctx, http.MethodPost, path, body, key, &answer)
	return answer.Participants, err
}

// JoinRequests returns who asks to be let into a group.
func (c *Client) JoinRequests(ctx context.Context, jid bridge.JID) ([]bridge.JoinRequest, error) {
	return listOf[bridge.JoinRequest](ctx, c, "/api/groups/"+jid.Escaped()+"/requests", "requests")
}

// DecideJoinRequests approves or rejects people who ask to be let into a group, and
// returns what became of each.
func (c *Client) DecideJoinRequests(ctx context.Context, jid bridge.JID, action bridge.ParticipantAction, people []bridge.JID, key string) ([]bridge.ParticipantResult, error) {
	return c.changePeople(ctx, "/api/groups/"+jid.Escaped()+"/requests", action, people, key)
}

// GroupLink returns the link by which a group may be joined.
func (c *Client) GroupLink(ctx context.Context, jid bridge.JID) (bridge.GroupLink, error) {
	return call[bridge.GroupLink](ctx, c, http.MethodGet, "/api/groups/"+jid.Escaped()+"/invite", nil)
}

// RevokeGroupLink takes a group's link back, and returns the new one.
func (c *Client) RevokeGroupLink(ctx context.Context, jid bridge.JID, key string) (link bridge.GroupLink, err error) {
	err = c.callOnce(ctx, http.MethodDelete, "/api/groups/"+jid.Escaped()+"/invite", nil, key, &link)
	return link, err
}

// JoinGroup joins a group by its link.
func (c *Client) JoinGroup(ctx context.Context, link, key string) (join bridge.GroupJoin, err error) {
	err = c.callOnce(ctx, http.MethodPost, "/api/groups/join", map[string]any{"link": link}, key, &join)
	return join, err
}

// LeaveGroup leaves a group.
func (c *Client) LeaveGroup(ctx context.Context, jid bridge.JID, key string) error {
	return c.callOnce(ctx, http.MethodPost, "/api/groups/"+jid.Escaped()+"/leave", nil, key, nil)
}
