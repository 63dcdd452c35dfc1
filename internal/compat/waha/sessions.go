package waha

import (
	"bytes"
	"encoding/base64"
	"io"
	"net/http"
	"strconv"
	"strings"

	"rsc.io/qr"

	"bridged/internal/bridge"
	"bridged/internal/compat"
)

func showVersion(*compat.Call) (any, error) {
	return map[string]any{"version": version, "engine": engine, "tier": "PLUS", "browser": nil, "platform": "linux/x64"}, nil
}

// sessionInfo describes the session.
type sessionInfo struct {
	Name       string         `json:"name"`
	Status     string         `json:"status"`
	Config     sessionConfig  `json:"config"`
	Me         *me            `json:"me"`
	Presence   string         `json:"presence"`
	Timestamps map[string]any `json:"timestamps"`
	Engine     map[string]any `json:"engine"`
	Apps       []any          `json:"apps"`
}

// me describes the account.
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

// stateOf returns WAHA's name of an account's state.
func stateOf(state bridge.State, wantsPasskey bool) string {
	switch state {
	case bridge.StateOpen:
		return "WORKING"
	case bridge.StateConnecting:
		return "STARTING"
	case bridge.StateNeedsPair:
		if wantsPasskey {
			return "PASSKEY_REQUIRED"
		}
		return "SCAN_QR_CODE"
	case bridge.StateClosed:
		return "FAILED"
	}
	return "STOPPED"
}

// checkSession refuses a session other than ours. An empty name means ours.
func checkSession(name string) error {
	if name == "" || name == session {
		return nil
	}
	return bridge.Fail(codeNoSession, "%s", beforeSession+bridge.Beginning(name, 100)+afterSession)
}

func infoOf(c *compat.Call) (sessionInfo, error) {
	status, err := c.API.Status(c.Context())
	if err != nil {
		return sessionInfo{}, err
	}
	webhooks, err := shownWebhooks(c)
	return sessionInfo{
		Name: session, Status: stateOf(status.Status, status.Passkey != nil), Config: sessionConfig{Metadata: map[string]any{}, Webhooks: webhooks}, Me: meOf(status.User), Presence: "offline",
		Timestamps: map[string]any{"activity": status.Since.UnixMilli()}, Engine: map[string]any{"engine": engine}, Apps: []any{},
	}, err
}

func listSessions(c *compat.Call) (any, error) {
	info, err := infoOf(c)
	return []sessionInfo{info}, err
}

func showSession(c *compat.Call) (any, error) { return infoOf(c) }

func showMe(c *compat.Call) (any, error) {
	account, err := c.Account()
	return meOf(account), err
}

// currentState returns WAHA's name of the account's state, or "FAILED" if the caller may not see it.
func currentState(c *compat.Call) string {
	if c != nil {
		if status, err := c.API.Status(c.Context()); err == nil {
			return stateOf(status.Status, status.Passkey != nil)
		}
	}
	return "FAILED"
}

// reconnect connects the session again. A session is never stopped.
func reconnect(c *compat.Call) (any, error) {
	if err := c.API.Reconnect(c.Context()); err != nil {
		return nil, err
	}
	return infoOf(c)
}

func logout(c *compat.Call) (any, error) {
	if _, err := c.API.Logout(c.Context()); err != nil {
		return nil, err
	}
	return infoOf(c)
}

// showQR returns the QR code that links the account, as a picture or as its text.
func showQR(c *compat.Call) (any, error) {
	status, err := c.API.Status(c.Context())
	switch {
	case err != nil:
		return nil, err
	case status.QR == nil:
		return nil, bridge.Fail(codeNoQR, "the session is %s: there is no QR code to scan", stateOf(status.Status, status.Passkey != nil))
	case c.URL.Query().Get("format") == "raw":
		return map[string]string{"value": *status.QR}, nil
	}
	code, err := qr.Encode(*status.QR, qr.L)
	if err != nil {
		return nil, err
	}
	if strings.Contains(c.Header.Get("Accept"), "application/json") {
		return map[string]string{"mimetype": "image/png", "data": base64.StdEncoding.EncodeToString(code.PNG())}, nil
	}
	picture := code.PNG()
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"image/png"}, "Content-Length": {strconv.Itoa(len(picture))}},
		Body: io.NopCloser(bytes.NewReader(picture)),
	}, nil
}

// requestCodeBody is the body of [requestCode].
type requestCodeBody struct {
	PhoneNumber compat.Text `json:"phoneNumber"`
}

func requestCode(c *compat.Call, in requestCodeBody) (any, error) {
	code, err := c.API.Pair(c.Context(), string(in.PhoneNumber))
	return map[string]string{"code": code.Code}, err
}

func showHealth(*compat.Call) (any, error) {
	return map[string]any{"status": "ok", "info": map[string]any{}, "error": map[string]any{}, "details": map[string]any{}}, nil
}
