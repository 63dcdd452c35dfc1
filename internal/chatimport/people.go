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

// sender is the person with a name in an export.
type sender struct {
	jid         bridge.JID // the placeholder if the person is not known
	placeholder bridge.JID // made from the chat and the name
	isMe        bool
	known       bool
	previous    []bridge.JID // people that earlier imports attributed the name to
}

// looksLikeJID matches texts that are meant as JIDs.
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

// chatJID returns the JID of a chat without a known JID, which depends only on its name.
func chatJID(name string) bridge.JID { return hashJID("chat", folding.Fold(name)) }

func hashJID(parts ...string) bridge.JID {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return bridge.JID(fmt.Sprintf("%018d@%s", binary.BigEndian.Uint64(sum[:])%1e18, bridge.ServerImport))
}

// phone matches the numbers that the apps show for people who are not in the address book.
var phone = regexp.MustCompile(`^\+[0-9][0-9\s().\-\x{2010}-\x{2015}]{5,30}$`)

// resolve identifies the senders of an export by the caller's mapping, their numbers, earlier imports, the account's own name
// and the address book. In a chat of two, the other one is the person who is left.
func (j *job) resolve(ctx context.Context, names []string) error {
	me := bridge.JID("")
	if user := j.i.o.Me(); user != nil {
		me = j.i.o.Store.Canonical(user.JID)
	}
	r, err := j.nameResolver(ctx, names, me)
	if err != nil {
		return err
	}
	j.senders = make(map[string]sender, len(names))
	for _, name := range names {
		if ctx.Err() != nil { // thousands of names that differ only in case are slow
			return ctx.Err()
		}
		placeholder, previous := r.placeholder(name)
		j.identify(name, sender{placeholder: placeholder, previous: previous, jid: r.person(name, placeholder)}, me)
	}
	if chat := j.state.ChatJID; chat.IsPerson() {
		j.resolvePair(chat, me, r.ownName != "")
	}
	for _, name := range names {
		if s := j.senders[name]; !s.known {
			s.jid = s.placeholder
			j.senders[name] = s
			j.state.UnknownNames = append(j.state.UnknownNames, name)
		}
	}
	slices.Sort(j.state.UnknownNames)
	return nil
}

// lid matches senders without a known number in exports of a bridge.
var lid = regexp.MustCompile(`^[0-9]{5,20}@lid$`)

// numberOf returns the JID of a sender that is shown as a number or a LID; empty for a name.
func numberOf(name string) bridge.JID {
	if lid.MatchString(name) {
		return bridge.JID(name)
	}
	if !phone.MatchString(name) {
		return ""
	}
	number, err := bridge.ParsePhone(name)
	if err != nil {
		return ""
	}
	return bridge.PhoneJID(number)
}

func (j *job) identify(name string, s sender, me bridge.JID) {
	if s.known = s.jid != ""; s.known {
		s.jid = j.i.o.Store.Canonical(s.jid)
		s.isMe = me != "" && s.jid == me
	}
	j.senders[name] = s
}

// resolvePair identifies the senders of a chat with a person by elimination. hasOwnName reports whether the account's own name
// is known.
func (j *job) resolvePair(chat, me bridge.JID, hasOwnName bool) {
	for name, s := range j.senders {
		if s.known || numberOf(name) != "" {
			continue
		}
		if s.jid = j.remaining(name, chat, me, hasOwnName); s.jid != "" {
			j.identify(name, s, me)
		}
	}
}

// remaining returns the person that a name must mean; empty if that is not certain. A single name is not the account's if the
// account's own name is known.
func (j *job) remaining(name string, chat, me bridge.JID, hasOwnName bool) bridge.JID {
	if len(j.senders) == 1 && (hasOwnName || chat == me) {
		return chat
	}
	if len(j.senders) != 2 || me == "" || chat == me {
		return ""
	}
	for other, sender := range j.senders {
		switch {
		case other == name:
		case sender.jid == me:
			return chat
		case sender.jid == j.i.o.Store.Canonical(chat):
			return me
		}
	}
	return ""
}
