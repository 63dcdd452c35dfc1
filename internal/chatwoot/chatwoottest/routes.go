package chatwoottest

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

var notFound = Object{"error": "Resource could not be found"}

// forbidden is the answer to an agent who asks for what only administrators see.
var forbidden = Object{"error": "You are not authorized to do this action"}

func invalid(format string, args ...any) (int, any) {
	return http.StatusUnprocessableEntity, Object{"error": fmt.Sprintf(format, args...)}
}

func id(r *http.Request, name string) int64 {
	n, _ := strconv.ParseInt(r.PathValue(name), 10, 64) // 0 names nothing
	return n
}

func (s *Server) inbox(r *http.Request) (int, any) {
	if found := s.inboxes[id(r, "id")]; found != nil {
		return http.StatusOK, found
	}
	return http.StatusNotFound, notFound
}

func (s *Server) bot(*http.Request) (int, any) {
	if s.HasBot {
		return http.StatusOK, Object{"agent_bot": Object{"id": 7, "name": "Bot"}}
	}
	return http.StatusOK, Object{"agent_bot": Object{}}
}

func (s *Server) listRules(*http.Request) (int, any) {
	if s.IsAgent {
		return http.StatusUnauthorized, forbidden
	}
	return http.StatusOK, Object{"payload": append([]Object{}, s.Rules...)}
}

func (s *Server) listWebhooks(*http.Request) (int, any) {
	if s.IsAgent {
		return http.StatusUnauthorized, forbidden
	}
	return http.StatusOK, Object{"payload": Object{"webhooks": append([]Object{}, s.Webhooks...)}}
}

func (s *Server) shown(c *Contact) Object {
	inboxes := []Object{}
	for inbox, source := range c.Sources {
		inboxes = append(inboxes, Object{"source_id": source, "inbox": s.inboxes[inbox]})
	}
	thumbnail := ""
	if c.Avatar > 0 {
		thumbnail = s.URL + "/avatar.png"
	}
	return Object{"id": c.ID, "name": c.Name, "email": c.Email, "phone_number": c.Phone, "thumbnail": thumbnail, "contact_inboxes": inboxes}
}

