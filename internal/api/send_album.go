package api

import (
	"context"
	"slices"

	"bridged/internal/api/album"
	"bridged/internal/api/callers"
	"bridged/internal/bridge"
)

// sendAlbum sends pictures and videos as an album, once as a whole: a repeated call sends what was not sent.
func sendAlbum(in *input) (any, error) {
	req, err := album.ReadForm(in.w, in.r, in.Preparer, in.bodies)
	if err != nil {
		return nil, err
	}
	defer req.Close()
	var body []byte
	if !req.IsForm() {
		body = in.body(req, lenient)
	}
	d := in.draftTo(req.Addressed)
	if in.err != nil {
		return nil, in.err
	}
	identity, err := req.Complete(in.Preparer, body)
	keep(in, identity, err)
	var earlier []bridge.Message // stored by an earlier call, which has not sent all
	return once(in, sendKey(in, identity), action{
		chat: d.To, time: bridge.AlbumTime,
		noun: "album", doubt: "may still arrive", remedy: remedyFor(in, nil),
		replay: func(ctx context.Context, key bridge.SendKey) (any, error) {
			stored, err := in.Store.Album(ctx, key.Chat, key.MsgID)
			if err == nil && slices.ContainsFunc(stored, func(m bridge.Message) bool { return m.MayResend() }) {
				earlier = stored
				return nil, nil
			}
			return album.Answered(stored, in.canonical, in.ignored), err
		},
		lookUp: func(ctx context.Context) error {
			if earlier != nil {
				return nil
			}
			return in.compose(ctx, &d)
		},
		do: func(ctx context.Context, key *bridge.SendKey) (any, error) {
			var sent bridge.SentAlbum
			if earlier != nil {
				sent, err = in.Account.ResendAlbum(ctx, earlier)
			} else {
				stays := func() error { return callers.Ended(in.r) }
				sent, err = in.Account.SendAlbum(ctx, bridge.OutgoingAlbum{To: d.To, Quote: d.Quote, Key: key, Items: req.Files(in.Preparer, stays)})
			}
			return album.Answer(sent, in.canonical, in.ignored), err
		},
	})
}
