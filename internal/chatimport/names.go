package chatimport

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"bridged/internal/bridge"
	"bridged/internal/folding"
	"bridged/internal/store"
)

// nameResolver finds the people with the names in an export. Phones may write a name in different cases, so names that differ
// only in case are the same, unless the export has both.
type nameResolver struct {
	chat       bridge.JID
	store      *store.Store
	byFold     map[string][]string     // normalised names of the export, by their case-folded form
	given      map[string]bridge.JID   // the caller's mapping, by normalised name
	givenFold  map[string][]bridge.JID // the same, by case-folded name
	me         bridge.JID
	ownName    string // the account's, normalised
	owners     map[bridge.JID]store.NameOwner
	namesakes  map[string][]store.Namesake // in the address book
	restricted map[bridge.JID]bool         // people that are hidden from the caller
}

// nameResolver loads the known names. It returns an error if the request names a hidden person.
func (j *job) nameResolver(ctx context.Context, names []string, me bridge.JID) (r *nameResolver, err error) {
	r = &nameResolver{
		chat: j.state.ChatJID, store: j.i.o.Store, me: me, byFold: make(map[string][]string),
		given: make(map[string]bridge.JID, len(j.r.Names)), givenFold: make(map[string][]bridge.JID, len(j.r.Names)),
	}
	if me != "" {
		r.ownName = normaliseName(r.store.PushName(me))
	}
	for name, jid := range j.r.Names {
		r.given[normaliseName(name)] = jid
		r.givenFold[foldName(name)] = append(r.givenFold[foldName(name)], jid)
	}
	var placeholders []bridge.JID
	for _, name := range names {
		placeholders = append(placeholders, r.foldedJID(name), r.exactJID(name))
		folded := foldName(name)
		if !slices.Contains(r.byFold[folded], normaliseName(name)) {
			r.byFold[folded] = append(r.byFold[folded], normaliseName(name))
		}
	}
	if r.owners, err = r.store.NameOwners(ctx, placeholders); err != nil {
		return nil, err
	}
	r.namesakes = r.store.PeopleNamed(names)
	if err = r.restrict(ctx, names, j.r); err != nil {
		return nil, err
	}
	for _, jid := range j.r.Names {
		if r.restricted[jid] {
			return nil, bridge.NoContact(jid)
		}
	}
	return r, nil
}

// normaliseName returns the form of a name for comparisons.
func normaliseName(name string) string { return norm.NFC.String(strings.TrimSpace(name)) }

// foldName returns the form of a name for comparisons that ignore case.
func foldName(name string) string { return folding.Fold(normaliseName(name)) }

// restrict finds the people that are hidden from the caller. Their messages would make them people of the chat, and so visible.
func (r *nameResolver) restrict(ctx context.Context, names []string, request Request) (err error) {
	people := slices.Collect(maps.Values(r.given))
	for _, owner := range r.owners {
		people = append(people, owner.Person)
	}
	for _, name := range names {
		for _, namesake := range r.namesakes[name] {
			people = append(people, namesake.JID)
		}
		if number := numberOf(name); number != "" {
			people = append(people, number)
		}
	}
	// The chat's own person need not be stored.
	people = slices.DeleteFunc(people, func(jid bridge.JID) bool { return r.store.Canonical(jid) == r.chat })
	r.restricted, err = request.hidden(ctx, people)
	return err
}

// foldedJID and exactJID return the two placeholders that a name can have in the chat: one for all cases, and one for the exact
// name. A name may mean another person in another chat.
func (r *nameResolver) foldedJID(name string) bridge.JID {
	return hashJID("name", string(r.chat), folding.Fold(name))
}

func (r *nameResolver) exactJID(name string) bridge.JID {
	return hashJID("spelling", string(r.chat), normaliseName(name))
}

// placeholder returns the placeholder of a name, and other people that its messages may be attributed to. Of names that differ
// only in case, one has the folded JID: the one that had it before, or else the first.
func (r *nameResolver) placeholder(name string) (placeholder bridge.JID, previous []bridge.JID) {
	placeholder = r.foldedJID(name)
	exact := r.exactJID(name)
	if r.store.PushName(exact) != "" || r.nameOfFolded(name) != normaliseName(name) {
		previous = append(r.previous(placeholder), placeholder)
		placeholder = exact
	}
	return placeholder, append(previous, r.previous(placeholder)...)
}

// nameOfFolded returns the name that has the folded JID of a name.
func (r *nameResolver) nameOfFolded(name string) string {
	had := normaliseName(r.store.PushName(r.foldedJID(name)))
	if _, isGiven := r.given[normaliseName(name)]; isGiven && had != "" {
		return had
	}
	names := slices.DeleteFunc(slices.Clone(r.byFold[foldName(name)]), func(name string) bool { return r.store.PushName(r.exactJID(name)) != "" })
	if len(names) == 0 || slices.Contains(names, had) {
		return had
	}
	return names[0]
}

// previous returns the people that earlier imports attributed a placeholder to.
func (r *nameResolver) previous(placeholder bridge.JID) []bridge.JID {
	owner := r.owners[placeholder]
	if owner.Person == "" {
		return nil
	}
	return append(slices.Clone(owner.Previous), owner.Person)
}

// person returns the person with a name; empty if the person is not known or hidden from the caller.
func (r *nameResolver) person(name string, placeholder bridge.JID) bridge.JID {
	if jid := r.givenPerson(name); jid != "" {
		return jid
	}
	jid := numberOf(name)
	if jid == "" {
		jid = r.permitted(r.owners[placeholder].Person)
		if jid == "" && r.ownName != "" && (normaliseName(name) == r.ownName || r.isOnlyCase(name) && foldName(name) == foldName(r.ownName)) {
			jid = r.me
		}
		jid = cmp.Or(jid, r.fromAddressBook(name))
	}
	return r.permitted(jid)
}

// permitted returns a person; empty if the person is hidden from the caller.
func (r *nameResolver) permitted(jid bridge.JID) bridge.JID {
	if r.restricted[jid] {
		return ""
	}
	return jid
}

// isOnlyCase reports whether the export has no other name that differs from a name only in case.
func (r *nameResolver) isOnlyCase(name string) bool { return len(r.byFold[foldName(name)]) == 1 }

// givenPerson returns the person with a name in the caller's mapping; empty if it does not have the name.
func (r *nameResolver) givenPerson(name string) bridge.JID {
	if jid := r.given[normaliseName(name)]; jid != "" || !r.isOnlyCase(name) {
		return jid
	}
	if people := r.givenFold[foldName(name)]; len(people) == 1 {
		return people[0]
	}
	return ""
}

// fromAddressBook returns the only person who has a name in the address book; empty if no one or several people have it.
func (r *nameResolver) fromAddressBook(name string) bridge.JID {
	people := slices.DeleteFunc(slices.Clone(r.namesakes[name]), func(namesake store.Namesake) bool { return r.restricted[namesake.JID] })
	exact := slices.DeleteFunc(slices.Clone(people), func(namesake store.Namesake) bool { return normaliseName(namesake.Name) != normaliseName(name) })
	switch {
	case len(exact) == 1:
		return exact[0].JID
	case len(people) == 1 && r.isOnlyCase(name):
		return people[0].JID
	}
	return ""
}
