package session

import (
	"encoding/json"

	waBinary "go.mau.fi/whatsmeow/binary"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// mexReaders parse the updates of GraphQL operations (type "mex") that whatsmeow drops
// (notification.go, handleMexNotification), by the operation's name. A reader gets the object
// "data" of the update's JSON. It returns an event for [Observer.Notified], or nil if the update
// has an unknown form.
var mexReaders = map[string]func(data json.RawMessage) (evt any){
	"UsernameSetNotification":         readUsernameSet,
	"MessageCappingInfoNotification":  readQuota,
	"UsernameDeleteNotification":      readUsernameDeleted,
	"AccountSyncUsernameNotification": readOwnUsername,
	"LidChangeNotification":           readLIDChange,
}

// mexReader returns the reader for a notification's update, or nil if whatsmeow reads the
// operation itself or the operation is unknown.
func mexReader(node *waBinary.Node) func(data json.RawMessage) any {
	update := node.GetChildByTag("update")
	return mexReaders[update.AttrGetter().OptionalString("op_name")]
}

func readMex(node *waBinary.Node) any {
	update := node.GetChildByTag("update")
	var body struct {
		Data json.RawMessage `json:"data"`
	}
	if json.Unmarshal([]byte(contentText(&update)), &body) != nil {
		return nil
	}
	return mexReader(node)(body.Data)
}

// UsernameChanged reports a person's new username. It is empty if the person has removed it.
type UsernameChanged struct {
	Person    bridge.JID
	Username  string
	IsOwn     bool // the account's own username
	IsUnknown bool // the notification does not contain the new one
}

// usernameOf returns the event for a username, or nil if the person's JID is invalid.
func usernameOf(person, username string) any {
	jid := convert.ParseJID(person)
	if !jid.IsPerson() {
		return nil
	}
	return UsernameChanged{Person: jid, Username: username}
}

// readUsernameSet parses the update as
// WAWebMexUsernameUpdateNotificationHandler.mexHandleUsernameChange does.
func readUsernameSet(data json.RawMessage) any {
	var body struct {
		Change struct{ LID, Username string } `json:"xwa2_notify_username_on_change"`
	}
	if json.Unmarshal(data, &body) != nil {
		return nil
	}
	return usernameOf(body.Change.LID, body.Change.Username)
}

// readUsernameDeleted parses the update as
// WAWebMexUsernameUpdateNotificationHandler.mexHandleUsernameDelete does.
func readUsernameDeleted(data json.RawMessage) any {
	var body struct {
		Change struct{ LID string } `json:"xwa2_notify_username_delete"`
	}
	if json.Unmarshal(data, &body) != nil {
		return nil
	}
	return usernameOf(body.Change.LID, "")
}

// readOwnUsername parses the update as WAWebMexUsernameAccountSyncNotificationHandler does:
// another device has changed the account's own username.
func readOwnUsername(data json.RawMessage) any {
	var body struct {
		User struct {
			LID  string                     `json:"lid_jid"`
			Info *struct{ Username string } `json:"username_info"`
		} `json:"xwa2_notify_wa_user"`
	}
	if json.Unmarshal(data, &body) != nil {
		return nil
	}
	change := UsernameChanged{Person: convert.ParseJID(body.User.LID), IsOwn: true, IsUnknown: body.User.Info == nil}
	if body.User.Info != nil {
		change.Username = body.User.Info.Username
	}
	return change
}
