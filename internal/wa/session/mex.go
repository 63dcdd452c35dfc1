package session

import (
	"encoding/json"

	waBinary "go.mau.fi/whatsmeow/binary"

	"bridged/internal/bridge"
	"bridged/internal/wa/convert"
)

// mexReaders read the updates of GraphQL operations (type "mex") that whatsmeow drops
// (notification.go, handleMexNotification), by the operation's name. They get the object
// "data" of the update's JSON, and return an event for [Observer.Notified], or nil if the
// update has another form than is known.
var mexReaders = map[string]func(data json.RawMessage) (evt any){
	"UsernameSetNotification":         readUsernameSet,
	"MessageCappingInfoNotification":  readQuota,
	"UsernameDeleteNotification":      readUsernameDeleted,
	"AccountSyncUsernameNotification": readOwnUsername,
	"LidChangeNotification":           readLIDChange,
}

// mexReader returns the reader of a notification's update, or nil for an operation that
// whatsmeow reads or that is not known.
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

// UsernameChanged reports that a person has another username; an empty one is given up.
type UsernameChanged struct {
	Person    bridge.JID
	Username  string
	IsOwn     bool // it is the account's
	IsUnknown bool // the notification does not name the new one
}

// usernameOf returns the event of a username; nil if the person's JID is not valid.
func usernameOf(person, username string) any {
	jid := convert.ParseJID(person)
	if !jid.IsPerson() {
		return nil
	}
	return UsernameChanged{Person: jid, Username: username}
}

// readUsernameSet reads WAWebMexUsernameUpdateNotificationHandler.mexHandleUsernameChange.
func readUsernameSet(data json.RawMessage) any {
	var body struct {
		Change struct{ LID, Username string } `json:"xwa2_notify_username_on_change"`
	}
	if json.Unmarshal(data, &body) != nil {
		return nil
	}
	return usernameOf(body.Change.LID, body.Change.Username)
}

// readUsernameDeleted reads WAWebMexUsernameUpdateNotificationHandler.mexHandleUsernameDelete.
func readUsernameDeleted(data json.RawMessage) any {
	var body struct {
		Change struct{ LID string } `json:"xwa2_notify_username_delete"`
	}
	if json.Unmarshal(data, &body) != nil {
		return nil
	}
	return usernameOf(body.Change.LID, "")
}

// readOwnUsername reads WAWebMexUsernameAccountSyncNotificationHandler: the account's own
// username, changed on another of its devices.
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
