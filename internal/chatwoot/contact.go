package chatwoot

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"bridged/internal/bridge"
)

// open finds or creates the contact and the conversation of the chat, and reads which messages are there.
func (t *thread) open(ctx context.Context) error {
	found, source, err := t.findContact(ctx)
	if err != nil {
		return err
	}
	if found.ID == 0 {
		t.result.Contacts++
		if t.DryRun {
			return nil
		}
		if found, err = t.newContact(ctx); err != nil {
			return err
		}
	}
	// Chatwoot mails outgoing messages of an API inbox to contacts with an address, but never private notes.
	t.private = t.asNotes || found.Email != ""
	if !t.DryRun {
		if err := t.complete(ctx, found); err != nil {
			return err
		}
	}
	return t.openConversation(ctx, found, source)
}

// findContact returns the contact that the live connection uses, and its id in the inbox: the contact that has
// the number there, in either spelling of it, or else the contact with the number. Its ID is 0 if neither exists.
func (t *thread) findContact(ctx context.Context) (found contact, source string, err error) {
	spellings := append([]string{t.id}, bridge.PhoneAliases(t.id)...)
	for i, digits := range spellings {
		contacts, err := t.Chatwoot.contactsBy(ctx, digits)
		if err != nil {
			return contact{}, "", err
		}
		for _, one := range contacts {
			if in := one.sourceIn(t.Inbox, spellings); in != "" {
				return one, in, nil
			}
			if i == 0 {
				found = one
			}
		}
	}
	return found, t.id, nil
}

func (t *thread) newContact(ctx context.Context) (made contact, err error) {
	err = t.Chatwoot.once(ctx, func() (err error) {
		made, err = t.Chatwoot.createContact(ctx, t.Inbox, nameOf(t.chat), t.id)
		if err == nil && made.ID == 0 {
			err = errAnswer
		}
		return err
	}, func() (bool, error) {
		var err error
		made, _, err = t.findContact(ctx)
		return made.ID != 0, err
	})
	return made, err
}

// complete names a contact that has only its number as name, and gives it the chat's picture if it has none.
func (t *thread) complete(ctx context.Context, c contact) error {
	name := nameOf(t.chat)
	if isNumber(c.Name) && !isNumber(name) {
		if err := t.Chatwoot.rename(ctx, c.ID, name); err != nil {
			return err
		}
	}
	if !t.Pictures || c.Thumbnail != "" {
		return nil
	}
	picture, mimeType, err := t.Bridge.Picture(ctx, t.chat.JID, bridge.PicturePreview)
	if err != nil || len(picture) == 0 { // most often the contact shows no picture to the account
		return ctx.Err()
	}
	err = t.Chatwoot.setPicture(ctx, c.ID, picture, mimeType)
	if err == nil {
		t.result.Pictures++
	}
	if isUnacceptable(err) {
		return t.Note(nameOf(t.chat) + ": the picture is left out: " + err.Error())
	}
	return err
}

// openConversation chooses the conversation, or creates it, and reads the messages of all the contact's
// conversations in the inbox: a message that arrived live may be in another one.
func (t *thread) openConversation(ctx context.Context, of contact, source string) error {
	all, err := t.conversationsOf(ctx, of)
	if err != nil {
		return err
	}
	chosen, err := t.choose(ctx, all)
	if err != nil {
		return err
	}
	for _, other := range all {
		if other.ID == chosen.ID {
			continue
		}
		if err := t.Chatwoot.messages(ctx, other.ID, 0, func(m stored) { t.seen[m.SourceID] = true }); err != nil {
			return err
		}
	}
	if chosen.ID == 0 {
		if t.DryRun {
			return nil
		}
		if chosen, err = t.newConversation(ctx, of, source); err != nil {
			return err
		}
	}
	t.conversation = chosen.ID
	if !t.DryRun {
		if err := t.state.setConversation(t.chat.JID, chosen.ID); err != nil {
			return err
		}
	}
	return t.look(ctx)
}

// conversationsOf returns the contact's conversations in the inbox, the oldest first. Chatwoot lists the newest
// 20 of all inboxes.
func (t *thread) conversationsOf(ctx context.Context, of contact) ([]conversation, error) {
	all, err := t.Chatwoot.conversations(ctx, of.ID)
	all = slices.DeleteFunc(all, func(c conversation) bool { return c.InboxID != t.Inbox })
	slices.SortFunc(all, func(a, b conversation) int { return cmp.Compare(a.ID, b.ID) })
	return all, err
}

// choose returns the conversation that an earlier run used, or else the one that the live connection uses: the
// last one if the inbox has one for each contact, or the last one that is not resolved. The ID is 0 if none.
func (t *thread) choose(ctx context.Context, all []conversation) (conversation, error) {
	if id := t.state.conversation(t.chat.JID); id != 0 {
		switch known, err := t.Chatwoot.conversation(ctx, id); {
		case err == nil && known.InboxID == t.Inbox:
			return known, nil
		case err != nil && !isStatus(err, http.StatusNotFound):
			return conversation{}, err
		}
	}
	if i := slices.IndexFunc(all, func(c conversation) bool { return c.Attributes.History == string(t.chat.JID) }); i >= 0 {
		return all[i], nil
	}
	for _, c := range slices.Backward(all) {
		if t.inbox.SingleThread || c.Status != StatusResolved {
			return c, nil
		}
	}
	return conversation{}, nil
}

func (t *thread) newConversation(ctx context.Context, of contact, source string) (made conversation, err error) {
	err = t.Chatwoot.once(ctx, func() (err error) {
		made, err = t.Chatwoot.createConversation(ctx, t.Inbox, of.ID, source, t.Status, string(t.chat.JID))
		if err == nil && made.ID == 0 {
			err = errAnswer
		}
		return err
	}, func() (bool, error) {
		all, err := t.conversationsOf(ctx, of)
		if err != nil {
			return false, err
		}
		made, err = t.choose(ctx, all)
		return made.ID != 0, err
	})
	return made, err
}

// nameOf returns a chat's name, or else its number.
func nameOf(chat bridge.Chat) string {
	name := strings.Join(strings.Fields(chat.Name), " ")
	if name == "" || name == chat.JID.User() {
		return "+" + chat.JID.User()
	}
	return name
}

// isNumber reports whether a name is only a phone number, or missing.
func isNumber(name string) bool { return strings.Trim(name, "0123456789+-() ") == "" }
