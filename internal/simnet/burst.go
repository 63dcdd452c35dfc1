package simnet

import (
	"context"
	"sync"

	"go.mau.fi/whatsmeow/types"
)

// Burst makes phones send texts to one chat as fast as they can, each its share in order. It returns the ids by index of the text.
func Burst(ctx context.Context, phones []*Phone, to types.JID, count int, text func(i int) string, opts ...SendOption) ([]types.MessageID, error) {
	ids := make([]types.MessageID, count)
	errs := make([]error, len(phones))
	var all sync.WaitGroup
	for share, p := range phones {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := share; i < count && errs[share] == nil; i += len(phones) {
				ids[i], errs[share] = p.SendText(ctx, to, text(i), opts...)
			}
		}()
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return ids, err
		}
	}
	return ids, nil
}
