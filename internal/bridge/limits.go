package bridge

import (
	"crypto/sha256"
	"math"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What a stranger may put into the fields that lists show. Beyond it a text is
// cut, a list is shortened and a number is unknown: 0. Nothing is taken from
// the stored protobuf. Texts are counted in characters.
const (
	maxContent    = 65536
	maxName       = 255 // of people, groups and files
	maxUsername   = 64
	maxTopic      = 4096
	maxLabel      = 100  // of a member of a group; the apps have 30
	maxAsking     = 1024 // who asks to be let into a group, in one notification
	maxMIMEType   = 255
	maxEmoji      = 64
	maxMentions   = 1024
	maxOptions    = MaxPollOptions // and of a vote
	maxOption     = 1024
	maxGuests     = 1000 // of one person at an event; the apps offer one
	maxFileSize   = 2 << 30
	maxSeconds    = 30 * 24 * 60 * 60
	maxPixels     = 1 << 16
	maxPages      = 1_000_000
	maxKey        = 64 // bytes; real ones have 32
	maxDirectPath = 4096
)

// MaxPollOptions is how many options a poll has at most, those included that were
// added to it.
const MaxPollOptions = 100

// UnknownMIMEType is the type of a file whose sender gave none, or none that
// could stand in a header.
const UnknownMIMEType = "application/octet-stream"

// Bounded returns a fact within the limits of what is stored. Doing it twice
// changes nothing.
func Bounded(fact Fact) Fact {
	switch f := fact.(type) {
	case Message:
		f.Bound()
		return f
	case Edit:
		f.New.Bound()
		if f.Upload != nil {
			upload := Bounded(*f.Upload).(Message)
			f.Upload = &upload
		}
		return f
	case Contact:
		f.Name, f.PushName, f.BusinessName = cutName(f.Name), cutName(f.PushName), cutName(f.BusinessName)
		f.Username = boundUsername(f.Username)
		return f
	case Group:
		f.Name, f.Topic = cut(f.Name, maxName), cut(f.Topic, maxTopic)
		f.Participants = boundParticipants(f.Participants)
		return f
	case GroupChange:
		f.Name = cutName(f.Name)
		if f.Topic != nil {
			topic := cut(*f.Topic, maxTopic)
			f.Topic = &topic
		}
		f.Joined = boundParticipants(f.Joined)
		f.Asked, f.AskNoMore = f.Asked[:min(len(f.Asked), maxAsking)], f.AskNoMore[:min(len(f.AskNoMore), maxAsking)]
		return f
	case MemberLabel:
		f.Label = cut(f.Label, maxLabel)
		return f
	case ReactionChange:
		f.Emoji = cut(f.Emoji, maxEmoji)
		return f
	case PollVote:
		f.Hashes = boundHashes(f.Hashes)
		return f
	case EventResponse:
		f.Guests = within(f.Guests, maxGuests)
		return f
	case PollOptionAdded:
		f.Name = cut(f.Name, maxOption)
		return f
	case Sealed:
		f.PushName = cut(f.PushName, maxName)
		return f
	case ChatName:
		f.Name = cut(f.Name, maxName)
		return f
	case Imported:
		if f.Message != nil {
			message := Bounded(*f.Message).(Message)
			f.Message = &message
		}
		return f
	case MediaMoved:
		f.DirectPath = boundPath(f.DirectPath)
		return f
	}
	return fact
}

// Bound keeps what m shows within the limits.
func (m *Message) Bound() {
	m.PushName = cut(m.PushName, maxName)
	m.MessageType = cut(m.MessageType, maxName)
	m.Content = cut(m.Content, maxContent)
	if m.Media != nil {
		media := *m.Media
		media.bound()
		m.Media = &media
	}
	if m.Poll != nil {
		poll := *m.Poll
		poll.bound()
		m.Poll = &poll
	}
	if m.ContextInfo != nil {
		context := *m.ContextInfo
		context.bound()
		m.ContextInfo = &context
	}
	m.Parts.bound()
}

func (c *ContextInfo) bound() {
	c.MentionedJID = c.MentionedJID[:min(len(c.MentionedJID), maxMentions)]
	c.Mentions = c.Mentions[:min(len(c.Mentions), maxMentions)]
}

func (p *PollTally) bound() {
	p.Name = cut(p.Name, maxContent)
	options := make([]PollOption, min(len(p.Options), maxOptions))
	copy(options, p.Options)
	for i := range options {
		options[i].Name, options[i].Votes = cut(options[i].Name, maxOption), within(options[i].Votes, math.MaxInt32)
	}
	p.Options = options
	p.SelectableCount = within(p.SelectableCount, len(options))
}

func (m *Media) bound() {
	m.MimeType = boundMIMEType(m.MimeType)
	m.FileName = boundFileName(m.FileName)
	m.Caption = cut(m.Caption, maxContent)
	m.Size = within(m.Size, maxFileSize)
	m.DurationSec = within(m.DurationSec, maxSeconds)
	m.Width, m.Height = within(m.Width, maxPixels), within(m.Height, maxPixels)
	m.Pages = within(m.Pages, maxPages)
	m.Ref.DirectPath = boundPath(m.Ref.DirectPath)
	for _, key := range []*[]byte{&m.Ref.MediaKey, &m.Ref.FileSHA256, &m.Ref.FileEncSHA256} {
		if len(*key) > maxKey {
			*key = nil
		}
	}
}

// within returns n, or 0 where it is no sensible count.
func within[N int | int64](n, most N) N {
	if n < 0 || n > most {
		return 0
	}
	return n
}

// IsDirectPath reports whether a path may be that of a file on the network's media
// servers: one that leads to no other host, whatever host it is put behind.
func IsDirectPath(path string) bool {
	if !strings.HasPrefix(path, "/") || strings.ContainsAny(path, "#\\") || boundPath(path) == "" {
		return false
	}
	u, err := url.Parse("https://host" + path)
	return err == nil && u.Host == "host"
}

// boundPath returns no path for one that no host of the network could have.
func boundPath(path string) string {
	if len(path) > maxDirectPath || !utf8.ValidString(path) {
		return ""
	}
	return path
}

// boundHashes keeps what can be the hash of an option's name.
func boundHashes(hashes [][]byte) [][]byte {
	kept := make([][]byte, 0, min(len(hashes), maxOptions))
	for _, hash := range hashes {
		if len(hash) == sha256.Size && len(kept) < maxOptions {
			kept = append(kept, hash)
		}
	}
	return kept
}

func boundParticipants(people []Participant) []Participant {
	bounded := make([]Participant, len(people))
	for i, p := range people {
		p.DisplayName = cut(p.DisplayName, maxName)
		bounded[i] = p
	}
	return bounded
}

func cutName(name *string) *string {
	if name == nil {
		return nil
	}
	short := cut(*name, maxName)
	return &short
}

// boundUsername returns a username as it is, and nil for what cannot be one. A
// part of a username would be somebody else's, so nothing is cut.
func boundUsername(name *string) *string {
	if name == nil || !utf8.ValidString(*name) || utf8.RuneCountInString(*name) > maxUsername ||
		strings.ContainsFunc(*name, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }) {
		return nil
	}
	return name
}

// boundMIMEType returns a type that may stand in a header as it is.
func boundMIMEType(s string) string {
	essence, params, _ := strings.Cut(s, ";")
	kind, subtype, _ := strings.Cut(strings.TrimRight(essence, " "), "/")
	if len(s) > maxMIMEType || !isToken(kind) || !isToken(subtype) || strings.ContainsFunc(params, func(r rune) bool { return r < ' ' || r > '~' }) {
		return UnknownMIMEType
	}
	return s
}

// isToken reports whether s is a token of RFC 9110, section 5.6.2.
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}
