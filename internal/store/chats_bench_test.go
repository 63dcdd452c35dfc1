package store

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
)

// BenchmarkChats10000 lists the chats of an account that has 10,000, with ten
// messages each.
func BenchmarkChats10000(b *testing.B) {
	const many = 10_000
	s, err := Open(b.Context(), Options{Path: filepath.Join(b.TempDir(), "bridged.db"), Log: zerolog.Nop()})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	var facts []bridge.Fact
	for i := range 10 * many {
		jid := bridge.PhoneJID(fmt.Sprintf("4917%08d", i%many))
		facts = append(facts, says(jid, jid, fmt.Sprintf("M%d", i), i, fmt.Sprintf("message %d of a conversation that goes on and on", i)))
		if len(facts) == 1000 {
			save(b, s, facts...)
			facts = facts[:0]
		}
	}
	for name, q := range map[string]bridge.ChatQuery{
		"newest100":       {Limit: 100},
		"newest500":       {Limit: 500},
		"behind9000":      {Limit: 100, Offset: many * 9 / 10},
		"nameThatNoneHas": {Limit: 100, Q: "zzz"},
	} {
		b.Run(name, func(b *testing.B) { timed(b, func(int) { chats(b, s, q) }) })
	}
}
