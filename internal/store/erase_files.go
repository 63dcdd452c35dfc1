package store

import (
	"context"
	"encoding/json"
	"fmt"

	"bridged/internal/bridge"
)

// recordErasedFile notes the file of a message that is about to be deleted.
func (t *writeTx) recordErasedFile(ctx context.Context, seq int64) error {
	noted, err := t.change(ctx, `
		INSERT INTO erased_files (type, ref)
		SELECT m.details ->> '$.m.t', r.media_ref FROM messages m JOIN message_raw r ON r.seq = m.seq
		WHERE m.seq = ? AND r.media_ref IS NOT NULL AND m.details ->> '$.m.t' IS NOT NULL`, seq)
	if noted > 0 {
		t.erasedFile = true
	}
	return err
}

// recordReplacedFile notes the file of a message that is about to get another one.
// A new path of the same file leaves it what it is.
func (t *writeTx) recordReplacedFile(ctx context.Context, seq int64, before *mediaDetails, edited *bridge.Media) error {
	if before == nil || edited == nil {
		return nil
	}
	ref, err := json.Marshal(edited.Ref)
	if err != nil {
		return err
	}
	noted, err := t.change(ctx, `
		INSERT INTO erased_files (type, ref)
		SELECT ?1, media_ref FROM message_raw
		WHERE seq = ?2 AND json_remove(media_ref, '$.directPath') != json_remove(?3, '$.directPath')`,
		before.Type, seq, string(ref))
	if noted > 0 {
		t.erasedFile = true
	}
	return err
}

// ErasedFile is the file of a message that was deleted, or that got another file.
type ErasedFile struct {
	ID    int64
	Media bridge.Media // its type and where it lies
}

// ErasedFiles returns the files of deleted messages, and those that edits replaced,
// that nobody has removed yet, the oldest first.
func (s *Store) ErasedFiles(ctx context.Context, limit int) ([]ErasedFile, error) {
	var files []ErasedFile
	err := s.read(ctx, func(r *readTx) error {
		return r.each(ctx, "SELECT id, type, ref FROM erased_files ORDER BY id"+limited, []any{limit}, func(rows *resultSet) error {
			var f ErasedFile
			var ref string
			if err := rows.Scan(&f.ID, &f.Media.Type, &ref); err != nil {
				return err
			}
			files = append(files, f)
			return json.Unmarshal([]byte(ref), &files[len(files)-1].Media.Ref)
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read the files of deleted messages: %w", err)
	}
	return files, nil
}

// FileRemoved notes that the file of a deleted message is gone.
func (s *Store) FileRemoved(ctx context.Context, id int64) error {
	return s.write(ctx, func(ctx context.Context, t *writeTx) error {
		t.erased = true
		return t.run(ctx, "DELETE FROM erased_files WHERE id = ?", id)
	})
}

// FilesErased gives a token after a deletion that left a file; for a single
// listener.
func (s *Store) FilesErased() <-chan struct{} { return s.eraser.files }
