package evolution

import (
	"crypto/sha1" //nolint:gosec // the name-based ids of RFC 9562
	"encoding/base64"
	"fmt"
	"strings"

	"rsc.io/qr"

	"bridged/internal/bridge"
	"bridged/internal/compat"
)

// stateOf returns Evolution's name of an account's state.
func stateOf(state bridge.State) string {
	switch state {
	case bridge.StateOpen:
		return "open"
	case bridge.StateConnecting:
		return "connecting"
	}
	return "close"
}

// instanceID returns the id of an account, a UUID of its JID (RFC 9562, version 5).
func instanceID(account bridge.JID) string {
	sum := sha1.Sum([]byte("bridged " + string(account))) //nolint:gosec // see above
	sum[6], sum[8] = sum[6]&0x0f|0x50, sum[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// listInstances lists the only instance. Its token is empty, because keys are secret.
func (a adapter) listInstances(c *compat.Call) (any, error) {
	if name := c.URL.Query().Get("instanceName"); name != "" {
		if err := checkInstance(a.instance, name); err != nil {
			return nil, err
		}
	}
	status, err := c.API.Status(c.Context())
	if err != nil {
		return nil, err
	}
	shown := map[string]any{
		"name": a.instance, "connectionStatus": stateOf(status.Status), "profilePicUrl": nil, "integration": "WHATSAPP-BAILEYS", "businessId": nil,
		"token": "", "clientName": a.instance, "disconnectionReasonCode": nil, "disconnectionObject": status.LastError, "disconnectionAt": nil,
		"createdAt": status.Since, "updatedAt": status.Since, "Chatwoot": nil, "Proxy": nil, "Rabbitmq": nil, "Nats": nil, "Sqs": nil, "Websocket": nil,
		"Setting": settings, "_count": map[string]int{"Message": 0, "Contact": 0, "Chat": 0},
		"id": instanceID(""), "ownerJid": nil, "profileName": nil, "number": nil,
	}
	if user := status.User; user != nil {
		shown["id"], shown["ownerJid"], shown["profileName"], shown["number"] = instanceID(user.JID), user.JID, user.PushName, user.Phone
	}
	return []any{shown}, nil
}

// settings describes what bridged does: it rejects no calls, appears offline and marks nothing as read
// by itself.
var settings = map[string]any{
	"rejectCall": false, "msgCall": "", "groupsIgnore": false, "alwaysOnline": false, "readMessages": false, "readStatus": false, "syncFullHistory": false,
}

func showSettings(*compat.Call) (any, error) { return settings, nil }

// stateAnswer returns the answer with a state of the account.
func (a adapter) stateAnswer(state bridge.State) any {
	return map[string]any{"instance": map[string]string{"instanceName": a.instance, "state": stateOf(state)}}
}

func (a adapter) showState(c *compat.Call) (any, error) {
	status, err := c.API.Status(c.Context())
	return a.stateAnswer(status.Status), err
}

// connect returns the QR code that links an account, and for a number the code to type on its phone.
func (a adapter) connect(c *compat.Call) (any, error) {
	status, err := c.API.Status(c.Context())
	switch {
	case err != nil:
		return nil, err
	case status.Status != bridge.StateNeedsPair:
		return a.stateAnswer(status.Status), nil
	}
	answer := struct {
		PairingCode *string `json:"pairingCode"`
		Code        *string `json:"code"`
		Base64      *string `json:"base64"`
		Count       int     `json:"count"`
	}{Code: status.QR, Count: 1}
	if number := c.URL.Query().Get("number"); number != "" {
		code, err := c.API.Pair(c.Context(), number)
		if err != nil {
			return nil, err
		}
		answer.PairingCode = new(strings.ReplaceAll(code.Code, "-", ""))
	}
	if status.QR != nil {
		code, err := qr.Encode(*status.QR, qr.L)
		if err != nil {
			return nil, err
		}
		answer.Base64 = new("data:image/png;base64," + base64.StdEncoding.EncodeToString(code.PNG()))
	}
	return answer, nil
}

func (a adapter) restart(c *compat.Call) (any, error) {
	return a.stateAnswer(bridge.StateConnecting), c.API.Reconnect(c.Context())
}

func logout(c *compat.Call) (any, error) {
	_, err := c.API.Logout(c.Context())
	return map[string]any{"status": "SUCCESS", "error": false, "response": map[string]string{"message": "Instance logged out"}}, err
}

// createInstanceBody is the body of [createInstance].
type createInstanceBody struct {
	Name compat.Text `json:"instanceName"`
}

// createInstance always refuses, because there is one instance.
func (a adapter) createInstance(c *compat.Call, in createInstanceBody) (any, error) {
	if string(in.Name) == a.instance {
		return nil, bridge.Fail(bridge.CodeForbidden, `This name "%s" is already in use.`, a.instance)
	}
	return nil, bridge.Invalid("bridged has one instance, %q, and makes no others", a.instance)
}
