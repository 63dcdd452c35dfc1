package chatimport

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"bridged/internal/bridge"
	"bridged/internal/folding"
)

// sender is who a name in an export is.
type sender struct {
	jid    bridge.JID // their own, or that of the name
	nobody bridge.JID // that of the name
	isMe   bool
	known  bool
	// formerly lists for whom they were taken in earlier imports.
	formerly []bridge.JID
}

// looksLikeJID matches what was meant as a JID.
var looksLikeJID = regexp.MustCompile(`^[^\s@]+@(s\.whatsapp\.net|c\.us|g\.us|lid|broadcast|bot|newsletter|import)$`)

const maxName = 100 // characters

func checkName(field, name string) (string, error) {
	name = strings.TrimSpace(norm.NFC.String(name))
	switch {
	case name == "":
		return "", bridge.Invalid("%s is required: the JID of a chat, or the name of a new one", field)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return "", bridge.Invalid("%s must be a name of visible characters", field)
	case utf8.RuneCountInString(name) > maxName:
		return "", bridge.Invalid("%s must have at most %d characters", field, maxName)
	}
	return name, nil
}

// chatJID returns the JID of a chat by its name: a second export of it goes to the same chat.
func chatJID(name string) bridge.JID { return hashJID("chat", folding.Fold(name)) }

func hashJID(parts ...string) bridge.JID {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return bridge.JID(fmt.Sprintf("%018d@%s", binary.BigEndian.Uint64(sum[:])%1e18, bridge.ServerImport))
}

// phone matches how the apps show somebody who is not in the address book.
var phone = regexp.MustCompile(`^\+[0-9][0-9\s().\-\x{2010}-\x{2015}]{5,30}$`)

// resolve finds out who the senders of an export are: by what the caller says, by their numbers,
// by who they were in the last import, by the account's own name, by the address book, and in a
// chat of two by who is left.
func (j *job) resolve(ctx context.Context, names []string) error {
	me := bridge.JID("")
	if user := j.i.o.Me(); user != nil {
		me = j.i.o.Store.Canonical(user.JID)
	}
	r, err := j.register(ctx, names, me)
	if err != nil {
		return err
	}
	j.senders = make(map[string]sender, len(names))
	for _, name := range names {
		if ctx.Err() != nil { // thousands of names that differ in case only take their time
			return ctx.Err()
		}
		nobody, formerly := r.nobody(name)
		j.know(name, sender{nobody: nobody, formerly: formerly, jid: r.person(name, nobody)}, me)
	}
	if chat := j.state.ChatJID; chat.IsPerson() {
		j.pair(chat, me, r.mine != "")
	}
	for _, name := range names {
		if s := j.senders[name]; !s.known {
			s.jid = s.nobody
			j.senders[name] = s
			j.state.UnknownNames = append(j.state.UnknownNames, name)
		}
	}
	slices.Sort(j.state.UnknownNames)
	return nil
}

// numberOf returns the JID of a number that the apps show in place of a name; empty for a name.
func numberOf(name string) bridge.JID {
	if !phone.MatchString(name) {
		return ""
	}
	number, err := bridge.ParsePhone(name)
	if err != nil {
		return ""
	}
	return bridge.PhoneJID(number)
}

func (j *job) know(name string, s sender, me bridge.JID) {
	if s.known = s.jid != ""; s.known {
		s.jid = j.i.o.Store.Canonical(s.jid)
		s.isMe = me != "" && s.jid == me
	}
	j.senders[name] = s
}

// pair names who is left in a chat with a person.
func (j *job) pair(chat, me bridge.JID, knowsOwn bool) {
	for name, s := range j.senders {
		if s.known || numberOf(name) != "" {
			continue
		}
		if s.jid = j.left(name, chat, me, knowsOwn); s.jid != "" {
			j.know(name, s, me)
		}
	}
}

// left returns who a name is beside the other one. Where it is alone it is not the account's, if
// this has a name that is known.
func (j *job) left(name string, chat, me bridge.JID, knowsOwn bool) bridge.JID {
	if len(j.senders) == 1 && (knowsOwn || chat == me) {
		return chat
	}
	if len(j.senders) != 2 || me == "" || chat == me {
		return ""
	}
	for other, is := range j.senders {
		switch {
		case other == name:
		case is.jid == me:
			return chat
		case is.jid == j.i.o.Store.Canonical(chat):
			return me
		}
	}
	return ""
}
