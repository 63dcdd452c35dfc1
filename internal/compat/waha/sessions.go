package waha

import (
	"net/http"

	"bridged/internal/bridge"
	"bridged/internal/compat"
)

func showVersion(*compat.Call) (compat.Answer, error) {
	return compat.OK(map[string]any{"version": version, "engine": "GOWS", "tier": "PLUS", "browser": nil, "platform": "linux/x64"})
}

// sessionInfo describes the session.
type sessionInfo struct {
	Name       string         `json:"name"`
	Status     string         `json:"status"`
	Config     map[string]any `json:"config"`
	Me         *me            `json:"me"`
	Presence   string         `json:"presence"`
	Timestamps map[string]any `json:"timestamps"`
	Engine     map[string]any `json:"engine"`
	Apps       []any          `json:"apps"`
}

// me names the account.
type me struct {
	ID       string     `json:"id"`
	LID      bridge.JID `json:"lid"`
	JID      bridge.JID `json:"jid"`
	PushName string     `json:"pushName"`
}

func meOf(user *bridge.User) *me {
	if user == nil {
		return nil
	}
	return &me{compat.AsChat(user.JID), user.LID, user.JID, user.PushName}
}

// stateOf returns WAHA's word for a state of the account.
func stateOf(status bridge.Status) string {
	switch status.Status {
	case bridge.StateOpen:
		return "WORKING"
	case bridge.StateConnecting:
		return "STARTING"
	case bridge.StateNeedsPair:
		if status.Passkey != nil {
			return "PASSKEY_REQUIRED"
		}
		return "SCAN_QR_CODE"
	case bridge.StateClosed:
		return "FAILED"
	}
	return "STOPPED"
}

// sessionOf returns the name of the session in a path; empty for none.
func sessionOf(r *http.Request) string { return r.PathValue("session") }

// checkSession refuses a session other than ours. A missing name is ours.
func checkSession(name string) error {
	if name == "" || name == session {
		return nil
	}
	return bridge.Fail(codeNoSession, `Session "%s" does not exist`, bridge.Beginning(name, 100))
}

func infoOf(c *compat.Call) (sessionInfo, error) {
	status, err := c.API.Status(c.Context())
	return sessionInfo{
		Name: session, Status: stateOf(status), Config: map[string]any{"metadata": map[string]any{}, "webhooks": []any{}}, Me: meOf(status.User), Presence: "offline",
		Timestamps: map[string]any{"activity": status.Since.UnixMilli()}, Engine: map[string]any{"engine": "GOWS"}, Apps: []any{},
	}, err
}

func listSessions(c *compat.Call) (compat.Answer, error) {
	info, err := infoOf(c)
	if err != nil {
		return compat.Answer{}, err
	}
	return compat.OK([]sessionInfo{info})
}

func showSession(c *compat.Call) (compat.Answer, error) {
	if err := checkSession(sessionOf(c.Request)); err != nil {
		return compat.Answer{}, err
	}
	info, err := infoOf(c)
	if err != nil {
		return compat.Answer{}, err
	}
	return compat.OK(info)
}

func showMe(c *compat.Call) (compat.Answer, error) {
	if err := checkSession(sessionOf(c.Request)); err != nil {
		return compat.Answer{}, err
	}
	own, err := c.API.OwnToken(c.Context())
	if err != nil {
		return compat.Answer{}, err
	}
	return compat.OK(meOf(own.Account))
}

// presentState returns WAHA's word for the account's state; "FAILED" if the caller may not see it.
func presentState(c *compat.Call) string {
	if c != nil {
		if status, err := c.API.Status(c.Context()); err == nil {
			return stateOf(status)
		}
	}
	return "FAILED"
}
