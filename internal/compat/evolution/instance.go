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

// stateOf returns Evolution's word for a state of the account.
func stateOf(state bridge.State) string {
	switch state {
	case bridge.StateOpen:
		return "open"
	case bridge.StateConnecting:
		return "connecting"
	}
	return "close"
}

// instanceID returns the id of an account: always the same UUID, by its JID (RFC 9562,
// version 5).
func instanceID(account bridge.JID) string {
	sum := sha1.Sum([]byte("bridged " + string(account))) //nolint:gosec // see above
	sum[6], sum[8] = sum[6]&0x0f|0x50, sum[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// listInstances answers the only instance. Its token stays empty: no key is handed out.
func (d door) listInstances(c *compat.Call) (compat.Answer, error) {
	if name := c.URL.Query().Get("instanceName"); name != "" {
		if err := d.checkInstance(name); err != nil {
			return compat.Answer{}, err
		}
	}
	status, err := c.API.Status(c.Context())
	if err != nil {
		return compat.Answer{}, err
	}
	shown := map[string]any{
		"name": d.instance, "connectionStatus": stateOf(status.Status), "profilePicUrl": nil, "integration": "WHATSAPP-BAILEYS", "businessId": nil,
		"token": "", "clientName": d.instance, "disconnectionReasonCode": nil, "disconnectionObject": status.LastError, "disconnectionAt": nil,
		"createdAt": status.Since, "updatedAt": status.Since, "Chatwoot": nil, "Proxy": nil, "Rabbitmq": nil, "Nats": nil, "Sqs": nil, "Websocket": nil,
		"Setting": settings, "_count": map[string]int{"Message": 0, "Contact": 0, "Chat": 0},
		"id": instanceID(""), "ownerJid": nil, "profileName": nil, "number": nil,
	}
	if user := status.User; user != nil {
		shown["id"], shown["ownerJid"], shown["profileName"], shown["number"] = instanceID(user.JID), user.JID, user.PushName, user.Phone
	}
	return compat.OK([]any{shown})
}

// settings are what bridged does: it rejects no calls, stays invisible and reads nothing
// by itself.
var settings = map[string]any{
	"rejectCall": false, "msgCall": "", "groupsIgnore": false, "alwaysOnline": false, "readMessages": false, "readStatus": false, "syncFullHistory": false,
}

func showSettings(*compat.Call) (compat.Answer, error) { return compat.OK(settings) }

// answerState answers the state of the account.
func (d door) answerState(state bridge.State) (compat.Answer, error) {
	return compat.OK(map[string]any{"instance": map[string]string{"instanceName": d.instance, "state": stateOf(state)}})
}

func (d door) showState(c *compat.Call) (compat.Answer, error) {
	status, err := c.API.Status(c.Context())
	if err != nil {
		return compat.Answer{}, err
	}
	return d.answerState(status.Status)
}

// connect answers what links an account: the QR code, and for a number a code to type on
// its phone.
func (d door) connect(c *compat.Call) (compat.Answer, error) {
	status, err := c.API.Status(c.Context())
	switch {
	case err != nil:
		return compat.Answer{}, err
	case status.Status != bridge.StateNeedsPair:
		return d.answerState(status.Status)
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
			return compat.Answer{}, err
		}
		answer.PairingCode = new(strings.ReplaceAll(code.Code, "-", ""))
	}
	if status.QR != nil {
		code, err := qr.Encode(*status.QR, qr.L)
		if err != nil {
			return compat.Answer{}, err
		}
		answer.Base64 = new("data:image/png;base64," + base64.StdEncoding.EncodeToString(code.PNG()))
	}
	return compat.OK(answer)
}

func (d door) restart(c *compat.Call) (compat.Answer, error) {
	if err := c.API.Reconnect(c.Context()); err != nil {
		return compat.Answer{}, err
	}
	return d.answerState(bridge.StateConnecting)
}

func logout(c *compat.Call) (compat.Answer, error) {
	if _, err := c.API.Logout(c.Context()); err != nil {
		return compat.Answer{}, err
	}
	return compat.OK(map[string]any{"status": "SUCCESS", "error": false, "response": map[string]string{"message": "Instance logged out"}})
}

// createInstanceBody holds what [createInstance] reads.
type createInstanceBody struct {
	Name compat.Text `json:"instanceName"`
}

// createInstance refuses: there is one, always.
func (d door) createInstance(c *compat.Call, in createInstanceBody) (compat.Answer, error) {
	if string(in.Name) == d.instance {
		return compat.Answer{}, bridge.Fail(bridge.CodeForbidden, `This name "%s" is already in use.`, d.instance)
	}
	return compat.Answer{}, bridge.Invalid("bridged has one instance, %q, and makes no others", d.instance)
}
