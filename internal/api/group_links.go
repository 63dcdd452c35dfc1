package api

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"bridged/internal/api/content"
	"bridged/internal/bridge"
)

// askGroup returns the group that the path names, if it is stored and the account is connected.
func askGroup(in *input) (bridge.JID, error) {
	jid := in.pathGroup()
	if in.err != nil {
		return "", in.err
	}
	if _, err := in.chat(in.ctx(), jid); err != nil {
		return "", err
	}
	return jid, in.Account.Ready()
}

func listJoinRequests(in *input) (any, error) {
	jid, err := askGroup(in)
	if err != nil {
		return nil, err
	}
	requests, err := in.Account.JoinRequests(in.ctx(), jid)
	if err == nil {
		err = in.concealAsking(in.ctx(), requests)
	}
	return struct {
		JID      bridge.JID           `json:"jid"`
		Count    int                  `json:"count"`
		Requests []bridge.JoinRequest `json:"requests"`
	}{jid, len(requests), bridge.NotNil(requests)}, err
}

// concealAsking shows people whom the caller may not know only under the JID that the network used.
func (s *server) concealAsking(ctx context.Context, requests []bridge.JoinRequest) error {
	named := make([]bridge.JID, len(requests))
	for i := range requests {
		named[i] = requests[i].Named
	}
	outside, err := s.outsiders(ctx, named...)
	if err != nil {
		return err
	}
	for i, request := range requests {
		if slices.Contains(outside, request.Named) {
			requests[i] = request.AsNamed()
		}
	}
	return nil
}

func getInvite(in *input) (any, error) {
	jid, err := askGroup(in)
	if err != nil {
		return nil, err
	}
	return in.Account.GroupLink(in.ctx(), jid)
}

// getInvitedGroup describes the group of a link, which the account need not be in.
func getInvitedGroup(in *input) (any, error) {
	code, err := content.ParseLink(in.pathID("code"))
	keep(in, code, err)
	if err := cmp.Or(in.err, in.Account.Ready()); err != nil {
		return nil, err
	}
	return in.Account.InvitedGroup(in.ctx(), code)
}

func revokeInvite(in *input) (any, error) {
	jid := in.pathGroup()
	return requestOnce(in, nil, keyedRequest{
		chat: jid,
		plan: func(ctx context.Context) (any, error) {
			link, err := in.Account.GroupLink(ctx, jid)
			return link.Code, err
		},
		act: func(ctx context.Context, c attempt) (any, error) {
			before := "" // the code before the first call
			if c.again {
				if err := json.Unmarshal(c.Plan, &before); err != nil {
					return nil, err
				}
			}
			link, err := in.Account.RevokeGroupLink(ctx, jid, before)
			return struct {
				OK bool `json:"ok"`
				bridge.GroupLink
			}{true, link}, err
		},
	})
}

func joinGroup(in *input) (any, error) {
	var req content.Join
	body := in.body(&req, strict)
	code, chat, err := req.Parse()
	keep(in, code, err)
	return requestOnce(in, body, keyedRequest{act: func(ctx context.Context, c attempt) (any, error) {
		join, err := in.join(ctx, code, chat, req.MsgID, c.again)
		return struct {
			OK bool `json:"ok"`
			bridge.GroupJoin
		}{true, join}, err
	}})
}

// join joins a group with the code of its link, or with the invitation in a message.
func (s *server) join(ctx context.Context, code string, chat bridge.JID, id string, again bool) (bridge.GroupJoin, error) {
	if code != "" {
		return s.Account.JoinGroup(ctx, code, again)
	}
	m, err := s.message(ctx, chat, id)
	if err != nil {
		return bridge.GroupJoin{}, err
	}
	return s.Account.JoinInvited(ctx, m, again)
}

func leaveGroup(in *input) (any, error) {
	jid := in.pathGroup()
	in.body(&struct{}{}, optional)
	return requestOnce(in, nil, keyedRequest{chat: jid, act: func(ctx context.Context, c attempt) (any, error) {
		return struct {
			OK  bool       `json:"ok"`
			JID bridge.JID `json:"jid"`
		}{true, jid}, in.Account.LeaveGroup(ctx, jid, c.again)
	}})
}
