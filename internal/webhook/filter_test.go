package webhook

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/store/settings"
)

const (
	graceLID = bridge.JID("81234567890123@lid")
	club     = bridge.JID("120363025246125486@g.us")
)

func own(chat bridge.JID, id string) bridge.Message {
	m := message(chat, id)
	m.FromMe = true
	return m
}

// Each filter alone, and all of them together.
func TestFilter_ChoosesWhatIsPosted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		yes, no := true, false
		filters := map[string]struct {
			filter bridge.EventFilter
			want   []string
		}{
			"all":         {bridge.EventFilter{}, []string{"g1", "g2", "a1", "c1", "c2"}},
			"chats":       {bridge.EventFilter{Chats: []bridge.JID{grace, club}}, []string{"g1", "g2", "c1", "c2"}},
			"excluded":    {bridge.EventFilter{ExcludeChats: []bridge.JID{grace, "15550000001@s.whatsapp.net"}}, []string{"a1", "c1", "c2"}},
			"both":        {bridge.EventFilter{Chats: []bridge.JID{grace, club}, ExcludeChats: []bridge.JID{grace}}, []string{"c1", "c2"}},
			"groups":      {bridge.EventFilter{ChatType: bridge.ChatsGroup}, []string{"c1", "c2"}},
			"people":      {bridge.EventFilter{ChatType: bridge.ChatsIndividual}, []string{"g1", "g2", "a1"}},
			"own":         {bridge.EventFilter{FromMe: &yes}, []string{"g2", "c2"}},
			"others":      {bridge.EventFilter{FromMe: &no}, []string{"g1", "a1", "c1"}},
			"own, groups": {bridge.EventFilter{FromMe: &yes, ChatType: bridge.ChatsGroup}, []string{"c2"}},
			"nobody's":    {bridge.EventFilter{Chats: []bridge.JID{"15550000001@s.whatsapp.net"}}, []string{}},
		}
		receivers := make(map[string]*receiver)
		for name, one := range filters {
			receivers[name], _ = b.receive(fmt.Sprintf("host%d", len(receivers)), func(w *bridge.Webhook) {
				w.EventFilter = one.filter
				w.Types = []bridge.EventType{bridge.EventMessageCreated}
			})
		}
		b.know(message(grace, "g1"), own(grace, "g2"), message(alan, "a1"), message(club, "c1"), own(club, "c2"))
		synctest.Wait()
		for name, one := range filters {
			got := map[string]bool{}
			for _, id := range receivers[name].accepted("") {
				got[id] = true
			}
			wanted := map[string]bool{}
			for _, id := range one.want {
				wanted[id] = true
			}
			want(t, name, got, wanted)
		}
	})
}

// A person's number and LID are one chat for filters, also before the two are known to be one.
func TestFilter_KnowsAPersonByBothNames(t *testing.T) {
	t.Parallel()
	for _, name := range []bridge.JID{grace, graceLID} {
		t.Run(name.Server(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				only, _ := b.receive("only", func(w *bridge.Webhook) { w.Chats = []bridge.JID{name} })
				without, hook := b.receive("without", func(w *bridge.Webhook) { w.ExcludeChats = []bridge.JID{graceLID, grace} })
				b.know(message(name, "before"), message(alan, "alan"))
				synctest.Wait()
				b.know(bridge.Identity{PN: grace, LID: graceLID})
				b.know(message(grace, "by number"), message(graceLID, "by LID"))
				synctest.Wait()
				want(t, "only", only.accepted(""), []string{"before", "by number", "by LID"})
				want(t, "without", without.accepted(""), []string{"alan"})
				want(t, "shown", b.webhook(hook.ID).ExcludeChats, []bridge.JID{grace})
			})
		})
	}
}

