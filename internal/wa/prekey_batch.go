package wa

import (
	"context"
	"math"

	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/util/keys"
)

// largestBatch is what tests bound: at a first login whatsmeow wants 812 keys. It
// is a variable for the tests alone.
var largestBatch uint32 = math.MaxUint32

// preKeyBatches stores the one-time keys of an upload in one transaction.
// whatsmeow stores each in one of its own: 812 durable commits before the first
// login is complete.
//
// Within that transaction, which has the database's one connection, whatsmeow takes
// its lock for making keys (store/sqlstore/store.go, preKeyLock). A single key, of a
// retry receipt, is made the other way round, the lock first and then the
// connection: each would wait for the other. So one of the two is made at a time.
type preKeyBatches struct {
	store.PreKeyStore
	// buffer is the session database's own. Its transaction of a decryption is
	// one like any other.
	buffer store.EventBuffer
	making chan struct{} // holds a token while keys are made
}

func newPreKeyBatches(keys store.PreKeyStore, buffer store.EventBuffer) preKeyBatches {
	return preKeyBatches{keys, buffer, make(chan struct{}, 1)}
}

// begin waits until no keys are made, or until ctx ends.
func (s preKeyBatches) begin(ctx context.Context) error {
	select {
	case s.making <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s preKeyBatches) end() { <-s.making }

// GenOnePreKey makes the key of a retry receipt.
func (s preKeyBatches) GenOnePreKey(ctx context.Context) (*keys.PreKey, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.end()
	return s.PreKeyStore.GenOnePreKey(ctx)
}

// GetOrGenPreKeys returns the keys that are to be uploaded. The missing ones are
// all stored, or none is.
func (s preKeyBatches) GetOrGenPreKeys(ctx context.Context, count uint32) (out []*keys.PreKey, err error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.end()
	err = s.buffer.DoDecryptionTxn(ctx, func(ctx context.Context) error {
		out, err = s.PreKeyStore.GetOrGenPreKeys(ctx, min(count, largestBatch))
		return err
	})
	return out, err
}
