package console

import (
	"fmt"
	"strings"

	"bridged/internal/bridge"
)

// administers reports whether the token of the visitor has power over the whole account.
func (v *visit) administers() bool {
	token := v.session.token
	return token.Chats == nil && token.Allows(bridge.ScopeRead) && token.Allows(bridge.ScopeManage)
}

// imports reports whether the visitor may take in chats that the apps have exported.
func (v *visit) imports() bool {
	token := v.session.token
	return token.Allows(bridge.ScopeRead) && token.Allows(bridge.ScopeManage)
}

func (v *visit) sends() bool { return v.c.noSending(v.session.token) == "" }

// transcribes reports whether the visitor can have voice notes transcribed.
func (v *visit) transcribes() bool {
	return v.c.options.Transcribes && v.session.token.Transcribes()
}

// noSending returns a sentence that says why the holder of a token cannot send, or "" if it can.
func (c *Console) noSending(token bridge.Token) string {
	switch {
	case !token.Allows(bridge.ScopeSend):
		return "Your token doesn’t allow sending."
	case !c.options.EnableSend && token.Chats == nil && token.Allows(bridge.ScopeManage):
		return "Sending is off. To write from here, start bridged with ENABLE_SEND=true."
	case !c.options.EnableSend:
		return "Sending is turned off on this bridge."
	}
	return ""
}

// limits says what the holder of a token can do here, if that is not everything that
// BRIDGE_TOKEN can.
func (c *Console) limits(token bridge.Token) string {
	if token.Chats == nil && len(token.Scopes) == len(bridge.Scopes()) {
		return ""
	}
	return strings.TrimSpace(readable(token) + " " + c.noSending(token))
}

// lacking says in words of the page that a token lacks a scope; other refusals are left as
// they are.
func lacking(refusal string) string {
	scope, found := strings.CutPrefix(refusal, "this token lacks the scope ")
	words, known := scopeWords[bridge.Scope(scope)]
	if !found || !known {
		return refusal
	}
	return fmt.Sprintf("Your token doesn’t include the permission “%s”.", words.Label)
}

// readable says which chats the holder of a token can read.
func readable(token bridge.Token) string {
	switch {
	case !token.Allows(bridge.ScopeRead):
		return "Your token doesn’t allow reading chats."
	case token.Chats == nil:
		return "You can read all chats."
	case len(token.Chats) == 1:
		return "You can read one chat."
	}
	return fmt.Sprintf("You can read %s chats.", inWords(len(token.Chats)))
}

// inWords returns a count as it stands in a sentence.
func inWords(n int) string {
	words := []string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}
	if n < len(words) {
		return words[n]
	}
	return number(n)
}
