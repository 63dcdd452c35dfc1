package search

import (
	"context"
	"fmt"
	"hash/maphash"
	"math/rand/v2"

	"bridged/internal/store/db"
)

// rarity estimates from a sample, by hashes, which share of the packs has a gram. A wrong
// estimate makes a search slower, never wrong.
type rarity struct {
	packs  int // of the sample
	counts [1 << rarityBits]uint8
}

const (
	rarityBits = 18
	// sampleSize is how many packs the sample has; a count must hold it.
	sampleSize = 250
	// sampleAgain is how much longer the index must have become to sample again.
	sampleAgain = 1.25
)

var raritySeed = maphash.MakeSeed()

func rarityOf(gram []byte) uint64 { return maphash.Bytes(raritySeed, gram) >> (64 - rarityBits) }

// share returns which share of the packs has a gram, never 0: packs beside the sample may
// have it. Without a sample every gram counts as common.
func (r *rarity) share(gram []byte) float64 {
	if r == nil || r.packs == 0 {
		return 1
	}
	return (float64(r.counts[rarityOf(gram)]) + 0.5) / float64(r.packs)
}

// sampling has the buffers for counting.
type sampling struct {
	spelling
	lastIn [1 << rarityBits]uint8 // the last pack that had a gram
}

// add counts the grams of a pack's texts, each once.
func (r *rarity) add(texts []byte, s *sampling) {
	r.packs++
	for gram := range s.grams(texts) {
		if h := rarityOf(gram); s.lastIn[h] != uint8(r.packs) {
			s.lastIn[h] = uint8(r.packs)
			r.counts[h]++
		}
	}
}

// sample estimates rarities anew if the index has become much longer.
func (x *Index) sample(ctx context.Context) error {
	err := x.store.View(ctx, func(c *db.Conn) {
		indexed := lastIndexed(c)
		if float64(indexed+1) < sampleAgain*float64(x.sampledAt) || indexed == noneIndexed {
			return
		}
		x.rarity.Store(x.samplePacks(c, indexed))
		x.sampledAt = indexed + 1
	})
	if err != nil {
		return fmt.Errorf("sample the search index: %w", err)
	}
	return nil
}

// packToSample selects a pack from a number on.
const packToSample = "SELECT texts FROM packs WHERE id >= ? AND texts IS NOT NULL ORDER BY id LIMIT 1 OFFSET ?"

func (x *Index) samplePacks(c *db.Conn, indexed int64) *rarity {
	random := rand.New(rand.NewPCG(uint64(indexed), 0)) // the same sample of the same store
	found, s, perBlock := new(rarity), new(sampling), (1<<x.blockBits)/x.packSize
	var texts db.Raw
	for range sampleSize {
		block := random.Int64N(indexed + 1)
		if c.Find(packToSample, []any{firstPack(block), random.IntN(perBlock)}, &texts) {
			found.add(texts, s)
		}
	}
	return found
}
