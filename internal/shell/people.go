package shell

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"bridged/internal/bridge"
)

// Contacts chooses people that the account knows.
type Contacts struct {
	Q       string // a part of a name, of the @username or of the number
	Saved   bool   // only people in the address book
	Blocked bool   // only people that the account has blocked
	Limit   int    // 0 is all
}

// personName returns the name of a person in the account's contacts, or the user of the JID.
func personName(p bridge.KnownContact) string {
	return cmp.Or(p.Name, p.BusinessName, p.PushName, p.JID.User())
}

// Contacts prints people, by name.
func (s *Shell) Contacts(ctx context.Context, q Contacts) error {
	wanted := bridge.ContactQuery{Q: q.Q, Limit: pageOf(q.Limit)}
	if q.Saved {
		wanted.Saved = new(true)
	}
	if q.Blocked {
		wanted.Blocked = new(true)
	}
	columns := []column{{title: "NAME", most: 32, flexible: true}, {title: "JID"}, {title: "USERNAME"}, {title: "SAVED"}, {title: "BLOCKED"}}
	return list(s, s.API.AllContacts(ctx, wanted), q.Limit, "There are no such contacts.", columns, func(p bridge.KnownContact) []string {
		return []string{personName(p), string(p.JID), atName(p.Username), yesOrNo(p.IsSaved), yesOrNo(p.IsBlocked)}
	})
}

func atName(username *string) string {
	if username == nil {
		return ""
	}
	return "@" + *username
}

// yesOrNo never returns "", so that programs can split rows at spaces.
func yesOrNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

// maxChecked is the number of numbers that the API checks at a time.
const maxChecked = 50

// Check prints which numbers are on WhatsApp, in their order. It fails with [bridge.CodeNotFound] if one of
// them is not.
func (s *Shell) Check(ctx context.Context, numbers []string) error {
	if len(numbers) > maxChecked {
		return Usage("at most %d numbers are checked at a time", maxChecked)
	}
	for _, number := range numbers {
		if _, err := bridge.ParsePhone(number); err != nil {
			return Usage("%q %v", number, err)
		}
	}
	checks, err := s.API.CheckNumbers(ctx, numbers)
	if err != nil {
		return err
	}
	columns := []column{{title: "NUMBER"}, {title: "JID"}, {title: "BUSINESS"}}
	if err := list(s, all(checks), 0, "", columns, func(c bridge.NumberCheck) []string {
		return []string{"+" + c.Phone, cmp.Or(string(c.JID), "-"), yesOrNo(c.IsBusiness)}
	}); err != nil {
		return err
	}
	missing := 0
	for _, check := range checks {
		if check.JID == "" {
			missing++
		}
	}
	if missing > 0 {
		return hinted(bridge.NotFound("%d of %d numbers are not on WhatsApp", missing, len(checks)), "%s", hints[bridge.CodeNotOnNetwork])
	}
	return nil
}

// Groups prints the groups, the one with the latest message first.
func (s *Shell) Groups(ctx context.Context, limit int) error {
	columns := []column{{title: "NAME", most: 40, flexible: true}, {title: "JID"}, {title: "MEMBERS"}, {title: "UNREAD"}, {title: "LAST"}}
	groups := s.API.AllChats(ctx, bridge.ChatQuery{Type: bridge.ChatsGroup, Limit: pageOf(limit)})
	return list(s, groups, limit, "There are no groups.", columns, func(chat bridge.Chat) []string {
		members := "-"
		if chat.Participants > 0 {
			members = fmt.Sprint(chat.Participants)
		}
		return []string{nameOf(chat), string(chat.JID), members, fmt.Sprint(chat.UnreadCount), s.when(chat.LastMessageAt)}
	})
}

// Group prints a group with its members as the network has it, or as it is stored if the network does not answer.
func (s *Shell) Group(ctx context.Context, name string) error {
	jid, err := s.findGroup(ctx, name)
	if err != nil {
		return err
	}
	detail, err := s.API.Group(ctx, jid)
	if err != nil {
		return err
	}
	group := detail.Latest()
	if s.JSON {
		return s.printJSON(group)
	}
	if err := s.properties(s.propertiesOf(group)); err != nil {
		return err
	}
	if detail.Live == nil {
		if err := s.note("The network does not answer; this is the stored group."); err != nil {
			return err
		}
	}
	if err := s.print("\n"); err != nil {
		return err
	}
	columns := []column{{title: "NAME", most: 32, flexible: true}, {title: "JID"}, {title: "USERNAME"}, {title: "ROLE"}}
	return list(s, all(group.Participants), 0, "The members are not known yet.", columns, func(m bridge.Participant) []string {
		return []string{cmp.Or(strings.TrimSpace(m.DisplayName), m.JID.User()), string(m.JID), atName(m.Username), roleOf(m)}
	})
}

func (s *Shell) propertiesOf(g bridge.Group) [][2]string {
	var settings []string
	add := func(is bool, what string) {
		if is {
			settings = append(settings, what)
		}
	}
	add(g.IsAnnounce, "only admins send")
	add(g.IsLocked, "only admins edit")
	add(g.JoinApproval, "admins approve who joins by the link")
	add(g.MemberAddMode == bridge.AddedByAdmins, "only admins add members")
	add(g.Expiration > 0, "messages disappear after "+bridge.Counted(g.Expiration/86400, "day"))
	return [][2]string{
		{"Name", g.Name},
		{"JID", string(g.JID)},
		{"Topic", g.Topic},
		{"Owner", string(g.OwnerJID)},
		{"Created", s.when(g.CreatedAt)},
		{"Settings", strings.Join(settings, ", ")},
		{"Members", fmt.Sprint(len(g.Participants))},
	}
}

func roleOf(m bridge.Participant) string {
	switch {
	case m.IsSuperAdmin:
		return "owner"
	case m.IsAdmin:
		return "admin"
	}
	return "member"
}
