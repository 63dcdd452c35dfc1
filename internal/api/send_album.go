package api

import (
	"context"

	"bridged/internal/api/album"
	"bridged/internal/api/callers"
	"bridged/internal/bridge"
)

// sendAlbum sends pictures and videos as an album, each item once: a repeated call sends the items that were not sent.
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
	ended := func() error { return callers.Ended(in.r) }
	key, items := sendKey(in, identity), req.Files(in.Preparer, ended)
	if d.sendAt != nil {
		d.items, d.timeout = []album.SentItem{}, bridge.AlbumTimeout
		d.file = func(ctx context.Context) (bridge.Content, func(), error) {
			return album.Prepare(ctx, items, func(bytes int64) error { return in.Schedule.CheckQuota(ctx, in.caller(), bytes) })
		}
		return scheduleUnder(in, key, d)
	}
	var earlier []bridge.Message // stored by an earlier call, which has not sent all
	return once(in, key, action{
		chat: d.To, timeout: bridge.AlbumTimeout,
		noun: "album", outcome: "may still arrive", remedy: remedyFor(in, nil),
		replay: func(ctx context.Context, key bridge.SendKey) (answer any, err error) {
			stored, err := in.Store.Album(ctx, key.Chat, key.MsgID)
			if earlier, answer, err = album.Replay(key, stored, err, in.canonical, in.ignored); earlier != nil {
				d.again = &earlier[0]
			}
			return answer, err
		},
		lookUp: func(ctx context.Context) error { return in.compose(ctx, &d) },
		do: func(ctx context.Context, key *bridge.SendKey) (any, error) {
			var sent bridge.SentAlbum
			if earlier != nil {
				sent, err = in.Account.ResendAlbum(ctx, earlier)
			} else {
				sent, err = in.Account.SendAlbum(ctx, bridge.OutgoingAlbum{To: d.To, Quote: d.Quote, Key: key, By: callers.By(ctx), Items: items})
			}
			if key != nil {
				err = sent.Rest(err, "a call with the same Idempotency-Key sends the rest")
			}
			return album.Answer(sent, in.canonical, in.ignored), err
		},
	})
}
