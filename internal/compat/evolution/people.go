package evolution

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/compat"
)

// onNetwork describes whether a number is on WhatsApp.
type onNetwork struct {
	JID    bridge.JID `json:"jid"`
	Exists bool       `json:"exists"`
	Number string     `json:"number"`
	Name   string     `json:"name,omitempty"`
	LID    bridge.JID `json:"lid,omitempty"`
}

func absent(jid bridge.JID, number string) onNetwork { return onNetwork{JID: jid, Number: number} }

// maxChecked is how many numbers the API checks in one call.
const maxChecked = 50

// checkNumbersBody is the body of [checkNumbers].
type checkNumbersBody struct {
	Numbers compat.Texts `json:"numbers"`
}

func checkNumbers(c *compat.Call, in checkNumbersBody) (any, error) {
	if len(in.Numbers) == 0 || len(in.Numbers) > maxItems {
		return nil, bridge.Invalid("numbers must hold 1 to %d numbers", maxItems)
	}
	results := make([]onNetwork, len(in.Numbers))
	var phones []int // indexes of the phone numbers
	for i, number := range in.Numbers {
		jid, err := compat.Recipient(number)
		if results[i] = absent(jid, number); err != nil {
			results[i].JID = bridge.JID(bridge.Beginning(number, 60)) // what the caller wrote
			continue
		}
		if _, err := bridge.ParsePhone(jid.User()); jid.Server() == bridge.ServerUser && err == nil {
			phones = append(phones, i)
		} else if err := results[i].lookUp(c); err != nil {
			return nil, err
		}
	}
	for some := range slices.Chunk(phones, maxChecked) {
		if err := check(c, results, some); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// lookUp searches a group, or a person by LID, in the store.
func (n *onNetwork) lookUp(c *compat.Call) (err error) {
	if n.JID.IsGroup() {
		var chat bridge.Chat
		chat, err = c.API.Chat(c.Context(), n.JID)
		n.Name = chat.Name
	} else {
		err = n.name(c)
	}
	if n.Exists = err == nil; bridge.CodeOf(err) == bridge.CodeNotFound {
		return nil
	}
	return err
}

// name sets the name and the LID of a stored person.
func (n *onNetwork) name(c *compat.Call) error {
	person, err := c.API.Contact(c.Context(), n.JID)
	if err == nil {
		n.Name, n.LID = nameOf(person), person.LID
	}
	return err
}

func nameOf(p bridge.KnownContact) string {
	return cmp.Or(p.Name, p.PushName, p.BusinessName)
}

// check asks the network about the numbers at some indexes of results.
func check(c *compat.Call, results []onNetwork, indexes []int) error {
	phones := make([]string, len(indexes))
	for i, at := range indexes {
		phones[i] = results[at].JID.User()
	}
	answers, err := c.API.CheckNumbers(c.Context(), phones)
	if err != nil {
		return err
	}
	for i, answer := range answers {
		result := &results[indexes[i]]
		if answer.JID == "" {
			continue
		}
		result.JID, result.Exists = answer.JID, true
		if err := result.name(c); err != nil && bridge.CodeOf(err) != bridge.CodeNotFound {
			return err
		}
	}
	return nil
}

// chatRecord is a chat in Evolution's form.
type chatRecord struct {
	ID            string       `json:"id"`
	RemoteJID     bridge.JID   `json:"remoteJid"`
	PushName      string       `json:"pushName"`
	ProfilePicURL *string      `json:"profilePicUrl"`
	UpdatedAt     *bridge.Time `json:"updatedAt"`
	WindowStart   *bridge.Time `json:"windowStart"`
	WindowExpires *bridge.Time `json:"windowExpires"`
	WindowActive  bool         `json:"windowActive"`
	LastMessage   *Record      `json:"lastMessage"`
	UnreadCount   int          `json:"unreadCount"`
	IsSaved       bool         `json:"isSaved"`
}

func (r chatRecord) id() string { return r.ID }

func chatOf(account bridge.JID, chat bridge.Chat) chatRecord {
	r := chatRecord{
		ID: recordID(string(chat.JID)), RemoteJID: chat.JID, PushName: chat.Name, UpdatedAt: chat.LastMessageAt, UnreadCount: max(chat.UnreadCount, 0), IsSaved: true,
	}
	if last := chat.LastMessage; last != nil {
		record := RecordOf(account, bridge.Message{
			Chat: chat.JID, ID: last.ID, FromMe: last.FromMe, SenderJID: last.SenderJID, PushName: last.PushName, MessageType: last.MessageType,
			Content: last.Content, Timestamp: last.Timestamp, DeletedAt: last.DeletedAt, Status: last.Status,
		})
		r.LastMessage = &record
	}
	return r
}

// condition selects one chat or person, or all if it is empty.
type condition struct {
	ID        compat.Text `json:"id"`
	RemoteJID compat.Text `json:"remoteJid"`
}

// jid returns the selected chat or person, or "" for all. Some clients give a JID as the id.
func (n condition) jid() (bridge.JID, error) {
	text := string(n.RemoteJID)
	if text == "" && strings.Contains(string(n.ID), "@") {
		text = string(n.ID)
	}
	if text == "" {
		return "", nil
	}
	return compat.Recipient(text)
}

// matches reports whether a record's id is selected. n8n's node gives the id of a message with a JID, which
// Evolution ignores.
func (n condition) matches(id string) bool {
	return n.ID == "" || n.RemoteJID != "" || strings.Contains(string(n.ID), "@") || string(n.ID) == id
}

// find returns the part of a list that a caller asks for.
func find[T any, R interface{ id() string }](
	c *compat.Call, all iter.Seq2[T, error], one func(context.Context, bridge.JID) (T, error), record func(account bridge.JID, item T) R,
) (any, error) {
	var in struct {
		Where condition `json:"where"`
		paging
	}
	if err := c.DecodeOptional(&in); err != nil {
		return nil, err
	}
	jid, err := in.Where.jid()
	if err != nil {
		return nil, err
	}
	account, err := accountOf(c)
	if jid != "" {
		all = single(one(c.Context(), jid))
	}
	skip, take := in.window(maxItems)
	return &compat.List{Bytes: compat.ItemsBytes, Items: compat.Items(all, skip, take, func(item T) (any, bool) {
		r := record(account, item)
		return r, in.Where.matches(r.id())
	})}, err
}

// single returns a list of one item, or an empty one if there is no such item.
func single[T any](item T, err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		if err == nil || bridge.CodeOf(err) != bridge.CodeNotFound {
			yield(item, err)
		}
	}
}

func findChats(c *compat.Call) (any, error) {
	return find(c, c.API.AllChats(c.Context(), bridge.ChatQuery{Limit: 100}), c.API.Chat, chatOf)
}

// contactRecord is a person in Evolution's form.
type contactRecord struct {
	ID            string     `json:"id"`
	RemoteJID     bridge.JID `json:"remoteJid"`
	PushName      string     `json:"pushName"`
	ProfilePicURL *string    `json:"profilePicUrl"`
	CreatedAt     *time.Time `json:"createdAt"`
	UpdatedAt     *time.Time `json:"updatedAt"`
	InstanceID    string     `json:"instanceId"`
	IsGroup       bool       `json:"isGroup"`
	IsSaved       bool       `json:"isSaved"`
	Type          string     `json:"type"`
}

func (r contactRecord) id() string { return r.ID }

func contactOf(account bridge.JID, p bridge.KnownContact) contactRecord {
	return contactRecord{ID: recordID(string(p.JID)), RemoteJID: p.JID, PushName: nameOf(p), InstanceID: instanceID(account), IsSaved: p.IsSaved, Type: "contact"}
}

func findContacts(c *compat.Call) (any, error) {
	return find(c, c.API.AllContacts(c.Context(), bridge.ContactQuery{Limit: 100}), c.API.Contact, contactOf)
}

func showPicture(c *compat.Call, in sendBase) (any, error) {
	jid, err := in.recipient()
	if err != nil {
		return nil, err
	}
	uri, err := compat.Picture(c, jid)
	return map[string]any{"wuid": jid, "profilePictureUrl": uri}, err
}

// showProfile shows what a person shows about themselves, or without a number the account.
func showProfile(c *compat.Call) (any, error) {
	jid, err := profileOwner(c)
	if err != nil {
		return nil, err
	}
	known := []onNetwork{absent(jid, jid.User())}
	business := false
	if jid.Server() == bridge.ServerUser {
		answer, fault := c.API.CheckNumber(c.Context(), jid.User())
		if err, business = fault, answer.IsBusiness; err == nil {
			err = check(c, known, []int{0})
		}
	} else {
		err = known[0].lookUp(c)
	}
	if err != nil {
		return nil, err
	}
	shown := profileRecord{WUID: known[0].JID, Name: known[0].Name, Exists: known[0].Exists, IsBusiness: business}
	if shown.Picture, err = compat.Picture(c, shown.WUID); err != nil {
		return nil, err
	}
	return shown, shown.setProfile(c)
}

// profileOwner returns the person or the group that the body names, or else the account.
func profileOwner(c *compat.Call) (bridge.JID, error) {
	var in sendBase
	if err := c.DecodeOptional(&in); err != nil {
		return "", err
	}
	if in.Number != "" {
		return in.recipient()
	}
	account, err := c.Account()
	switch {
	case err != nil:
		return "", err
	case account == nil:
		return "", bridge.NotConnected("no account is linked: it has no profile")
	}
	return account.JID, nil
}

// setBlockedBody is the body of [setBlocked].
type setBlockedBody struct {
	sendBase
	Status compat.Text `json:"status"`
}

func setBlocked(c *compat.Call, in setBlockedBody) (any, error) {
	jid, err := in.recipient()
	if err != nil {
		return nil, err
	}
	switch in.Status {
	case "block":
		err = c.API.Block(c.Context(), jid, c.Key())
	case "unblock":
		err = c.API.Unblock(c.Context(), jid, c.Key())
	default:
		err = bridge.Invalid("status must be block or unblock")
	}
	return map[string]string{fmt.Sprint(in.Status): "success"}, err
}
