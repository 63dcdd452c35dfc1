package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"strings"
	"time"

	"bridged/internal/bridge"
)

// corpus is a made-up account: its chats, and any number of messages over two
// years. The i-th message depends only on the seed and on i.
type corpus struct {
	seed     uint64
	messages int
	chats    []corpusChat
	share    []float64  // cumulative, of the chats
	words    [][]string // of languages
	spread   []int      // the language of each of 100 messages

	// The rest is seeded anew for each message.
	source *rand.PCG
	r      *rand.Rand
	zipf   *rand.Zipf
}

// corpusChat is a chat and the people who write in it.
type corpusChat struct {
	jid     bridge.JID
	name    string
	people  []bridge.JID
	primary int // its usual language
}

const (
	// ownerNumber comes from a range reserved for fiction.
	ownerNumber = "15550100900"
	// otherNumber belongs to the other build's account.
	otherNumber = "15550100902"
	// skew makes the largest of 2,000 chats hold 4.2 % of all messages.
	skew = 3.8
	span = 2 * 365 * 24 * time.Hour
)

// epoch dates the first message.
var epoch = time.Date(2024, 11, 20, 8, 0, 0, 0, time.UTC)

func newCorpus(seed uint64, messages, chats int) *corpus {
	c := &corpus{seed: seed, messages: messages, source: rand.NewPCG(seed, 0)}
	c.r = rand.New(c.source)
	c.zipf = rand.NewZipf(c.r, 1.07, 6, vocabularySize-1)
	c.words = vocabularies(seed)
	for i, language := range languages {
		for range language.weight {
			c.spread = append(c.spread, i)
		}
	}
	total := 0.0
	for i := range chats {
		c.chats = append(c.chats, c.chat(i))
		total += 1 / (float64(i) + skew)
		c.share = append(c.share, total)
	}
	return c
}

// chat returns the i-th largest chat. Every third is a group, including the
// largest.
func (c *corpus) chat(i int) corpusChat {
	chat := corpusChat{primary: c.spread[c.r.IntN(len(c.spread))]}
	chat.name = c.name(chat.primary)
	if i%3 != 0 {
		chat.jid = bridge.PhoneJID(fmt.Sprintf("4915550%07d", i))
		chat.people = []bridge.JID{chat.jid}
		return chat
	}
	chat.jid = bridge.JID(fmt.Sprintf("1203630%011d@g.us", i))
	for range 3 + c.r.IntN(40) {
		chat.people = append(chat.people, bridge.PhoneJID(fmt.Sprintf("4915551%07d", c.r.IntN(600))))
	}
	return chat
}

// name returns a name of two words.
func (c *corpus) name(language int) string {
	l, words := languages[language], c.words[language]
	return l.title(words[c.r.IntN(2000)]) + " " + l.title(words[c.r.IntN(2000)])
}

// lidOf returns a person's other identity, which two of three people have.
func lidOf(pn bridge.JID) (bridge.JID, bool) {
	digits := pn.User()
	last := digits[len(digits)-1] - '0'
	return bridge.JID("88" + digits[2:] + "@lid"), last%3 != 0
}

// chatOf returns the chat whose number of messages comes nearest to a wanted one.
func (c *corpus) chatOf(wanted int) bridge.JID {
	total := c.share[len(c.share)-1]
	best, distance := 0, math.Inf(1)
	for i := range c.chats {
		share := float64(c.messages) / (float64(i) + skew) / total
		if d := math.Abs(share - float64(wanted)); d < distance {
			best, distance = i, d
		}
	}
	return c.chats[best].jid
}

// people returns the facts that precede the messages: groups with their
// members, names and identities.
func (c *corpus) people() []bridge.Fact {
	var facts []bridge.Fact
	known := map[bridge.JID]bool{}
	for _, chat := range c.chats {
		group := bridge.Group{JID: chat.jid, Name: chat.name}
		for _, jid := range chat.people {
			if !known[jid] {
				known[jid] = true
				facts = append(facts, c.person(jid, chat)...)
			}
			group.Participants = append(group.Participants, bridge.Participant{JID: jid})
		}
		if chat.jid.IsGroup() {
			facts = append(facts, group)
		}
	}
	return facts
}

func (c *corpus) person(jid bridge.JID, chat corpusChat) []bridge.Fact {
	name := chat.name
	if chat.jid.IsGroup() {
		name = c.name(chat.primary)
	}
	facts := []bridge.Fact{bridge.Contact{JID: jid, PushName: &name}}
	if lid, has := lidOf(jid); has {
		facts = append(facts, bridge.Identity{PN: jid, LID: lid})
	}
	return facts
}

// messageID returns the id of the i-th message.
func messageID(i int) string { return fmt.Sprintf("3EB0%016X", uint64(i)*0x9E3779B97F4A7C15) }

