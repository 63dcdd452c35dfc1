package store

import (
	"testing"
)

// TestRead_EndsBehindAPanic: the connection is used for the next one.
func TestRead_EndsBehindAPanic(t *testing.T) {
	s := newStore(t)
	for range 2 * cap(s.readers) {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			_ = s.read(t.Context(), func(*readTx) { panic("of a reader") })
		}()
	}
	err := s.read(t.Context(), func(r *readTx) {
		r.Run("SELECT count(*) FROM messages")
	})
	if err != nil {
		t.Error(err)
	}
}
