// Package content checks what callers send: JIDs, times and other values, the content of messages, and the
// data of groups and tokens. Its errors are [bridge.CodeInvalid] and name the field.
package content

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"bridged/internal/bridge"
	"bridged/internal/media"
)

// MaxText limits the characters of a text message and of a caption.
const MaxText = 65536

const (
	maxContacts = 20
	MaxVCard    = 64 << 10 // bytes of one card
	minOptions  = 2        // of a poll
	maxOptions  = 12
	maxFileName = 255 // characters of a document's name
)

// CheckContacts returns an error that names the first invalid contact of a message.
func CheckContacts(contacts []bridge.ContactCard) error {
	if len(contacts) < 1 || len(contacts) > maxContacts {
		return bridge.Invalid("contacts must hold 1 to %d contacts", maxContacts)
	}
	for i, c := range contacts {
		if strings.TrimSpace(c.DisplayName) == "" {
			return bridge.Invalid("contacts[%d].displayName is required", i)
		}
		if err := checkContactPhone(c.Phone); err != nil {
			return bridge.Invalid("contacts[%d].phone %v", i, err)
		}
		if c.VCard != "" && !IsVCard(c.VCard) {
			return bridge.Invalid("contacts[%d].vcard must be one card from BEGIN:VCARD to END:VCARD of at most 64 KiB", i)
		}
	}
	return nil
}

// checkContactPhone refuses everything but digits, since the card has the number unchanged.
func checkContactPhone(s string) error {
	if s == "" {
		return nil
	}
	switch phone, err := bridge.ParsePhone(s); {
	case err != nil:
		return err
	case phone != s:
		return bridge.Invalid("must be E.164 digits alone: did you mean %s?", phone)
	}
	return nil
}

// IsVCard reports whether s is a single card. Its properties are not checked.
func IsVCard(s string) bool {
	lines := strings.FieldsFunc(strings.ToUpper(s), func(r rune) bool { return r == '\r' || r == '\n' })
	if len(s) > MaxVCard || len(lines) < 2 {
		return false
	}
	begins, ends := 0, 0
	for _, line := range lines {
		switch strings.TrimRight(line, " \t") {
		case "BEGIN:VCARD":
			begins++
		case "END:VCARD":
			ends++
		}
	}
	framed := strings.HasPrefix(lines[0], "BEGIN:VCARD") && strings.HasPrefix(lines[len(lines)-1], "END:VCARD")
	return framed && begins == 1 && ends == 1 && !strings.ContainsFunc(s, isBinary)
}

func isBinary(r rune) bool {
	return unicode.IsControl(r) && r != '\r' && r != '\n' && r != '\t'
}

// MaxEmoji bounds an emoji in runes: the longest sequences have 10.
const MaxEmoji = 16

// emoji matches one emoji. It follows the grammar of emoji sequences (Unicode Technical
// Standard 51) without the list of emoji, which grows every year. A picture is a symbol, one of
// the few emoji that are not symbols, or any character of the emoji blocks, assigned or not,
// followed by its style, skin tone and tags. Joined pictures are one emoji.
var emoji = func() *regexp.Regexp {
	const (
		regional = `[\x{1F1E6}-\x{1F1FF}]`
		symbol   = `[^\P{So}\x{1F1E6}-\x{1F1FF}\x{FFFD}]|[^\P{Sm}\x00-\x7F]|[‼⁉ℹ〰〽]|[\x{1F000}-\x{1F1E5}\x{1F200}-\x{1FAFF}]`
		style    = `[\x{FE0E}\x{FE0F}]?`
		tone     = `[\x{1F3FB}-\x{1F3FF}]?`
		tags     = `(?:[\x{E0020}-\x{E007E}]*\x{E007F})?`
		picture  = `(?:` + symbol + `)` + style + tone + style + tags
		joiner   = `\x{200D}`
		keycap   = `[#*0-9]\x{FE0F}?\x{20E3}`
	)
	return regexp.MustCompile(`^(?:` + regional + `{2}|` + keycap + `|` + picture + `(?:` + joiner + picture + `)*)$`)
}()

// IsEmoji reports whether s is one emoji or empty.
func IsEmoji(s string) bool {
	return s == "" || utf8.ValidString(s) && utf8.RuneCountInString(s) <= MaxEmoji && emoji.MatchString(s)
}

// CheckPoll returns an error if a poll is invalid. Options must differ, because votes only have
// the text of an option.
func CheckPoll(poll bridge.Poll) error {
	if strings.TrimSpace(poll.Name) == "" {
		return bridge.Invalid("name is required: the poll's question")
	}
	if len(poll.Values) < minOptions || len(poll.Values) > maxOptions {
		return bridge.Invalid("values must hold %d to %d options", minOptions, maxOptions)
	}
	seen := make(map[string]bool, len(poll.Values))
	for _, value := range poll.Values {
		shown := strings.TrimSpace(value)
		if shown == "" {
			return bridge.Invalid("values must not hold an empty option")
		}
		if seen[shown] {
			return bridge.Invalid("values must not hold the same option twice")
		}
		seen[shown] = true
	}
	if poll.Selectable < 0 || poll.Selectable > len(poll.Values) {
		return bridge.Invalid("selectableCount must be between 0 and the number of options, %d", len(poll.Values))
	}
	return nil
}

// CheckFile refuses missing fields, and fields that do not belong to the type.
func CheckFile(f media.Request, types ...bridge.MediaType) error {
	switch {
	case f.Type == "":
		return bridge.Invalid("type is required: image, video, audio or document")
	case !slices.Contains(types, f.Type):
		return bridge.Invalid("type must be one of %s", bridge.Join(types, ", "))
	case f.Caption != "" && (f.Type == bridge.MediaAudio || f.Type == bridge.MediaSticker):
		return bridge.Invalid("caption is for image, video and document only")
	case f.FileName != "" && f.Type != bridge.MediaDocument:
		return bridge.Invalid("fileName is for document only")
	case f.PTT && f.Type != bridge.MediaAudio:
		return bridge.Invalid("ptt is for audio only")
	case f.Convert && f.Type != bridge.MediaVideo:
		return bridge.Invalid("convert is for video only: images are converted without it, and audio with ptt")
	case f.GIF && f.Type != bridge.MediaVideo:
		return bridge.Invalid("gif is for video only: an animated GIF becomes one without it")
	case f.ViewOnce && f.Type != bridge.MediaImage && f.Type != bridge.MediaVideo && !f.PTT:
		return bridge.Invalid("viewOnce is for image, video and voice notes (audio with ptt) only")
	case utf8.RuneCountInString(f.Caption) > MaxText:
		return TooLongCaption()
	case !isFileName(f.FileName):
		return bridge.Invalid("fileName must be a name without directories, of at most %d characters", maxFileName)
	}
	return nil
}

// isFileName reports whether a recipient's device can use a name unchanged.
func isFileName(name string) bool {
	return bridge.PlainFileName(name) == name && !strings.ContainsAny(name, "/\\\ufeff") && (name == "" || strings.Trim(name, ". ") != "")
}

func TooLongCaption() error {
	return bridge.Invalid("caption must have at most %d characters", MaxText)
}
