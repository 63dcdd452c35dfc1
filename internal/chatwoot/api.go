package chatwoot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"os"
	"slices"
	"strconv"
	"strings"
)

// The types of inboxes that [Backfill] writes into.
const (
	channelWhatsApp = "Channel::Whatsapp"
	channelAPI      = "Channel::Api"
)

// inbox is an inbox with the settings that matter here.
type inbox struct {
	ID             int64
	Name           string
	ChannelType    string `json:"channel_type"`
	PhoneNumber    string `json:"phone_number"`                // of WhatsApp inboxes
	SingleThread   bool   `json:"lock_to_single_conversation"` // one conversation for a contact
	WebhookURL     string `json:"webhook_url"`                 // of API inboxes
	Greets         bool   `json:"greeting_enabled"`
	Greeting       string `json:"greeting_message"`
	HasHours       bool   `json:"working_hours_enabled"`
	OutOfHoursText string `json:"out_of_office_message"`
}

func (c *Client) inbox(ctx context.Context, id int64) (i inbox, err error) {
	err = c.read(ctx, http.MethodGet, "/inboxes/"+number(id), nil, &i)
	return i, err
}

// hasBot reports whether a bot answers in an inbox.
func (c *Client) hasBot(ctx context.Context, inbox int64) (bool, error) {
	var answer struct {
		Bot struct{ ID int64 } `json:"agent_bot"`
	}
	err := c.read(ctx, http.MethodGet, "/inboxes/"+number(inbox)+"/agent_bot", nil, &answer)
	return answer.Bot.ID != 0, err
}

// rule is an automation rule.
type rule struct {
	Name       string
	Event      string `json:"event_name"`
	Active     bool
	Conditions []condition
	Actions    []struct {
		Name string `json:"action_name"`
	}
}

type condition struct {
	Attribute string `json:"attribute_key"`
	Operator  string `json:"filter_operator"`
	Joined    string `json:"query_operator"` // to the next one: AND, OR
	Values    []any
}

func (c *Client) rules(ctx context.Context) ([]rule, error) {
	var answer struct{ Payload []rule }
	err := c.read(ctx, http.MethodGet, "/automation_rules", nil, &answer)
	return answer.Payload, err
}

// webhook is a webhook of the whole account.
type webhook struct {
	URL    string
	Events []string `json:"subscriptions"`
}

func (c *Client) webhooks(ctx context.Context) ([]webhook, error) {
	var answer struct {
		Payload struct{ Webhooks []webhook }
	}
	err := c.read(ctx, http.MethodGet, "/webhooks", nil, &answer)
	return answer.Payload.Webhooks, err
}

// contact is a person in Chatwoot, with their ids in inboxes.
type contact struct {
	ID        int64
	Name      string
	Email     string
	Phone     string `json:"phone_number"`
	Thumbnail string
	Inboxes   []contactInbox `json:"contact_inboxes"`
}

type contactInbox struct {
	SourceID string `json:"source_id"`
	Inbox    struct{ ID int64 }
}

// sourceIn returns which of some ids the contact has in an inbox, or "".
func (p contact) sourceIn(inbox int64, ids []string) string {
	for _, in := range p.Inboxes {
		if in.Inbox.ID == inbox && slices.Contains(ids, in.SourceID) {
			return in.SourceID
		}
	}
	return ""
}

// contactsBy returns the contacts with a phone number, which are one at most.
func (c *Client) contactsBy(ctx context.Context, digits string) ([]contact, error) {
	type filter struct {
		Attribute string   `json:"attribute_key"`
		Operator  string   `json:"filter_operator"`
		Values    []string `json:"values"`
		Joined    *string  `json:"query_operator"`
	}
	var answer struct{ Payload []contact }
	query := map[string]any{"payload": []filter{{"phone_number", "equal_to", []string{digits}, nil}}} // Chatwoot adds the +
	err := c.read(ctx, http.MethodPost, "/contacts/filter", jsonBody(query), &answer)
	return answer.Payload, err
}

// createContact creates a contact with an id in an inbox. Call it through [Client.once].
func (c *Client) createContact(ctx context.Context, inbox int64, name, digits string) (contact, error) {
	var answer struct {
		Payload struct{ Contact contact }
	}
	err := c.call(ctx, http.MethodPost, "/contacts", jsonBody(map[string]any{
		"inbox_id": inbox, "name": name, "phone_number": "+" + digits, "source_id": digits,
	}), &answer)
	return answer.Payload.Contact, err
}

func (c *Client) rename(ctx context.Context, id int64, name string) error {
	return c.read(ctx, http.MethodPut, "/contacts/"+number(id), jsonBody(map[string]string{"name": name}), nil)
}

func (c *Client) setPicture(ctx context.Context, id int64, picture []byte, mimeType string) error {
	form := formBody(nil, &formFile{
		"avatar", "picture." + strings.TrimPrefix(mimeType, "image/"), mimeType, int64(len(picture)),
		func() (io.Reader, error) { return bytes.NewReader(picture), nil },
	})
	return c.read(ctx, http.MethodPut, "/contacts/"+number(id), form, nil)
}

