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

func showVersion(*compat.Call) (compat.Answer, error) {
	return compat.OK(map[string]any{"version": version, "engine": engine, "tier": "PLUS", "browser": nil, "platform": "linux/x64"})
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

// sessionOf returns the name of the session in a path; empty for none.
func sessionOf(r *http.Request) string { return r.PathValue("session") }

// checkSession refuses a session other than ours. A missing name is ours.
func checkSession(name string) error {
	if name == "" || name == session {
		return nil
	}
	return bridge.Fail(codeNoSession, "%s", beforeSession+bridge.Beginning(name, 100)+behindSession)
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

// answerInfo answers the session as it is now.
func answerInfo(c *compat.Call, status int) (compat.Answer, error) {
	info, err := infoOf(c)
	return compat.Answer{Status: status, Body: info}, err
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
	return answerInfo(c, http.StatusOK)
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
			return stateOf(status.Status, status.Passkey != nil)
		}
	}
	return "FAILED"
}

// reconnect connects the session anew. It is never stopped.
func reconnect(c *compat.Call) (compat.Answer, error) {
	if err := checkSession(sessionOf(c.Request)); err != nil {
		return compat.Answer{}, err
	}
	if err := c.API.Reconnect(c.Context()); err != nil {
		return compat.Answer{}, err
	}
	return answerInfo(c, http.StatusCreated)
}

func logout(c *compat.Call) (compat.Answer, error) {
	if err := checkSession(sessionOf(c.Request)); err != nil {
		return compat.Answer{}, err
	}
	if _, err := c.API.Logout(c.Context()); err != nil {
		return compat.Answer{}, err
	}
	return answerInfo(c, http.StatusCreated)
}

// showQR answers the QR code that links the account: a picture, or its text.
func showQR(c *compat.Call) (compat.Answer, error) {
	if err := checkSession(sessionOf(c.Request)); err != nil {
		return compat.Answer{}, err
	}
	status, err := c.API.Status(c.Context())
	switch {
	case err != nil:
		return compat.Answer{}, err
	case status.QR == nil:
		return compat.Answer{}, bridge.Fail(codeNoQR, "the session is %s: there is no QR code to scan", stateOf(status.Status, status.Passkey != nil))
	case c.URL.Query().Get("format") == "raw":
		return compat.OK(map[string]string{"value": *status.QR})
	}
	code, err := qr.Encode(*status.QR, qr.L)
	if err != nil {
		return compat.Answer{}, err
	}
	if strings.Contains(c.Header.Get("Accept"), "application/json") {
		return compat.OK(map[string]string{"mimetype": "image/png", "data": base64.StdEncoding.EncodeToString(code.PNG())})
	}
	picture := code.PNG()
	return compat.Answer{Relay: &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"image/png"}, "Content-Length": {strconv.Itoa(len(picture))}},
		Body: io.NopCloser(bytes.NewReader(picture)),
	}}, nil
}

func requestCode(c *compat.Call) (compat.Answer, error) {
	var in struct {
		PhoneNumber compat.Text `json:"phoneNumber"`
	}
	if err := c.Decode(&in); err != nil {
		return compat.Answer{}, err
	}
	if err := checkSession(sessionOf(c.Request)); err != nil {
		return compat.Answer{}, err
	}
	code, err := c.API.Pair(c.Context(), string(in.PhoneNumber))
	return compat.Answer{Status: http.StatusCreated, Body: map[string]string{"code": code.Code}}, err
}

func showHealth(*compat.Call) (compat.Answer, error) {
	return compat.OK(map[string]any{"status": "ok", "info": map[string]any{}, "error": map[string]any{}, "details": map[string]any{}})
}
