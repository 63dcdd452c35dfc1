package session

import (
	"context"
	"testing"
	"testing/synctest"

	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/util/keys"
)

// preKeyMaker generates keys, and calls during meanwhile.
type preKeyMaker struct {
	store.PreKeyStore
	store.EventBuffer
	during        func()
	ones, uploads int
}

func (m *preKeyMaker) meanwhile() {
	during := m.during
	if m.during = nil; during != nil {
		during()
	}
}

func (m *preKeyMaker) GenOnePreKey(context.Context) (*keys.PreKey, error) {
	m.ones++
	m.meanwhile()
	return nil, nil
}

func (m *preKeyMaker) GetOrGenPreKeys(context.Context, uint32) ([]*keys.PreKey, error) {
	m.meanwhile()
	return nil, nil
}

func (m *preKeyMaker) DoDecryptionTxn(ctx context.Context, f func(context.Context) error) error {
	m.uploads++
	return f(ctx)
}

// TestPreKeys_OneIsMadeAtATime guards against a deadlock of an upload and a retry
// receipt: one has the connection of the session database, the other whatsmeow's
// lock.
func TestPreKeys_OneIsMadeAtATime(t *testing.T) {
	t.Parallel()
	upload := func(s preKeyBatches) error { _, err := s.GetOrGenPreKeys(context.Background(), 5); return err }
	one := func(s preKeyBatches) error { _, err := s.GenOnePreKey(context.Background()); return err }
	for name, test := range map[string]struct{ first, second func(preKeyBatches) error }{
		"a key during an upload": {upload, one}, "an upload during a key": {one, upload},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				maker, done := new(preKeyMaker), make(chan error)
				s := newPreKeyBatches(maker, maker)
				maker.during = func() {
					go func() { done <- test.second(s) }()
					synctest.Wait()
					if maker.ones+maker.uploads != 1 {
						t.Error("both are made at once")
					}
				}
				if err := test.first(s); err != nil {
					t.Error(err)
				}
				if err := <-done; err != nil || maker.ones != 1 || maker.uploads != 1 {
					t.Errorf("%d keys and %d uploads, %v", maker.ones, maker.uploads, err)
				}
				ended, end := context.WithCancel(context.Background())
				end()
				if err := s.making.Acquire(context.Background(), 1); err != nil {
					t.Fatal(err)
				}
				if _, err := s.GenOnePreKey(ended); err != context.Canceled {
					t.Errorf("an unwanted key: %v", err)
				}
			})
		})
	}
}
