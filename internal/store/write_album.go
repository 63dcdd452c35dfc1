package store

import "bridged/internal/store/db"

// joinAlbum notes that a message is a part of an album, and tells of the album
// where it is stored.
func (t *writeTx) joinAlbum(seq int64, album *string) {
	if album == nil {
		return
	}
	added := t.Change("INSERT INTO album_parts (album, message) VALUES (?, ?) ON CONFLICT DO NOTHING", *album, seq)
	if added == 0 {
		return
	}
	t.tellAlbum(seq)
}

// leaveAlbum takes a message that was deleted out of its album.
func (t *writeTx) leaveAlbum(seq int64) {
	t.tellAlbum(seq)
	t.Run("DELETE FROM album_parts WHERE message = ?", seq)
}

// tellAlbum tells that the album of a part has more or fewer of them.
func (t *writeTx) tellAlbum(part int64) {
	albums := db.List[int64](t.Conn, `
		SELECT album.seq FROM album_parts p JOIN messages m ON m.seq = p.message
		JOIN messages album ON album.chat = m.chat AND album.id = p.album AND album.sender = m.sender
		WHERE p.message = ?`, part)
	for _, album := range albums {
		t.appendEvent(eventMessageUpdated, album, 0)
	}
}