// facts returns the i-th message and everything that happens to it.
func (c *corpus) facts(i int) []bridge.Fact {
	c.source.Seed(c.seed, uint64(i)+1)
	at := c.r.Float64() * c.share[len(c.share)-1]
	chat := &c.chats[sort.SearchFloat64s(c.share, at)]
	m := c.message(i, chat)
	facts := []bridge.Fact{m}
	if c.r.IntN(50) == 0 {
		facts = append(facts, bridge.ReactionChange{
			Chat: m.Chat, Target: m.ID, Sender: chat.people[c.r.IntN(len(chat.people))],
			Emoji: "👍", Timestamp: bridge.At(m.Timestamp.Add(time.Minute)),
		})
	}
	return facts
}

func (c *corpus) message(i int, chat *corpusChat) bridge.Message {
	since := time.Duration(float64(span) / float64(c.messages) * float64(i))
	language := chat.primary
	if c.r.IntN(5) == 0 {
		language = c.spread[c.r.IntN(len(c.spread))]
	}
	m := bridge.Message{
		Chat: chat.jid, ID: messageID(i), Timestamp: bridge.At(epoch.Add(since.Truncate(time.Second))),
		MessageType: "conversation", Content: c.text(language),
	}
	// A few people write most of a group's messages.
	r := c.r.Float64()
	m.SenderJID = chat.people[int(r*r*float64(len(chat.people)))]
	if m.FromMe = c.r.IntN(10) < 3; m.FromMe {
		status := bridge.DeliveryRead
		m.SenderJID, m.Status = bridge.PhoneJID(ownerNumber), &status
	}
	switch kind := c.r.IntN(100); {
	case kind < 8:
		c.attach(&m)
	case kind < 18:
		c.quote(&m, i, chat)
	case kind < 20 && chat.jid.IsGroup():
		c.mention(&m, chat)
	}
	m.Raw = make([]byte, len(m.Content)+60+c.r.IntN(90))
	for j := range m.Raw {
		m.Raw[j] = byte(j*31 + i)
	}
	return m
}

// attach makes m a message with a file.
func (c *corpus) attach(m *bridge.Message) {
	key := make([]byte, 32)
	media := &bridge.Media{Size: 20_000 + c.r.Int64N(2_000_000), Ref: bridge.MediaRef{
		DirectPath: "/v/t62/" + m.ID + "?ccb=11-4&oh=01_Q5AaIA&oe=67F0", MediaKey: key, FileSHA256: key, FileEncSHA256: key,
	}}
	switch c.r.IntN(4) {
	case 0:
		m.MessageType, m.Content = "audioMessage", ""
		media.Type, media.MimeType, media.PTT, media.DurationSec = bridge.MediaAudio, "audio/ogg; codecs=opus", true, 1+c.r.IntN(90)
	case 1:
		m.MessageType = "documentMessage"
		media.Type, media.MimeType, media.FileName, media.Pages = bridge.MediaDocument, "application/pdf", "document.pdf", 3
	default:
		m.MessageType = "imageMessage"
		media.Type, media.MimeType, media.Width, media.Height = bridge.MediaImage, "image/jpeg", 1600, 1200
		if c.r.IntN(2) == 0 {
			m.Content = ""
		}
	}
	media.Caption = m.Content
	m.Media = media
}

// quote makes m an answer to an earlier message.
func (c *corpus) quote(m *bridge.Message, i int, chat *corpusChat) {
	id := messageID(max(0, i-1-c.r.IntN(1000)))
	m.MessageType = "extendedTextMessage"
	m.ContextInfo = &bridge.ContextInfo{QuotedMsgID: &id, QuotedSenderJID: chat.people[0], MentionedJID: []bridge.JID{}}
}

func (c *corpus) mention(m *bridge.Message, chat *corpusChat) {
	jid := chat.people[c.r.IntN(len(chat.people))]
	m.MessageType = "extendedTextMessage"
	m.Content = "@" + jid.User() + " " + m.Content
	m.ContextInfo = &bridge.ContextInfo{MentionedJID: []bridge.JID{jid}}
}

// text returns a message of one to about twenty words.
func (c *corpus) text(language int) string {
	l, words := languages[language], c.words[language]
	shout := l.cased && c.r.IntN(60) == 0
	var text strings.Builder
	for i := range 1 + c.r.IntN(9) + c.r.IntN(9) {
		word := words[c.zipf.Uint64()]
		switch {
		case shout:
			word = l.upper(word)
		case l.cased && (i == 0 || c.r.IntN(12) == 0):
			word = l.title(word)
		}
		if i > 0 && l.spaces {
			text.WriteByte(' ')
		}
		text.WriteString(word)
	}
	text.WriteString([]string{"", "", ".", "!", "?", "…"}[c.r.IntN(6)])
	if c.r.IntN(8) == 0 {
		text.WriteString(" " + emoji[c.r.IntN(len(emoji))])
	}
	return text.String()
}
