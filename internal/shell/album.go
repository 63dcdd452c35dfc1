package shell

import (
	"context"
	"fmt"
	"io"
	"strings"

	"bridged/internal/bridge"
	"bridged/internal/client"
)

// Album describes pictures and videos to send as an album.
type Album struct {
	To      string
	Files   []string // paths, and addresses that the bridge fetches
	Caption string   // of the first one
	Convert bool     // videos, into ones that the apps play
	ReplyTo string   // the id of the quoted message, in the same chat
	SendAt  string   // a time; empty for now
	Key     string   // random if empty
}

// SendAlbum sends an album and prints the id of the message that announces it.
func (s *Shell) SendAlbum(ctx context.Context, a Album) error {
	if n := len(a.Files); n < bridge.MinAlbum || n > bridge.MaxAlbum {
		return Usage("an album has %d to %d pictures and videos", bridge.MinAlbum, bridge.MaxAlbum)
	}
	at, err := s.future("--send-at", a.SendAt)
	if err != nil {
		return err
	}
	key, err := keyOr(a.Key)
	if err != nil {
		return err
	}
	to, err := s.find(ctx, a.To)
	if err != nil {
		return err
	}
	sent, err := once(ctx, s, key, func(ctx context.Context) (sent client.SentAlbum, err error) {
		album := client.Album{To: to, SendAt: at, Quote: client.Quote{QuotedMsgID: a.ReplyTo}}
		err = a.open(&album, 0, func() error {
			sent, err = s.API.SendAlbum(ctx, album, key)
			return err
		})
		return sent, err
	})
	if err != nil {
		return err
	}
	if s.JSON {
		return s.printJSON(sent)
	}
	return s.printSent("Sent an album to", sent.Sent)
}

// open adds the files from an index on to an album, and calls use while all of them are open.
func (a Album) open(album *client.Album, from int, use func() error) error {
	if from == len(a.Files) {
		return use()
	}
	name := a.Files[from]
	kind := client.PictureOrVideo(name, bridge.MediaImage)
	item := client.AlbumItem{Type: kind, Convert: a.Convert && kind == bridge.MediaVideo}
	if from == 0 {
		item.Caption = a.Caption
	}
	if isAddress(name) {
		item.URL = name
		album.Items = append(album.Items, item)
		return a.open(album, from+1, use)
	}
	return withFile(name, func(file io.Reader) error {
		item.Part, item.File = fmt.Sprintf("file%d", from+1), file
		album.Items = append(album.Items, item)
		return a.open(album, from+1, use)
	})
}

func isAddress(name string) bool {
	return strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://")
}
