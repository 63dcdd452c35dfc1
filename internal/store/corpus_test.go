package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/bridge"
	"bridged/internal/longtest"
)

// The benchmarks run on a made-up store of BRIDGED_BENCH_MESSAGES messages
// (20,000 without it): words that are as unevenly common as in real languages,
// in several scripts, in 2,000 chats of very different sizes. With
// BRIDGED_BENCH_STORE=<file> it is made once and kept there.
const (
	benchMessages = "BRIDGED_BENCH_MESSAGES"
	benchStore    = "BRIDGED_BENCH_STORE"
)

func TestMain(m *testing.M) {
	longtest.AtOnce(6)
	code := m.Run()
	if benchCorpus.s != nil {
		benchCorpus.s.Close()
	}
	if benchCorpus.dir != "" {
		os.RemoveAll(benchCorpus.dir)
	}
	os.Exit(code)
}

// corpus is a big store and what is in it.
type corpus struct {
	s     *Store
	dir   string // to be removed
	chats []bridge.JID
	words [][]string // by script, the most common first
	n     int
	r     *rand.Rand
}

var (
	benchOnce   sync.Once
	benchCorpus corpus
)

// bigStore is the store that the benchmarks share.
func bigStore(b *testing.B) *corpus {
	b.Helper()
	benchOnce.Do(func() {
		benchCorpus = *newCorpus(b)
		benchCorpus.fill(b)
	})
	return &benchCorpus
}

// newCorpus is what messages are made of, without a store.
func newCorpus(b *testing.B) *corpus {
	c := &corpus{n: 20_000, r: rand.New(rand.NewPCG(1, 2))}
	for i := range 2000 {
		c.chats = append(c.chats, benchChat(i))
	}
	c.makeWords()
	if text := os.Getenv(benchMessages); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			b.Fatalf("%s: %v", benchMessages, err)
		}
		c.n = n
	}
	return c
}

func (c *corpus) fill(b *testing.B) {
	path := os.Getenv(benchStore)
	if path == "" {
		dir, err := os.MkdirTemp("", "bridged-bench-")
		if err != nil {
			b.Fatal(err)
		}
		c.dir, path = dir, filepath.Join(dir, "bridged.db")
	}
	s, err := Open(context.Background(), Options{Path: path, Log: zerolog.Nop()})
	if err != nil {
		b.Fatal(err)
	}
	c.s = s
	if _, total, err := s.Indexed(context.Background()); err != nil || total >= c.n {
		return
	}
	start := time.Now()
	for i := 0; i < c.n; i += 500 {
		var facts []bridge.Fact
		for j := i; j < min(i+500, c.n); j++ {
			facts = append(facts, c.message(j))
		}
		save(b, s, facts...)
	}
	stored := time.Since(start)
	settle(b, s)
	b.Logf("%d messages stored in %s, indexed in %s", c.n, stored.Round(time.Millisecond), (time.Since(start) - stored).Round(time.Millisecond))
}

func benchChat(i int) bridge.JID {
	if i%3 == 0 {
		return bridge.JID(fmt.Sprintf("1203630000%08d@g.us", i))
	}
	return bridge.PhoneJID(fmt.Sprintf("4917%08d", i))
}

// scripts are the alphabets of the corpus, and how often each is written.
var scripts = []struct {
	letters string
	weight  int
}{
	{"etaoinshrdlucmfwypvbgkjqxz", 50},
	{"enisratdhulcgmobwfkzpvüäößj", 15},
	{"оеаинтсрвлкмдпуяыьгзбчйхжш", 12},
	{"اليمونرتبسعدفهكجحقشصخط", 8},
	{"のいたにをはがでとるてし日本人大中国", 8},
	{"करनतयमसहलपवदबजगचटभ", 7},
}

func (c *corpus) makeWords() {
	for _, script := range scripts {
		letters := []rune(script.letters)
		zipf := rand.NewZipf(c.r, 1.2, 3, uint64(len(letters)-1))
		seen := make(map[string]bool)
		var words []string
		for len(words) < 30_000 {
			var w strings.Builder
			for range 2 + c.r.IntN(3) + len(words)/8000 {
				w.WriteRune(letters[zipf.Uint64()])
			}
			if word := w.String(); !seen[word] || len(words) > 20_000 {
				seen[word] = true
				words = append(words, word)
			}
		}
		c.words = append(c.words, words)
	}
}

func (c *corpus) script() int {
	n := c.r.IntN(100)
	for i, script := range scripts {
		if n -= script.weight; n < 0 {
			return i
		}
	}
	return 0
}

// text is a message of one to twenty words.
func (c *corpus) text() string {
	words := c.words[c.script()]
	zipf := rand.NewZipf(c.r, 1.07, 8, uint64(len(words)-1))
	var t strings.Builder
	for i := range 1 + c.r.IntN(10) + c.r.IntN(10) {
		if i > 0 {
			t.WriteByte(' ')
		}
		word := words[zipf.Uint64()]
		if i == 0 {
			word = strings.ToUpper(word[:1]) + word[1:]
		}
		t.WriteString(word)
	}
	return t.String()
}

// message is the i-th of n messages over two years.
func (c *corpus) message(i int) bridge.Message {
	// The largest chat has some four percent of all messages.
	chat := c.chats[int(float64(len(c.chats))*pow3(c.r.Float64()))]
	sender := chat
	if chat.IsGroup() {
		sender = bridge.PhoneJID(fmt.Sprintf("4918%08d", c.r.IntN(500)))
	}
	step := int64(2*365*24*3600) * 1000 / int64(c.n)
	return bridge.Message{
		Chat: chat, ID: fmt.Sprintf("3EB0%016X", c.r.Uint64()), SenderJID: sender, PushName: "Some Name",
		Timestamp:   bridge.Millis(1_732_000_000_000 + int64(i)*step/1000*1000),
		MessageType: "conversation", Content: c.text(), Raw: make([]byte, 120),
	}
}

func pow3(x float64) float64 { return x * x * x }
