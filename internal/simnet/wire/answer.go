package wire

import (
	"strconv"
	"time"

	"go.mau.fi/whatsmeow/types"
)

// Answer is the server's answer to a query: the content of a result, or an error.
type Answer struct {
	content any
	Code    int
	Text    string
}

// Result returns an answer with content.
func Result(content ...Node) Answer {
	if len(content) == 0 {
		return Answer{}
	}
	return Answer{content: content}
}

// Refuse returns an error as an answer.
func Refuse(code int, text string) Answer { return Answer{Code: code, Text: text} }

// Refusals that several queries share.
var (
	BadRequest   = Refuse(400, "bad-request")
	Forbidden    = Refuse(403, "forbidden")
	ItemNotFound = Refuse(404, "item-not-found")

	NotAuthorized = Refuse(401, "not-authorized")
	NotAllowed    = Refuse(405, "not-allowed")
	NotAcceptable = Refuse(406, "not-acceptable")
	Conflict      = Refuse(409, "conflict")
	Gone          = Refuse(410, "gone")
)

// AnswerNode returns the stanza that answers a query.
func AnswerNode(query *Node, a Answer) Node {
	from, asked := query.Attrs["to"].(types.JID)
	if !asked {
		from = types.ServerJID
	}
	out := Node{Tag: "iq", Attrs: Attrs{"from": from, "type": "result"}, Content: a.content}
	Set(out.Attrs, "id", Text(query, "id"))
	if a.Code != 0 {
		out.Attrs["type"] = "error"
		out.Content = []Node{{Tag: "error", Attrs: Attrs{"code": strconv.Itoa(a.Code), "text": a.Text}}}
	}
	return out
}

// ConnectFailure is the server's refusal of a login.
type ConnectFailure struct {
	// Reason is 401, 403 or 406 for a device that is no longer welcome, 402 for a temporary ban, 405 for an outdated client, 500 or 503 for a
	// server in trouble.
	Reason int
	// Code and Expire are the reason and the length of a temporary ban.
	Code   int
	Expire time.Duration
	// Message explains the refusal.
	Message string
}

// FailureNode returns the stanza of a refused login.
func FailureNode(f ConnectFailure) Node {
	a := Attrs{"reason": strconv.Itoa(f.Reason)}
	if f.Reason == 402 {
		a["code"] = strconv.Itoa(f.Code)
		a["expire"] = strconv.Itoa(int(f.Expire / time.Second))
	}
	Set(a, "message", f.Message)
	return Node{Tag: "failure", Attrs: a}
}

// StreamError returns the stanza that ends a stream, with a code or the kind of a conflict.
func StreamError(code, conflict string) Node {
	node := Node{Tag: "stream:error", Attrs: Attrs{}}
	Set(node.Attrs, "code", code)
	if conflict != "" {
		node.Content = []Node{{Tag: "conflict", Attrs: Attrs{"type": conflict}}}
	}
	return node
}
