package evolution

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/compat"
)

// onNetwork says whether a number is on WhatsApp.
type onNetwork struct {
	JID    bridge.JID `json:"jid"`
	Exists bool       `json:"exists"`
	Number string     `json:"number"`
	Name   string     `json:"name,omitempty"`
	LID    bridge.JID `json:"lid,omitempty"`
}

func absent(jid bridge.JID, number string) onNetwork { return onNetwork{JID: jid, Number: number} }

// maxChecked is how many numbers the API checks at a time.
const maxChecked = 50

// checkNumbersBody holds what [checkNumbers] reads.
type checkNumbersBody struct {
	Numbers compat.Texts `json:"numbers"`
}

func checkNumbers(c *compat.Call, in checkNumbersBody) (compat.Answer, error) {
	if len(in.Numbers) == 0 || len(in.Numbers) > maxItems {
		return compat.Answer{}, bridge.Invalid("numbers must hold 1 to %d numbers", maxItems)
	}
	results := make([]onNetwork, len(in.Numbers))
	var asked []int // of those that are phone numbers
	for i, number := range in.Numbers {
		jid, err := compat.Recipient(number)
		if results[i] = absent(jid, number); err != nil {
			results[i].JID = bridge.JID(bridge.Beginning(number, 60)) // as it was asked
			continue
		}
		if _, err := bridge.ParsePhone(jid.User()); jid.Server() == bridge.ServerUser && err == nil {
			asked = append(asked, i)
		} else if err := results[i].look(c); err != nil {
			return compat.Answer{}, err
		}
	}
	for some := range slices.Chunk(asked, maxChecked) {
		if err := check(c, results, some); err != nil {
			return compat.Answer{}, err
		}
	}
	return compat.OK(results)
}

// look finds a group, or a person by their LID, among those that are stored.
func (n *onNetwork) look(c *compat.Call) (err error) {
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

// name finds the name and the LID of a person.
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

// check asks the network about some of the numbers.
func check(c *compat.Call, results []onNetwork, some []int) error {
	phones := make([]string, len(some))
	for i, at := range some {
		phones[i] = results[at].JID.User()
	}
	answers, err := c.API.CheckNumbers(c.Context(), phones)
	if err != nil {
		return err
	}
	for i, answer := range answers {
		result := &results[some[i]]
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

// chatRecord is a chat as Evolution lists it.
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

// named says which chats or people a caller asks for; empty is all.
type named struct {
	ID        compat.Text `json:"id"`
	RemoteJID compat.Text `json:"remoteJid"`
}

// jid returns the one that is asked for; empty for all. Some clients give a JID as the id.
func (n named) jid() (bridge.JID, error) {
	text := string(n.RemoteJID)
	if text == "" && strings.Contains(string(n.ID), "@") {
		text = string(n.ID)
	}
	if text == "" {
		return "", nil
	}
	return compat.Recipient(text)
}

// isID reports whether a record's id is asked for, if any. Beside a JID n8n's node gives the
// id of a message, which Evolution does not look at.
func (n named) isID(id string) bool {
	return n.ID == "" || n.RemoteJID != "" || strings.Contains(string(n.ID), "@") || string(n.ID) == id
}

// find answers the part of a list that a caller asks for.
func find[T any, R interface{ id() string }](
	c *compat.Call, all iter.Seq2[T, error], one func(context.Context, bridge.JID) (T, error), record func(account bridge.JID, item T) R,
) (compat.Answer, error) {
	var in struct {
		Where named `json:"where"`
		paging
	}
	if err := c.DecodeOptional(&in); err != nil {
		return compat.Answer{}, err
	}
	jid, err := in.Where.jid()
	if err != nil {
		return compat.Answer{}, err
	}
	account, err := accountOf(c)
	if err != nil {
		return compat.Answer{}, err
	}
	if jid != "" {
		all = single(one(c.Context(), jid))
	}
	skip, take := in.window(maxItems)
	return compat.OKList(compat.ItemsBytes, compat.Items(all, skip, take, func(item T) (any, bool) {
		r := record(account, item)
		return r, in.Where.isID(r.id())
	}))
}

// single returns a list of one item, or of none where there is none.
func single[T any](item T, err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		if err == nil || bridge.CodeOf(err) != bridge.CodeNotFound {
			yield(item, err)
		}
	}
}

func findChats(c *compat.Call) (compat.Answer, error) {
	return find(c, c.API.AllChats(c.Context(), bridge.ChatQuery{Limit: 100}), c.API.Chat, chatOf)
}

// contactRecord is a person as Evolution lists them.
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

func findContacts(c *compat.Call) (compat.Answer, error) {
	return find(c, c.API.AllContacts(c.Context(), bridge.ContactQuery{Limit: 100}), c.API.Contact, contactOf)
}

func showPicture(c *compat.Call, in toNumber) (compat.Answer, error) {
	jid, err := in.recipient()
	if err != nil {
		return compat.Answer{}, err
	}
	uri, err := compat.Picture(c, jid)
	if err != nil {
		return compat.Answer{}, err
	}
	return compat.OK(map[string]any{"wuid": jid, "profilePictureUrl": uri})
}

func showProfile(c *compat.Call, in toNumber) (compat.Answer, error) {
	jid, err := in.recipient()
	if err != nil {
		return compat.Answer{}, err
	}
	known := []onNetwork{absent(jid, jid.User())}
	business := false
	if jid.Server() == bridge.ServerUser {
		answer, fault := c.API.CheckNumber(c.Context(), jid.User())
		if err, business = fault, answer.IsBusiness; err == nil {
			err = check(c, known, []int{0})
		}
	} else {
		err = known[0].look(c)
	}
	if err != nil {
		return compat.Answer{}, err
	}
	uri, err := compat.Picture(c, known[0].JID)
	if err != nil {
		return compat.Answer{}, err
	}
	return compat.OK(map[string]any{"wuid": known[0].JID, "name": known[0].Name, "numberExists": known[0].Exists, "picture": uri, "status": nil, "isBusiness": business})
}

// setBlockedBody holds what [setBlocked] reads.
type setBlockedBody struct {
	toNumber
	Status compat.Text `json:"status"`
}

func setBlocked(c *compat.Call, in setBlockedBody) (compat.Answer, error) {
	jid, err := in.recipient()
	if err != nil {
		return compat.Answer{}, err
	}
	switch in.Status {
	case "block":
		err = c.API.Block(c.Context(), jid, c.Key())
	case "unblock":
		err = c.API.Unblock(c.Context(), jid, c.Key())
	default:
		err = bridge.Invalid("status must be block or unblock")
	}
	return compat.Answer{Status: http.StatusCreated, Body: map[string]string{fmt.Sprint(in.Status): "success"}}, err
}
