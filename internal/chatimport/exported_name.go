package chatimport

import (
	"context"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/chatexport"
)

// NameOf returns the name under which an export of a chat shows a person, such that an import into the same chat finds the
// person again: a name, or else the number or the LID.
func (i *Importer) NameOf(ctx context.Context, chat, person bridge.JID) (string, error) {
	me := bridge.JID("")
	if user := i.o.Me(); user != nil {
		me = i.o.Store.Canonical(user.JID)
	}
	person = i.o.Store.Canonical(person)
	names := []string{i.o.Store.SavedName(person)}
	if person == me || person.IsImport() {
		names = append(names, i.o.Store.PushName(person))
	}
	for _, name := range names {
		if !chatexport.IsSenderName(name) || numberOf(name) != "" {
			continue
		}
		j := &job{i: i, state: bridge.Import{ChatJID: chat}}
		r, err := j.nameResolver(ctx, []string{name}, me)
		if err != nil {
			return "", err
		}
		placeholder, _ := r.placeholder(name)
		if found := r.person(name, placeholder); found == person || found == "" && placeholder == person {
			return name, nil
		}
	}
	if person.Server() == bridge.ServerUser {
		return "+" + person.User(), nil
	}
	if name := strings.TrimSpace(i.o.Store.PushName(person)); person.IsImport() && chatexport.IsSenderName(name) {
		return name, nil
	}
	return string(person), nil
}
