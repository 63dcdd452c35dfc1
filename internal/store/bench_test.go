package store

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
	"bridged/internal/store/read"
)

// timed runs f b.N times and reports the median and the 99th percentile.
func timed(b *testing.B, f func(i int)) {
	b.Helper()
	var times []time.Duration
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		f(i)
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
}

func BenchmarkIngest(b *testing.B) {
	c := newCorpus(b)
	s := newStore(b)
	n := 0
	for _, batch := range []int{1, 10} {
		b.Run(fmt.Sprintf("facts=%d", batch), func(b *testing.B) {
			timed(b, func(int) {
				facts := make([]bridge.Fact, batch)
				for i := range facts {
					facts[i] = c.message(n % c.n)
					n++
				}
				save(b, s, facts...)
			})
			b.ReportMetric(float64(b.N*batch)/b.Elapsed().Seconds(), "messages/s")
		})
	}
}

func BenchmarkPages(b *testing.B) {
	c := bigStore(b)
	big := c.chats[0]
	count := 0
	err := c.s.Read(context.Background(), func(r *read.Snapshot) {
		r.Find("SELECT message_count FROM chats WHERE jid = ?", []any{string(big)}, &count)
	})
	if err != nil {
		b.Fatal(err)
	}
	sender := messages(b, c.s, bridge.MessageQuery{Chat: big, Limit: 1})[0].SenderJID
	deep := sqlite.Cursor(read.ListMessages, 1_732_000_000_000+30*24*time.Hour.Milliseconds(), 0)
	b.Logf("largest chat: %d messages", count)
	for name, q := range map[string]bridge.MessageQuery{
		"newest100":    {Limit: 100},
		"newest1000":   {Limit: 1000},
		"oldest100":    {Limit: 100, Order: bridge.OrderAsc},
		"deepOffset":   {Limit: 100, Offset: count * 9 / 10},
		"deepCursor":   {Limit: 100, Cursor: deep},
		"sender100":    {Limit: 100, Sender: sender},
		"senderOffset": {Limit: 100, Sender: sender, Offset: 50},
		"range":        {Limit: 100, Since: ptr(bridge.Millis(1_733_000_000_000)), Until: ptr(bridge.Millis(1_733_900_000_000))},
	} {
		q.Chat = big
		b.Run(name, func(b *testing.B) { timed(b, func(int) { messages(b, c.s, q) }) })
	}
	for name, q := range map[string]bridge.ChatQuery{
		"chats100": {Limit: 100}, "chatsQ": {Limit: 100, Q: "4917000001"}, "chatsOffset": {Limit: 100, Offset: 1800}, "chatsAbsent": {Limit: 100, Q: "zzz"},
	} {
		b.Run(name, func(b *testing.B) { timed(b, func(int) { chats(b, c.s, q) }) })
	}
}

// benchQueries are queries of one kind.
func (c *corpus) benchQueries(kind string) []string {
	var list []string
	for i := range 24 {
		words := c.words[i%len(c.words)]
		switch kind {
		case "absentUnusual":
			list = append(list, []string{"zqxj", "ъэщю", "ظغثض", "xxqz"}[i%4]+fmt.Sprint(i))
		case "absentCommon":
			list = append(list, words[3+i]+words[40+i]+words[7+i])
		case "rare":
			list = append(list, words[27_000+i*100])
		case "middling":
			list = append(list, words[400+i*37])
		case "common":
			list = append(list, words[i])
		case "oneOrTwoRare":
			list = append(list, []string{"ß", "qx", "zj", "щъ", "国国", "7"}[i%6])
		}
	}
	return list
}

func BenchmarkSearch(b *testing.B) {
	c := bigStore(b)
	for _, kind := range []string{"absentUnusual", "absentCommon", "rare", "middling", "common", "oneOrTwoRare"} {
		queries := c.benchQueries(kind)
		b.Run(kind+"/indexed", func(b *testing.B) {
			hits := 0
			timed(b, func(i int) { hits += len(matchesOf(b, c.s, bridge.SearchQuery{Q: queries[i%len(queries)]})) })
			b.ReportMetric(float64(hits)/float64(b.N), "hits")
		})
		b.Run(kind+"/like", func(b *testing.B) {
			timed(b, func(i int) { c.like(b, queries[i%len(queries)]) })
		})
	}
	from, to := ptr(bridge.Millis(1_750_000_000_000)), ptr(bridge.Millis(1_755_000_000_000))
	for _, kind := range []string{"middling", "common"} {
		queries := c.benchQueries(kind)
		b.Run(kind+"/range", func(b *testing.B) {
			timed(b, func(i int) { matchesOf(b, c.s, bridge.SearchQuery{Q: queries[i%len(queries)], Since: from, Until: to}) })
		})
		b.Run(kind+"/groups", func(b *testing.B) {
			timed(b, func(i int) {
				matchesOf(b, c.s, bridge.SearchQuery{Q: queries[i%len(queries)], ChatType: bridge.ChatsGroup})
			})
		})
	}
}

func BenchmarkSearchInChat(b *testing.B) {
	c := bigStore(b)
	for _, chat := range []struct {
		name string
		jid  bridge.JID
	}{{"largest", c.chats[0]}, {"small", c.chats[1000]}} {
		for _, kind := range []string{"absentUnusual", "absentCommon", "rare", "middling", "common"} {
			queries := c.benchQueries(kind)
			b.Run(chat.name+"/"+kind, func(b *testing.B) {
				timed(b, func(i int) {
					messages(b, c.s, bridge.MessageQuery{Chat: chat.jid, Q: queries[i%len(queries)], Limit: 100})
				})
			})
		}
	}
}

// like is the usual way: a scan over the same rows.
func (c *corpus) like(b *testing.B, q string) {
	b.Helper()
	err := c.s.Read(context.Background(), func(r *read.Snapshot) {
		for rows := range r.Rows(`
			SELECT seq FROM messages WHERE content LIKE '%' || ? || '%'
			ORDER BY seq DESC LIMIT 100`, q) {
			rows.Scan(new(int64))
		}
	})
	if err != nil {
		b.Fatal(err)
	}
}
