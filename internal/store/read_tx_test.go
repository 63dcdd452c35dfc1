package store

import (
	"testing"

	"bridged/internal/store/read"
)

// TestRead_EndsBehindAPanic: the connection is used for the next one.
func TestRead_EndsBehindAPanic(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for range 2 * cap(s.readers.idle) {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			_ = s.Read(t.Context(), func(*read.Snapshot) { panic("of a reader") })
		}()
	}
	err := s.Read(t.Context(), func(r *read.Snapshot) {
		r.Run("SELECT count(*) FROM messages")
	})
	if err != nil {
		t.Error(err)
	}
}
