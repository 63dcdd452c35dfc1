package mcp

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"bridged/internal/bridge"
)

const confirmation = "confirm"

// question is the error of a send that a person has not confirmed yet.
type question struct{ result *sdk.CallToolResult }

// Error implements error.
func (question) Error() string { return "a person must confirm this" }

var errCannotAsk = bridge.Fail(bridge.CodeForbidden, "a person must confirm each send, and this client cannot ask one: use a client with elicitation")

// confirm returns nil if a person has confirmed exactly this send, or if sends need no confirmation.
// Before the person has answered, it returns a [question].
func (c call) confirm(ctx context.Context, out draft) error {
	if !c.s.options.Confirm {
		return nil
	}
	if !canAsk(c.req.ClientCapabilities()) {
		return errCannotAsk
	}
	shown, err := json.Marshal([]any{c.req.Params.Name, out.message, out.upload, out.album, out.change})
	if err != nil {
		return err
	}
	mac := hmac.New(sha256.New, c.s.key) // binds the answer to the token and this send
	fmt.Fprintf(mac, "%s\n%s", c.id, shown)
	state := hex.EncodeToString(mac.Sum(nil))
	response, ok := c.req.Params.InputResponses[confirmation].(*sdk.ElicitResult)
	switch {
	case !ok || c.req.Params.RequestState != state:
		asked, err := c.ask(ctx, out)
		if err != nil {
			return err
		}
		return question{&sdk.CallToolResult{RequestState: state, InputRequests: sdk.InputRequestMap{confirmation: &sdk.ElicitParams{
			Mode: "form", Message: asked, RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}},
		}}}}
	case response.Action != "accept":
		return bridge.Fail(bridge.CodeForbidden, "the person at the other end did not confirm this; do not try again")
	}
	return nil
}

// ask returns the question about a send, with the names that a person knows.
func (c call) ask(ctx context.Context, out draft) (string, error) {
	chat, err := c.client.Chat(ctx, out.chat)
	name := "the chat"
	switch code := bridge.CodeOf(err); {
	case err == nil:
		name = quoted(chat.Name)
	case code == bridge.CodeNotFound && c.mayStart(out.chat):
		name = "the new chat"
	case code != bridge.CodeForbidden: // a token without the scope to read
		return "", err
	}
	var asked strings.Builder
	fmt.Fprintf(&asked, "%s %s %s %s (%s)?", cmp.Or(out.lead, "Send"), out.what, cmp.Or(out.link, "to"), name, out.chat)
	if out.about != "" {
		about, err := c.client.Message(ctx, out.chat, out.about)
		switch {
		case bridge.CodeOf(err) == bridge.CodeForbidden:
			fmt.Fprintf(&asked, "\nIt is about the message %s.", capped(out.about, maxName))
		case err != nil:
			return "", err
		default:
			fmt.Fprintf(&asked, "\nIt is about %s: %s", authorOf(about), excerptOf(about))
		}
	}
	if out.text != "" {
		asked.WriteString("\n\n" + capped(out.text, maxLong))
	}
	return asked.String(), nil
}

// mayStart reports whether the caller may write to a chat that is not stored yet, because the token
// or the operator names it.
func (c *caller) mayStart(jid bridge.JID) bool {
	return slices.Contains(c.destinations(), jid)
}

func authorOf(m bridge.Message) string {
	switch {
	case m.FromMe:
		return "your message"
	case m.PushName == "":
		return "the message of " + string(m.SenderJID)
	}
	return fmt.Sprintf("the message of %s (%s)", quoted(m.PushName), m.SenderJID)
}

// excerptOf returns the beginning of a message, or its kind if it has no text.
func excerptOf(m bridge.Message) string {
	switch {
	case m.Content != "":
		return quoted(bridge.Beginning(m.Content, maxQuote))
	case m.Media != nil && m.Media.FileName != "":
		return "the file " + quoted(m.Media.FileName)
	case m.Media != nil:
		return article(m.Media.Type)
	}
	return capped(m.MessageType, maxName)
}

// quoted returns a name or an excerpt on one line, in quotation marks.
func quoted(s string) string {
	s = strings.NewReplacer("“", `"`, "”", `"`).Replace(strings.Join(strings.Fields(s), " "))
	return "“" + capped(s, 2*maxName) + "”"
}

// canAsk reports whether a client can show a person a question. A client that supports elicitation
// without naming a mode supports forms (protocol of 2025-06-18).
func canAsk(client *sdk.ClientCapabilities) bool {
	return client != nil && client.Elicitation != nil && (client.Elicitation.Form != nil || client.Elicitation.URL == nil)
}

// explainUnasked replaces the SDK's error about a question that a client could not show with a
// sentence for the model.
func explainUnasked(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		result, err := next(ctx, method, req)
		if method == "tools/call" && err != nil && strings.Contains(err.Error(), "fulfilling input request") && ctx.Err() == nil {
			return refusal(errCannotAsk), nil
		}
		return result, err
	}
}