// filter supports the one filter that is used. Chatwoot puts a + before the number.
func (s *Server) filter(r *http.Request) (int, any) {
	var query struct {
		Payload []struct {
			Attribute string   `json:"attribute_key"`
			Operator  string   `json:"filter_operator"`
			Values    []string `json:"values"`
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&query); err != nil || len(query.Payload) != 1 || len(query.Payload[0].Values) != 1 {
		return invalid("Invalid filter")
	}
	if f := query.Payload[0]; f.Attribute != "phone_number" || f.Operator != "equal_to" {
		return invalid("Invalid attribute key")
	}
	found := []Object{}
	for _, c := range s.contacts {
		if c.Phone == "+"+query.Payload[0].Values[0] {
			found = append(found, s.shown(c))
		}
	}
	return http.StatusOK, Object{"meta": Object{"count": len(found), "current_page": 1}, "payload": found}
}

var (
	phoneNumber = regexp.MustCompile(`^\+[1-9]\d{1,14}$`)
	waSource    = regexp.MustCompile(`^\d{1,15}$`)
)

func (s *Server) createContact(r *http.Request) (int, any) {
	var in struct {
		InboxID  int64 `json:"inbox_id"`
		Name     string
		Phone    string `json:"phone_number"`
		SourceID string `json:"source_id"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return invalid("%v", err)
	}
	if !phoneNumber.MatchString(in.Phone) {
		return http.StatusUnprocessableEntity, Object{"message": "Phone number should be in e164 format", "attributes": []string{"phone_number"}}
	}
	for _, c := range s.contacts {
		if c.Phone == in.Phone {
			return http.StatusUnprocessableEntity, Object{"message": "Phone number has already been taken", "attributes": []string{"phone_number"}}
		}
	}
	if s.inboxes[in.InboxID]["channel_type"] == WhatsApp && !waSource.MatchString(in.SourceID) {
		return http.StatusUnprocessableEntity, Object{"message": "Source invalid source id for whatsapp inbox", "attributes": []string{"source_id"}}
	}
	c := &Contact{ID: int64(len(s.contacts) + 1), Name: in.Name, Phone: in.Phone, Sources: map[int64]string{in.InboxID: in.SourceID}}
	s.contacts = append(s.contacts, c)
	return http.StatusOK, Object{"payload": Object{"contact": s.shown(c), "contact_inbox": Object{"source_id": in.SourceID}}}
}

func (s *Server) contact(id int64) *Contact {
	if id < 1 || id > int64(len(s.contacts)) {
		return nil
	}
	return s.contacts[id-1]
}

func (s *Server) updateContact(r *http.Request) (int, any) {
	c := s.contact(id(r, "id"))
	if c == nil {
		return http.StatusNotFound, notFound
	}
	if isForm(r) {
		_, picture, err := formFile(r, "avatar")
		if err != nil || len(picture) == 0 {
			return invalid("Avatar is missing: %v", err)
		}
		c.Avatar = len(picture)
	} else {
		var in struct{ Name string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			return invalid("%v", err)
		}
		c.Name = in.Name
	}
	return http.StatusOK, Object{"payload": s.shown(c)}
}

func isForm(r *http.Request) bool {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return kind == "multipart/form-data"
}

// formFile returns the name and the content of a form's file.
func formFile(r *http.Request, field string) (name string, content []byte, err error) {
	file, header, err := r.FormFile(field)
	if err != nil {
		return "", nil, err
	}
	defer file.Close()
	content, err = io.ReadAll(file)
	return header.Filename, content, err
}

func shownConversation(c *Conversation) Object {
	return Object{"id": c.ID, "inbox_id": c.Inbox, "status": c.Status, "additional_attributes": c.Attributes}
}

// conversationsOf lists the newest 20.
func (s *Server) conversationsOf(r *http.Request) (int, any) {
	contact, found := id(r, "id"), []Object{}
	for i := len(s.conversations) - 1; i >= 0 && len(found) < 20; i-- {
		if s.conversations[i].Contact == contact {
			found = append(found, shownConversation(s.conversations[i]))
		}
	}
	return http.StatusOK, Object{"payload": found}
}

func (s *Server) showConversation(r *http.Request) (int, any) {
	if c := s.conversation(r); c != nil {
		return http.StatusOK, shownConversation(c)
	}
	return http.StatusNotFound, notFound
}

func (s *Server) conversation(r *http.Request) *Conversation {
	n := id(r, "id")
	if n < 1 || n > int64(len(s.conversations)) {
		return nil
	}
	return s.conversations[n-1]
}

func (s *Server) createConversation(r *http.Request) (int, any) {
	var in struct {
		InboxID    int64  `json:"inbox_id"`
		ContactID  int64  `json:"contact_id"`
		SourceID   string `json:"source_id"`
		Status     string
		Attributes Object `json:"additional_attributes"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return invalid("%v", err)
	}
	c := s.contact(in.ContactID)
	if c == nil || s.inboxes[in.InboxID] == nil {
		return http.StatusNotFound, notFound
	}
	for _, other := range s.contacts { // Chatwoot takes the id away from the other contact
		if other != c && other.Sources[in.InboxID] == in.SourceID {
			other.Sources[in.InboxID] = "whatsapp:" + in.SourceID + "42"
		}
	}
	c.Sources[in.InboxID] = in.SourceID
	if s.inboxes[in.InboxID]["lock_to_single_conversation"] == true {
		for _, old := range s.conversations {
			if old.Contact == c.ID && old.Inbox == in.InboxID {
				return http.StatusOK, shownConversation(old)
			}
		}
	}
	made := &Conversation{ID: int64(len(s.conversations) + 1), Inbox: in.InboxID, Contact: c.ID, Status: in.Status, Attributes: in.Attributes}
	s.conversations = append(s.conversations, made)
	return http.StatusOK, shownConversation(made)
}

func (s *Server) nextMessage() int64 {
	if len(s.messages) == 0 {
		return 1
	}
	return s.messages[len(s.messages)-1].ID + 3 // ids are shared with other accounts
}

func shownMessage(m *Message) Object {
	var source any
	if m.Source != "" {
		source = m.Source
	}
	return Object{
		"id": m.ID, "content": m.Content, "conversation_id": m.Conversation, "private": m.Private, "source_id": source,
		"message_type": map[string]int{"incoming": 0, "outgoing": 1}[m.Type], "content_attributes": Object{"external_created_at": m.ExternalCreatedAt},
	}
}

// listMessages lists at most 100 messages after an id, or without one the last 20.
func (s *Server) listMessages(r *http.Request) (int, any) {
	c := s.conversation(r)
	if c == nil {
		return http.StatusNotFound, notFound
	}
	after, err := strconv.ParseInt(r.URL.Query().Get("after"), 10, 64)
	found := []Object{}
	for _, m := range s.messages {
		if m.Conversation == c.ID && (err != nil || s.IgnoresAfter || m.ID > after) {
			found = append(found, shownMessage(m))
		}
	}
	if err != nil || s.IgnoresAfter {
		found = found[max(0, len(found)-20):]
	}
	return http.StatusOK, Object{"meta": Object{}, "payload": found[:min(len(found), 100)]}
}

func (s *Server) createMessage(r *http.Request) (int, any) {
	c := s.conversation(r)
	if c == nil {
		return http.StatusNotFound, notFound
	}
	m := &Message{ID: s.nextMessage(), Conversation: c.ID}
	if err := m.read(r); err != nil {
		return invalid("%v", err)
	}
	kind, count := s.inboxes[c.Inbox]["channel_type"], 0
	for _, other := range s.messages {
		if other.Conversation == c.ID {
			count++
		}
	}
	switch {
	case m.Type == "incoming" && kind != API:
		return invalid("Incoming messages are only allowed in Api inboxes")
	case count >= s.PerMinute:
		return invalid("Validation failed: Too many messages")
	case len(m.File) > s.MaxFile:
		return invalid("Validation failed: Attachments file size is too big")
	case len(m.Content) > 150_000:
		return invalid("Validation failed: Content is too long (maximum is 150000 characters)")
	}
	if s.IgnoresSourceIDs {
		m.Source = ""
	}
	if m.Type == "outgoing" {
		m.Content = rendered(m.Content)
	}
	s.messages = append(s.messages, m)
	s.deliver(c, m)
	return http.StatusOK, shownMessage(m)
}

// read reads the parameters of a message. Without a type it is outgoing.
func (m *Message) read(r *http.Request) (err error) {
	if isForm(r) {
		if m.FileName, m.File, err = stringFile(r); err != nil {
			return err
		}
		m.Content, m.Type, m.Source = r.FormValue("content"), r.FormValue("message_type"), r.FormValue("source_id")
		m.Private, m.ExternalCreatedAt = r.FormValue("private") == "true", r.FormValue("external_created_at")
	} else {
		var in struct {
			Content   string
			Type      string `json:"message_type"`
			Private   bool
			SourceID  string      `json:"source_id"`
			CreatedAt json.Number `json:"external_created_at"`
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			return err
		}
		m.Content, m.Type, m.Source, m.Private, m.ExternalCreatedAt = in.Content, in.Type, in.SourceID, in.Private, in.CreatedAt.String()
	}
	if m.Type == "" {
		m.Type = "outgoing"
	}
	return nil
}

func stringFile(r *http.Request) (name, content string, err error) {
	name, data, err := formFile(r, "attachments[]")
	return name, string(data), err
}

// tag matches the tags of templates, which Chatwoot evaluates in outgoing messages.
var tag = regexp.MustCompile(`(?s)\{\{.*?\}\}|\{%.*?%\}`)

// rendered does what Chatwoot does with the text of an outgoing message: it evaluates the text as a template in
// which no variable has a value, except the code between backquotes.
func rendered(text string) string {
	const raw, end = "{% raw %}", "{% endraw %}"
	text = regexp.MustCompile("(?s)`(.*?)`").ReplaceAllString(text, raw+"`$1`"+end)
	var out strings.Builder
	for {
		head, rest, found := strings.Cut(text, raw)
		out.WriteString(tag.ReplaceAllString(head, ""))
		if !found {
			return out.String()
		}
		code, after, _ := strings.Cut(rest, end)
		out.WriteString(code)
		text = after
	}
}

// deliver records the texts that would leave Chatwoot because of a new message.
func (s *Server) deliver(c *Conversation, m *Message) {
	inbox, person := s.inboxes[c.Inbox], s.contact(c.Contact)
	if m.Type == "outgoing" && !m.Private && inbox["channel_type"] == WhatsApp && m.Source == "" {
		s.delivered = append(s.delivered, "to "+person.Phone+": "+m.Content)
	}
	if m.Type == "outgoing" && !m.Private && inbox["channel_type"] == API && person.Email != "" {
		s.delivered = append(s.delivered, "to "+person.Email+": "+m.Content)
	}
	if url, _ := inbox["webhook_url"].(string); url != "" {
		s.delivered = append(s.delivered, "to "+url+": "+m.Content)
	}
}

// deleteMessage empties a message, as Chatwoot does.
func (s *Server) deleteMessage(r *http.Request) (int, any) {
	for _, m := range s.messages {
		if m.ID == id(r, "message") {
			m.Content = "This message was deleted"
			return http.StatusOK, shownMessage(m)
		}
	}
	return http.StatusNotFound, notFound
}
