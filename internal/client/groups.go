package client

import (
	"context"
	"io"
	"net/http"

	"bridged/internal/bridge"
)

// GroupDetail describes a group as it is stored, and as it is on the network. Live is nil if the
// network did not answer.
type GroupDetail struct {
	JID    bridge.JID
	Stored bridge.StoredGroup
	Live   *bridge.Group
}

// Latest returns the group as it is on the network, or as it is stored if the network was not asked.
func (d GroupDetail) Latest() bridge.Group {
	if d.Live != nil {
		return *d.Live
	}
	return d.Stored.Group
}

// Group returns a group with its members.
func (c *Client) Group(ctx context.Context, jid bridge.JID) (GroupDetail, error) {
	return call[GroupDetail](ctx, c, http.MethodGet, groupPath(jid), nil)
}

// StoredGroup returns a group as it is stored, without asking the network.
func (c *Client) StoredGroup(ctx context.Context, jid bridge.JID) (bridge.StoredGroup, error) {
	detail, err := call[GroupDetail](ctx, c, http.MethodGet, groupPath(jid)+"?live=false", nil)
	return detail.Stored, err
}

func groupPath(jid bridge.JID) string { return "/api/groups/" + jid.Escaped() }

// CreateGroup creates a group with people. The response has the result for each person. For the
// key see Send.
func (c *Client) CreateGroup(ctx context.Context, name string, people []bridge.JID, key string) (made bridge.GroupCreated, err error) {
	body := map[string]any{"name": name, "participants": people}
	err = c.CallOnce(ctx, http.MethodPost, "/api/groups", body, key, &made)
	return made, err
}

// ChangeGroup changes the settings of a group and returns the names of the changed settings. If a
// change is refused, the ones before it stay in effect; see [Error].
func (c *Client) ChangeGroup(ctx context.Context, jid bridge.JID, patch bridge.GroupPatch, key string) (changed []string, err error) {
	var answer struct{ Changed []string }
	err = c.CallOnce(ctx, http.MethodPatch, groupPath(jid), patch, key, &answer)
	return answer.Changed, err
}

// SetGroupPicture sets a group's picture, which is cropped to a square. For the key see Send.
func (c *Client) SetGroupPicture(ctx context.Context, jid bridge.JID, picture io.Reader, key string) error {
	return c.setPicture(ctx, groupPath(jid)+"/picture", picture, key)
}

func (c *Client) setPicture(ctx context.Context, path string, picture io.Reader, key string) error {
	resp, err := c.send(ctx, http.MethodPut, path, "application/octet-stream", picture, keyed(key))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return c.decode(resp, nil)
}

// RemoveGroupPicture removes a group's picture. For the key see Send.
func (c *Client) RemoveGroupPicture(ctx context.Context, jid bridge.JID, key string) error {
	return c.CallOnce(ctx, http.MethodDelete, groupPath(jid)+"/picture", nil, key, nil)
}

// ChangeParticipants adds, removes, promotes or demotes people, and returns the result for each.
func (c *Client) ChangeParticipants(ctx context.Context, jid bridge.JID, action bridge.ParticipantAction, people []bridge.JID, key string) ([]bridge.ParticipantResult, error) {
	return c.changePeople(ctx, groupPath(jid)+"/participants", action, people, key)
}

func (c *Client) changePeople(ctx context.Context, path string, action bridge.ParticipantAction, people []bridge.JID, key string) ([]bridge.ParticipantResult, error) {
	var answer struct{ Participants []bridge.ParticipantResult }
	body := map[string]any{"action": action, "participants": people}
	err := c.CallOnce(ctx, http.MethodPost, path, body, key, &answer)
	return answer.Participants, err
}

// JoinRequests returns the requests to join a group.
func (c *Client) JoinRequests(ctx context.Context, jid bridge.JID) ([]bridge.JoinRequest, error) {
	return getAll[bridge.JoinRequest](ctx, c, groupPath(jid)+"/requests", "requests")
}

// DecideJoinRequests approves or rejects join requests, and returns the result for each.
func (c *Client) DecideJoinRequests(ctx context.Context, jid bridge.JID, action bridge.ParticipantAction, people []bridge.JID, key string) ([]bridge.ParticipantResult, error) {
	return c.changePeople(ctx, groupPath(jid)+"/requests", action, people, key)
}

// GroupLink returns the invite link of a group.
func (c *Client) GroupLink(ctx context.Context, jid bridge.JID) (bridge.GroupLink, error) {
	return call[bridge.GroupLink](ctx, c, http.MethodGet, groupPath(jid)+"/invite", nil)
}

// InvitedGroup describes the group of an invite link, by the code in the link, without joining it.
func (c *Client) InvitedGroup(ctx context.Context, code string) (bridge.InvitedGroup, error) {
	return call[bridge.InvitedGroup](ctx, c, http.MethodGet, "/api/groups/invites/"+pathID(code), nil)
}

// RevokeGroupLink revokes the link of a group and returns the new one.
func (c *Client) RevokeGroupLink(ctx context.Context, jid bridge.JID, key string) (link bridge.GroupLink, err error) {
	err = c.CallOnce(ctx, http.MethodDelete, groupPath(jid)+"/invite", nil, key, &link)
	return link, err
}

// LeaveGroup leaves a group.
func (c *Client) LeaveGroup(ctx context.Context, jid bridge.JID, key string) error {
	return c.CallOnce(ctx, http.MethodPost, groupPath(jid)+"/leave", nil, key, nil)
}

// JoinGroup joins a group with its link, or with the code in the link. For the key see Send.
func (c *Client) JoinGroup(ctx context.Context, link, key string) (join bridge.GroupJoin, err error) {
	err = c.CallOnce(ctx, http.MethodPost, "/api/groups/join", map[string]string{"link": link}, key, &join)
	return join, err
}

// JoinInvited joins a group with the invitation in a message. For the key see Send.
func (c *Client) JoinInvited(ctx context.Context, chat bridge.JID, message, key string) (join bridge.GroupJoin, err error) {
	err = c.CallOnce(ctx, http.MethodPost, "/api/groups/join", map[string]string{"chatJid": string(chat), "msgId": message}, key, &join)
	return join, err
}
