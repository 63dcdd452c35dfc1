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

// register has what is known of the names in an export. Phones may differ in the case of a name,
// so a name in another case is the same, unless the export has both.
type register struct {
	chat  bridge.JID
	store *store.Store
	alike map[string][]string // names of the export as they are spelled, by their folding
	told  map[string]bridge.JID
	// toldAlike has the people of told by the folding of the names.
	toldAlike map[string][]bridge.JID
	me        bridge.JID
	mine      string // the account's own name
	learned   map[bridge.JID]store.Learned
	book      map[string][]store.Namesake
	hidden    map[bridge.JID]bool // of whom the caller may know nothing
}

// register reads what is known of names. It refuses people whom the caller names and may not know.
func (j *job) register(ctx context.Context, names []string, me bridge.JID) (r *register, err error) {
	r = &register{
		chat: j.state.ChatJID, store: j.i.o.Store, me: me, alike: make(map[string][]string),
		told: make(map[string]bridge.JID, len(j.r.Names)), toldAlike: make(map[string][]bridge.JID, len(j.r.Names)),
	}
	if me != "" {
		r.mine = spelled(r.store.PushName(me))
	}
	for name, jid := range j.r.Names {
		r.told[spelled(name)] = jid
		r.toldAlike[caseless(name)] = append(r.toldAlike[caseless(name)], jid)
	}
	var nobodies []bridge.JID
	for _, name := range names {
		nobodies = append(nobodies, r.folded(name), r.exact(name))
		folded := caseless(name)
		if !slices.Contains(r.alike[folded], spelled(name)) {
			r.alike[folded] = append(r.alike[folded], spelled(name))
		}
	}
	if r.learned, err = r.store.NamesLearned(ctx, nobodies); err != nil {
		return nil, err
	}
	r.book = r.store.PeopleNamed(names)
	if err = r.hide(ctx, names, j.r); err != nil {
		return nil, err
	}
	for _, jid := range j.r.Names {
		if r.hidden[jid] {
			return nil, bridge.NoContact(jid)
		}
	}
	return r, nil
}

// spelled returns a name in the form in which it is compared.
func spelled(name string) string { return norm.NFC.String(strings.TrimSpace(name)) }

// caseless returns a name as it is compared whatever its case.
func caseless(name string) string { return folding.Fold(spelled(name)) }

// hide finds out of whom the caller may know nothing. To import what they wrote would make them
// people of the chat, whom the caller may know.
func (r *register) hide(ctx context.Context, names []string, request Request) (err error) {
	people := slices.Collect(maps.Values(r.told))
	for _, is := range r.learned {
		people = append(people, is.Person)
	}
	for _, name := range names {
		for _, is := range r.book[name] {
			people = append(people, is.JID)
		}
		if number := numberOf(name); number != "" {
			people = append(people, number)
		}
	}
	// The chat's own person need not be stored.
	people = slices.DeleteFunc(people, func(jid bridge.JID) bool { return r.store.Canonical(jid) == r.chat })
	r.hidden, err = request.hidden(ctx, people)
	return err
}

// folded and exact return the JIDs that a name in the chat may have, whatever its case, and as
// it is spelled. In another chat it may be somebody else's.
func (r *register) folded(name string) bridge.JID {
	return hashJID("name", string(r.chat), folding.Fold(name))
}

func (r *register) exact(name string) bridge.JID {
	return hashJID("spelling", string(r.chat), spelled(name))
}

// nobody returns the JID of a name, and under whom else its messages may stand. Of names that
// differ in case, one has the JID that does not tell it: the one that had it, or the first.
func (r *register) nobody(name string) (nobody bridge.JID, formerly []bridge.JID) {
	nobody = r.folded(name)
	exact := r.exact(name)
	if r.store.PushName(exact) != "" || r.holder(name) != spelled(name) {
		formerly = append(r.formerly(nobody), nobody)
		nobody = exact
	}
	return nobody, append(formerly, r.formerly(nobody)...)
}

// holder returns the name that has the JID of all that are spelled like one but for case.
func (r *register) holder(name string) string {
	had := spelled(r.store.PushName(r.folded(name)))
	if _, isTold := r.told[spelled(name)]; isTold && had != "" {
		return had
	}
	alike := slices.DeleteFunc(slices.Clone(r.alike[caseless(name)]), func(name string) bool { return r.store.PushName(r.exact(name)) != "" })
	if len(alike) == 0 || slices.Contains(alike, had) {
		return had
	}
	return alike[0]
}

// formerly returns whose a name was said to be.
func (r *register) formerly(nobody bridge.JID) []bridge.JID {
	is := r.learned[nobody]
	if is.Person == "" {
		return nil
	}
	return append(slices.Clone(is.Formerly), is.Person)
}

// person returns whose a name is, as far as the caller may know; empty where it is not known.
func (r *register) person(name string, nobody bridge.JID) bridge.JID {
	if jid := r.toldOf(name); jid != "" {
		return jid
	}
	jid := numberOf(name)
	if jid == "" {
		jid = r.seen(r.learned[nobody].Person)
		if jid == "" && r.mine != "" && (spelled(name) == r.mine || r.isAlone(name) && caseless(name) == caseless(r.mine)) {
			jid = r.me
		}
		jid = cmp.Or(jid, r.inBook(name))
	}
	return r.seen(jid)
}

func (r *register) seen(jid bridge.JID) bridge.JID {
	if r.hidden[jid] {
		return ""
	}
	return jid
}

// isAlone reports whether no other name of the export is spelled like one but for case.
func (r *register) isAlone(name string) bool { return len(r.alike[caseless(name)]) == 1 }

// toldOf returns whose the caller says that a name is.
func (r *register) toldOf(name string) bridge.JID {
	if jid := r.told[spelled(name)]; jid != "" || !r.isAlone(name) {
		return jid
	}
	if people := r.toldAlike[caseless(name)]; len(people) == 1 {
		return people[0]
	}
	return ""
}

// inBook returns the one who has a name in the address book.
func (r *register) inBook(name string) bridge.JID {
	people := slices.DeleteFunc(slices.Clone(r.book[name]), func(is store.Namesake) bool { return r.hidden[is.JID] })
	same := slices.DeleteFunc(slices.Clone(people), func(is store.Namesake) bool { return spelled(is.Name) != spelled(name) })
	switch {
	case len(same) == 1:
		return same[0].JID
	case len(people) == 1 && r.isAlone(name):
		return people[0].JID
	}
	return ""
}