// conversation is one conversation of a contact.
type conversation struct {
	ID         int64
	InboxID    int64 `json:"inbox_id"`
	Status     string
	Attributes struct {
		History string `json:"bridged_history"` // the chat whose history it was created for
	} `json:"additional_attributes"`
}

// Statuses of conversations.
const (
	StatusOpen     = "open"
	StatusResolved = "resolved"
	StatusPending  = "pending"
)

// conversations returns the newest conversations of a contact, in all inboxes.
func (c *Client) conversations(ctx context.Context, contact int64) ([]conversation, error) {
	var answer struct{ Payload []conversation }
	err := c.read(ctx, http.MethodGet, "/contacts/"+number(contact)+"/conversations", nil, &answer)
	return answer.Payload, err
}

func (c *Client) conversation(ctx context.Context, id int64) (found conversation, err error) {
	err = c.read(ctx, http.MethodGet, "/conversations/"+number(id), nil, &found)
	return found, err
}

// createConversation creates a conversation. Call it through [Client.once].
func (c *Client) createConversation(ctx context.Context, inbox, contact int64, source, status, history string) (made conversation, err error) {
	err = c.call(ctx, http.MethodPost, "/conversations", jsonBody(map[string]any{
		"inbox_id": inbox, "contact_id": contact, "source_id": source, "status": status,
		"additional_attributes": map[string]string{"bridged_history": history},
	}), &made)
	return made, err
}

// stored is a message in a conversation.
type stored struct {
	ID       int64
	SourceID string `json:"source_id"`
}

var errNoPages = errors.New("this version of Chatwoot does not list messages after an id, so doubles could not be recognised: update Chatwoot")

// messages calls add with each message of a conversation after one, in the order of their ids.
func (c *Client) messages(ctx context.Context, conversation, after int64, add func(stored)) error {
	for {
		var page struct{ Payload []stored }
		if err := c.read(ctx, http.MethodGet, fmt.Sprintf("/conversations/%d/messages?after=%d", conversation, after), nil, &page); err != nil {
			return err
		}
		if len(page.Payload) == 0 {
			return nil
		}
		next := after
		for _, m := range page.Payload {
			if m.ID <= after {
				return errNoPages
			}
			add(m)
			next = max(next, m.ID)
		}
		after = next
	}
}

// message is a message to create.
type message struct {
	Content  string
	Incoming bool
	Private  bool
	SourceID string
	At       int64     // in Unix seconds
	File     *formFile // or nil
}

// createMessage creates a message. Call it through [Client.once].
func (c *Client) createMessage(ctx context.Context, conversation int64, m message) (made stored, err error) {
	kind := "outgoing"
	if m.Incoming {
		kind = "incoming"
	}
	with := jsonBody(map[string]any{
		"content": m.Content, "message_type": kind, "private": m.Private, "source_id": m.SourceID, "external_created_at": m.At,
	})
	if m.File != nil {
		with = formBody([][2]string{
			{"content", m.Content},
			{"message_type", kind},
			{"private", strconv.FormatBool(m.Private)},
			{"source_id", m.SourceID},
			{"external_created_at", number(m.At)},
		}, m.File)
	}
	err = c.call(ctx, http.MethodPost, fmt.Sprintf("/conversations/%d/messages", conversation), with, &made)
	return made, err
}

func (c *Client) deleteMessage(ctx context.Context, conversation, id int64) error {
	return c.read(ctx, http.MethodDelete, fmt.Sprintf("/conversations/%d/messages/%d", conversation, id), nil, nil)
}

// formFile is a file of a form. Open is called for each attempt.
type formFile struct {
	field, name, mimeType string
	size                  int64
	open                  func() (io.Reader, error)
}

// sized is a body whose length is known, because some proxies refuse others.
type sized struct {
	io.Reader
	size int64
}

// formBody returns a multipart form with fields and a file.
func formBody(fields [][2]string, file *formFile) body {
	return func() (io.Reader, string, error) {
		content, err := file.open()
		if err != nil {
			return nil, "", err
		}
		var head bytes.Buffer
		form := multipart.NewWriter(&head)
		for _, field := range fields {
			err = errors.Join(err, form.WriteField(field[0], field[1]))
		}
		header := textproto.MIMEHeader{"Content-Type": {file.mimeType}}
		header.Set("Content-Disposition", multipart.FileContentDisposition(file.field, file.name))
		if _, partErr := form.CreatePart(header); partErr != nil {
			return nil, "", errors.Join(err, partErr)
		}
		end := strings.NewReader("\r\n--" + form.Boundary() + "--\r\n")
		size := int64(head.Len()) + file.size + end.Size()
		return sized{io.MultiReader(&head, content, end), size}, form.FormDataContentType(), err
	}
}

// fromDisk returns an attachment whose content is read from the start of an open file for each attempt.
func fromDisk(file *os.File, size int64, name, mimeType string) *formFile {
	return &formFile{"attachments[]", name, mimeType, size, func() (io.Reader, error) {
		_, err := file.Seek(0, io.SeekStart)
		return io.LimitReader(file, size), err
	}}
}

func number(n int64) string { return strconv.FormatInt(n, 10) }
