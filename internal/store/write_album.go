package store

import "context"

// joinAlbum notes that a message is a part of an album, and tells of the album
// where it is stored.
func (t *writeTx) joinAlbum(ctx context.Context, seq int64, album *string) error {
	if album == nil {
		return nil
	}
	added, err := t.change(ctx, "INSERT INTO album_parts (album, message) VALUES (?, ?) ON CONFLICT DO NOTHING", *album, seq)
	if err != nil || added == 0 {
		return err
	}
	return t.tellAlbum(ctx, seq)
}

// leaveAlbum takes a message that was deleted out of its album.
func (t *writeTx) leaveAlbum(ctx context.Context, seq int64) error {
	if err := t.tellAlbum(ctx, seq); err != nil {
		return err
	}
	return t.run(ctx, "DELETE FROM album_parts WHERE message = ?", seq)
}

// tellAlbum tells that the album of a part has more or fewer of them.
func (t *writeTx) tellAlbum(ctx context.Context, part int64) error {
	albums, err := t.ids(ctx, `
		SELECT album.seq FROM album_parts p JOIN messages m ON m.seq = p.message
		JOIN messages album ON album.chat = m.chat AND album.id = p.album AND album.sender = m.sender
		WHERE p.message = ?`, part)
	if err != nil {
		return err
	}
	for _, album := range albums {
		if err := t.appendEvent(ctx, eventMessageUpdated, album, 0); err != nil {
			return err
		}
	}
	return nil
}