// After the answer to a change, new events are filtered by it, also by a worker that has not noticed
// the change yet.
func TestFilter_CountsFromTheAnswerOn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, hook := b.receive("n8n", func(w *bridge.Webhook) { w.Chats = []bridge.JID{alan} })
	b.stop()
	defer b.start()
	for _, chats := range [][]bridge.JID{{grace}, {alan}, nil} {
		if _, err := b.Update(t.Context(), hook.ID, false, func(w *bridge.Webhook) { w.Chats = chats }); err != nil {
			t.Fatal(err)
		}
		before, err := b.store.LastEvent(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		b.know(message(grace, fmt.Sprint("g", before)), message(alan, fmt.Sprint("a", before)))
		work, err := b.store.WebhookWork(t.Context(), settings.DueQuery{Webhook: hook.ID}, before, pageSize)
		wanted := len(chats)
		if chats == nil {
			wanted = 2
		}
		if err != nil || len(work.New) != wanted {
			t.Errorf("with the chats %v, %d events are new, want %d, %v", chats, len(work.New), wanted, err)
		}
	}
}

// The filter also applies to pending deliveries, at their next try.
func TestFilter_HoldsForWhatIsPending(t *testing.T) {
	t.Parallel()
	yes := true
	for name, c := range map[string]struct {
		change func(*bridge.Webhook)
		want   map[string]bool
	}{
		"fromMe":       {func(w *bridge.Webhook) { w.FromMe = &yes }, map[string]bool{"g2": true, "c2": true}},
		"chatType":     {func(w *bridge.Webhook) { w.ChatType = bridge.ChatsGroup }, map[string]bool{"c1": true, "c2": true}},
		"excludeChats": {func(w *bridge.Webhook) { w.ExcludeChats = []bridge.JID{grace} }, map[string]bool{"c1": true, "c2": true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				r, w := b.receive("n8n")
				r.answers(always(http.StatusBadRequest))
				b.know(message(grace, "g1"), own(grace, "g2"), message(club, "c1"), own(club, "c2"))
				time.Sleep(time.Minute)
				if _, err := b.Update(t.Context(), w.ID, false, c.change); err != nil {
					t.Fatal(err)
				}
				r.answers(always(http.StatusOK))
				time.Sleep(time.Hour)
				got := map[string]bool{}
				for _, id := range r.accepted("") {
					got[id] = true
				}
				want(t, "posted", got, c.want)
				if now := b.webhook(w.ID); now.Pending != 0 || now.Dead != 0 {
					t.Errorf("shown as %+v", now)
				}
			})
		})
	}
}

// A change of the filter cancels only the posts under way that it excludes. Cancelling the others would
// post them twice.
func TestFilter_EndsPostsThatAreNotWanted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		r, w := b.receive("n8n")
		r.answers(always(-1)) // never
		b.know(message(grace, "g1"), own(club, "c1"))
		synctest.Wait()
		yes := true
		if _, err := b.Update(t.Context(), w.ID, false, func(w *bridge.Webhook) { w.FromMe = &yes }); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := b.webhook(w.ID); got.Pending != 1 {
			t.Errorf("%d are pending, want the own one", got.Pending)
		}
		if n := len(r.took()); n != 2 {
			t.Errorf("%d posts have begun, want 2: the own one goes on", n)
		}
	})
}

// A token's chats limit its webhooks, whatever their filters are.
func TestFilter_NeverShowsMoreThanTheToken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		token, err := b.store.AddToken(t.Context(), bridge.Token{Name: "x", Hash: []byte("h"), Scopes: bridge.Scopes(), Chats: []bridge.JID{graceLID}})
		if err != nil {
			t.Fatal(err)
		}
		wide, _ := b.receive("wide", func(w *bridge.Webhook) { w.Token, w.Types = token.ID, nil })
		named, _ := b.receive("named", func(w *bridge.Webhook) { w.Token, w.Chats = token.ID, []bridge.JID{alan, club, grace} })
		b.know(bridge.Identity{PN: grace, LID: graceLID}, bridge.Status{Status: bridge.StateOpen, Since: bridge.At(time.Now())})
		b.know(message(alan, "a1"), message(grace, "g1"), message(club, "c1"))
		synctest.Wait()
		want(t, "without a filter", wide.accepted(""), []string{"chat.updated", "g1"})
		want(t, "naming others", named.accepted(""), []string{"g1"})
	})
}
