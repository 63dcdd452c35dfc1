// Package chatwoottest is a server with the part of Chatwoot's API that package chatwoot uses. It validates,
// counts, pages and fails as Chatwoot's own code does, and records what Chatwoot would send to people.
package chatwoottest

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Token is the access token of an administrator of the account 1.
const Token = "an-access-token-of-chatwoot"

// The types of inboxes.
const (
	WhatsApp = "Channel::Whatsapp"
	API      = "Channel::Api"
)

// Object is a JSON object.
type Object = map[string]any

// Server is a Chatwoot installation with one account. Its settings may be changed between requests.
type Server struct {
	*httptest.Server

	underWay      sync.WaitGroup // requests
	mu            sync.Mutex     // guards what follows
	inboxes       map[int64]Object
	contacts      []*Contact
	conversations []*Conversation
	messages      []*Message
	delivered     []string // texts that would have reached people
	faults        []*Fault
	requests      []string

	// These are settings. Change them before the first request, or in a fault.
	Rules, Webhooks  []Object
	HasBot           bool
	MaxFile          int  // bytes
	PerMinute        int  // messages of a conversation; the fake's minute never ends
	IgnoresSourceIDs bool // as old versions
	IgnoresAfter     bool // as old versions
	IsAgent          bool // the token is an agent's
}

// Contact is a person.
type Contact struct {
	ID                 int64
	Name, Email, Phone string
	Avatar             int              // its bytes
	Sources            map[int64]string // by the inbox
}

// Conversation is a conversation of a contact.
type Conversation struct {
	ID, Inbox, Contact int64
	Status             string
	Attributes         Object
}

// Message is a message in a conversation.
type Message struct {
	ID, Conversation      int64
	Content, Type, Source string
	Private               bool
	ExternalCreatedAt     string
	File, FileName        string // content and name of an attachment
}

// Fault is a failure of a request.
type Fault struct {
	Request string // the method and the end of the path, such as "POST /messages"
	Skip    int    // requests before it
	Status  int    // 0 closes the connection
	Header  http.Header
	Body    string
	Stores  bool   // the request takes effect nevertheless
	Do      func() // called before the request takes effect, if Stores is set
}

// New starts a server with the inboxes 1, of the type WhatsApp, and 2, of the type API.
func New(t testing.TB, number string) *Server {
	t.Helper()
	s := &Server{MaxFile: 40 << 20, PerMinute: 1 << 30, inboxes: map[int64]Object{
		1: {"id": 1, "name": "WhatsApp", "channel_type": WhatsApp, "phone_number": "+" + number, "lock_to_single_conversation": false},
		2: {"id": 2, "name": "History", "channel_type": API, "webhook_url": "", "lock_to_single_conversation": false},
	}}
	mux := http.NewServeMux()
	for pattern, answer := range map[string]func(*http.Request) (int, any){
		"GET /inboxes/{id}":                             s.inbox,
		"GET /inboxes/{id}/agent_bot":                   s.bot,
		"GET /automation_rules":                         s.listRules,
		"GET /webhooks":                                 s.listWebhooks,
		"POST /contacts/filter":                         s.filter,
		"POST /contacts":                                s.createContact,
		"PUT /contacts/{id}":                            s.updateContact,
		"GET /contacts/{id}/conversations":              s.conversationsOf,
		"POST /conversations":                           s.createConversation,
		"GET /conversations/{id}":                       s.showConversation,
		"GET /conversations/{id}/messages":              s.listMessages,
		"POST /conversations/{id}/messages":             s.createMessage,
		"DELETE /conversations/{id}/messages/{message}": s.deleteMessage,
	} {
		method, path, _ := strings.Cut(pattern, " ")
		mux.Handle(method+" /api/v1/accounts/{account}"+path, s.route(answer))
	}
	s.Server = httptest.NewServer(mux)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(s.Close)
	return s
}

