package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"bridged/internal/bridge"
)

// getInvite answers the link by which a group may be joined.
func (s *server) getInvite(w http.ResponseWriter, r *http.Request) error {
	jid, err := pathGroup(r)
	if err != nil {
		return err
	}
	if _, err := s.chat(r.Context(), jid); err != nil {
		return err
	}
	if err := s.account.Ready(); err != nil {
		return err
	}
	link, err := s.account.GroupLink(r.Context(), jid)
	if err != nil {
		return err
	}
	return s.answer(w, r, link)
}

// linkBefore is the plan of a revocation.
type linkBefore struct {
	Code string `json:"code"`
}

// revokeInvite takes a group's link back and answers the new one.
func (s *server) revokeInvite(w http.ResponseWriter, r *http.Request) error {
	jid, err := pathGroup(r)
	if err != nil {
		return err
	}
	return s.requestOnce(w, r, nil, keyedRequest{
		chat: jid,
		plan: func(ctx context.Context) (any, error) {
			link, err := s.account.GroupLink(ctx, jid)
			return linkBefore{link.Code}, err
		},
		act: func(ctx context.Context, c attempt) (any, error) {
			var before linkBefore
			if c.again {
				if err := json.Unmarshal(c.Plan, &before); err != nil {
					return nil, err
				}
			}
			link, err := s.account.RevokeGroupLink(ctx, jid, before.Code)
			return struct {
				OK bool `json:"ok"`
				bridge.GroupLink
			}{true, link}, err
		},
	})
}

type joinRequest struct {
	Link string `json:"link"`
}

func (s *server) joinGroup(w http.ResponseWriter, r *http.Request) error {
	var req joinRequest
	body, err := s.bodies.decodeStrict(w, r, &req)
	if err != nil {
		return err
	}
	code, err := parseLink(req.Link)
	if err != nil {
		return err
	}
	return s.requestOnce(w, r, body, keyedRequest{act: func(ctx context.Context, c attempt) (any, error) {
		join, err := s.account.JoinGroup(ctx, code, c.again)
		return struct {
			OK bool `json:"ok"`
			bridge.GroupJoin
		}{true, join}, err
	}})
}

// parseLink returns the code of a group's link: the link as the apps copy it,
// with or without https, or the code alone.
func parseLink(link string) (code string, err error) {
	rest := strings.TrimSpace(link)
	for _, prefix := range []string{"https://", "http://", "chat.whatsapp.com/", "invite/"} {
		rest = strings.TrimPrefix(rest, prefix)
	}
	code, _, _ = strings.Cut(rest, "?")
	isCode := func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '-' || r == '_'
	}
	if len(link) > maxLink || len(code) < 10 || strings.TrimFunc(code, isCode) != "" {
		return "", bridge.Invalid("link must be the link of a group, as in https://chat.whatsapp.com/AbCdEfGhIjKlMnOpQrStUv")
	}
	return code, nil
}

func (s *server) leaveGroup(w http.ResponseWriter, r *http.Request) error {
	jid, err := pathGroup(r)
	if err != nil {
		return err
	}
	var none struct{}
	if _, err := s.bodies.decodeStrictOptional(w, r, &none); err != nil {
		return err
	}
	return s.requestOnce(w, r, nil, keyedRequest{chat: jid, act: func(ctx context.Context, c attempt) (any, error) {
		return struct {
			OK  bool       `json:"ok"`
			JID bridge.JID `json:"jid"`
		}{true, jid}, s.account.LeaveGroup(ctx, jid, c.again)
	}})
}
