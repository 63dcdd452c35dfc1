package evolution

import (
	"crypto/sha1" //nolint:gosec // the name-based ids of RFC 9562
	"fmt"

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
func listInstances(c *compat.Call) (compat.Answer, error) {
	if name := c.URL.Query().Get("instanceName"); name != "" {
		if err := checkInstance(name); err != nil {
			return compat.Answer{}, err
		}
	}
	status, err := c.API.Status(c.Context())
	if err != nil {
		return compat.Answer{}, err
	}
	shown := map[string]any{
		"name": instance, "connectionStatus": stateOf(status.Status), "profilePicUrl": nil, "integration": "WHATSAPP-BAILEYS", "businessId": nil,
		"token": "", "clientName": instance, "disconnectionReasonCode": nil, "disconnectionObject": status.LastError, "disconnectionAt": nil,
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