// route serves a request with its faults.
func (s *Server) route(answer func(*http.Request) (int, any)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.underWay.Add(1)
		defer s.underWay.Done()
		fault := s.fault(r)
		if fault != nil && fault.Do != nil {
			if fault.Do(); !fault.Stores {
				panic(http.ErrAbortHandler)
			}
			fault = nil
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.requests = append(s.requests, r.Method+" "+r.URL.Path)
		if fault != nil && !fault.Stores {
			fail(w, fault)
			return
		}
		status, body := http.StatusUnauthorized, any(Object{"error": "Invalid Access Token"})
		switch {
		case r.Header.Get("Api-Access-Token")+r.Header.Get("api_access_token") != Token:
		case r.PathValue("account") != "1":
			body = Object{"error": "You are not authorized to access this account"}
		default:
			status, body = answer(r)
		}
		if fault != nil {
			fail(w, fault)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body) // fails only if the caller is gone
	})
}

func fail(w http.ResponseWriter, f *Fault) {
	if f.Status == 0 {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), f.Header)
	w.WriteHeader(f.Status)
	_, _ = w.Write([]byte(f.Body)) // fails only if the caller is gone
}

// Fails adds faults. Each happens once.
func (s *Server) Fails(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range faults {
		s.faults = append(s.faults, &f)
	}
}

// FailsOn makes a number of requests of a kind fail with a status, after some that succeed.
func (s *Server) FailsOn(request string, skip, status, count int) {
	for range count {
		s.Fails(Fault{Request: request, Skip: skip, Status: status})
		skip = 0
	}
}

// Forget waits for requests whose caller may be gone, and removes the faults that have not happened.
func (s *Server) Forget() {
	s.underWay.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// fault returns the fault of a request, or nil.
func (s *Server) fault(r *http.Request) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, f := range s.faults {
		method, path, _ := strings.Cut(f.Request, " ")
		if r.Method != method || !strings.HasSuffix(r.URL.Path, path) {
			continue
		}
		if f.Skip > 0 {
			f.Skip--
			return nil
		}
		s.faults = slices.Delete(s.faults, i, i+1)
		return f
	}
	return nil
}

// Set changes a setting of an inbox.
func (s *Server) Set(inbox int64, name string, value any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inboxes[inbox][name] = value
}

// Requests returns the number of requests with a method and an end of the path.
func (s *Server) Requests(method, path string) (count int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.requests {
		if strings.HasPrefix(r, method+" ") && strings.HasSuffix(r, path) {
			count++
		}
	}
	return count
}

// Contacts returns the contacts.
func (s *Server) Contacts() []Contact { return copies(s, s.contacts) }

// Conversations returns the conversations.
func (s *Server) Conversations() []Conversation { return copies(s, s.conversations) }

// Messages returns the messages of all conversations.
func (s *Server) Messages() []Message { return copies(s, s.messages) }

func copies[T any](s *Server, of []*T) (all []T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range of {
		all = append(all, *one)
	}
	return all
}

// Delivered returns the texts that Chatwoot would have sent to people, or posted to other programs.
func (s *Server) Delivered() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.delivered)
}

// AddContact adds a contact with a conversation in an inbox, as the live connection does.
func (s *Server) AddContact(inbox int64, c Contact, source string, statuses ...string) (conversations []int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.ID, c.Sources = int64(len(s.contacts)+1), map[int64]string{inbox: source}
	s.contacts = append(s.contacts, &c)
	for _, status := range statuses {
		made := &Conversation{ID: int64(len(s.conversations) + 1), Inbox: inbox, Contact: c.ID, Status: status}
		s.conversations = append(s.conversations, made)
		conversations = append(conversations, made.ID)
	}
	return conversations
}

// AddMessage adds a message that arrived live.
func (s *Server) AddMessage(conversation int64, source, content string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages = append(s.messages, &Message{ID: s.nextMessage(), Conversation: conversation, Content: content, Type: "incoming", Source: source})
}

// Doubles returns the source ids that several messages have.
func (s *Server) Doubles() (doubles []string) {
	count := make(map[string]int)
	for _, m := range s.Messages() {
		if count[m.Source]++; count[m.Source] == 2 {
			doubles = append(doubles, fmt.Sprintf("%s (%s)", m.Source, m.Content))
		}
	}
	return doubles
}
