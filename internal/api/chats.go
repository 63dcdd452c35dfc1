package api

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/rs/zerolog/hlog"

	"bridged/internal/bridge"
)

// liveGroupTimeout bounds the wait for the network. After it, only the stored group is shown.
const liveGroupTimeout = 10 * time.Second

func listChats(in *input) (any, error) {
	return answerPage(in, "chats", bridge.ChatQuery{
		Type: in.chatType("type"), Kind: in.chatKind(), Q: in.text("q"), Unread: in.choice("unread"), Unanswered: in.choice("unanswered"), Archived: in.choice("archived"), Pinned: in.choice("pinned"), Label: in.text("label"),
		Limit: in.limit(maxPage), Offset: in.offset(), Cursor: in.text("cursor"), Only: in.caller().Chats,
	}, in.Store.Chats)
}

func (q *input) chatType(name string) bridge.ChatType {
	return bridge.ChatType(q.oneOf(name, string(bridge.ChatsAll),
		string(bridge.ChatsGroup), string(bridge.ChatsIndividual), string(bridge.ChatsAll)))
}

func (q *input) chatKind() bridge.ChatKind {
	return bridge.ChatKind(q.oneOf("kind", "",
		string(bridge.KindGroup), string(bridge.KindIndividual), string(bridge.KindCommunity), string(bridge.KindSelf), string(bridge.KindImported)))
}

// choice returns a parameter that is true or false; nil if it is not given.
func (q *input) choice(name string) *bool {
	switch q.oneOf(name, "", "true", "false") {
	case "true":
		return new(true)
	case "false":
		return new(false)
	}
	return nil
}

func getChat(in *input) (any, error) {
	jid := in.pathStored("jid")
	if in.err != nil {
		return nil, in.err
	}
	return in.chat(in.ctx(), jid)
}

// getGroup answers with the stored group and its present state at the network.
func getGroup(in *input) (any, error) {
	jid, asks := in.pathGroup(), in.choice("live")
	if in.err == nil {
		in.err = in.see(in.ctx(), jid)
	}
	if in.err != nil {
		return nil, in.err
	}
	stored, err := in.Store.Group(in.ctx(), jid)
	if err != nil {
		return nil, err
	}
	stored.Participants = bridge.NotNil(stored.Participants)
	var live *bridge.Group
	if asks == nil || *asks {
		live = in.liveGroup(in.r, stored)
	}
	return struct {
		JID    bridge.JID         `json:"jid"`
		Stored bridge.StoredGroup `json:"stored"`
		Live   *bridge.Group      `json:"live"`
	}{stored.JID, stored, live}, nil
}

// liveGroup returns the present state of a group at the network; nil if it is unknown.
func (s *server) liveGroup(r *http.Request, stored bridge.StoredGroup) *bridge.Group {
	ctx, cancel := context.WithTimeout(r.Context(), liveGroupTimeout)
	defer cancel()
	live, err := s.Account.LiveGroup(ctx, stored.JID)
	if err != nil {
		hlog.FromRequest(r).Debug().Err(err).Str("chat", stored.JID.Redacted()).Msg("no live group")
		return nil
	}
	known := make(map[bridge.JID]bridge.Participant, len(stored.Participants))
	for _, p := range stored.Participants {
		known[p.JID] = p
	}
	shown := *live
	shown.Name = cmp.Or(live.Name, stored.Name) // the store names a group without a subject after its members
	shown.OwnerJID = s.canonical(live.OwnerJID)
	shown.Participants = make([]bridge.Participant, len(live.Participants))
	for i, p := range live.Participants {
		p.JID = s.canonical(p.JID)
		if p.LID == "" {
			p.LID = s.Store.LIDOf(p.JID)
		}
		if p.Username == nil {
			p.Username = s.Store.UsernameOf(p.JID)
		}
		if p.DisplayName == "" {
			p.DisplayName = known[p.JID].DisplayName // the network knows no names
		}
		p.Label = known[p.JID].Label // nor labels, which members send each other
		shown.Participants[i] = p
	}
	return &shown
}

// canonical returns the JID of a stored chat or person; an empty one stays empty.
func (s *server) canonical(jid bridge.JID) bridge.JID {
	if jid == "" {
		return ""
	}
	return s.Store.Canonical(jid)
}
