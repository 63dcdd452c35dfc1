package chatexport

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"bridged/internal/bridge"
)

// appMarks are what iPhones set before everything that the app has written: the one or the other,
// by the direction of the language.
const appMarks = "\u200e\u200f"

// body reads the text of a message, and reports whether it is a message and not a notice.
func (r *reader) body(m *Message, raw string) bool {
	if m.verbatimText(raw) {
		return true
	}
	app := r.f.form == brackets && startsWithMark(raw)
	raw = r.withoutEdited(m, raw)
	switch text := plainText(raw); {
	case r.attachment(m, raw):
	case r.omission(m, raw, app):
	case isOf(deleted, raw):
		m.Kind = Deleted
	case text == "" && !m.Edited, text == "null" && r.f.form == dash, strings.HasPrefix(text, "<") && isOf(viewOnce, raw):
		m.Kind = ViewOnce
	case r.location(m, text, app || r.marked):
	default:
		m.Text = text
		return !app || r.isCall(m, raw) || isPoll(raw) || r.isWritten(m, raw)
	}
	return true
}

// isCall reports whether a text by the app describes a call. It has two sentences: the call and its
// length, or the call and an action. Notices about a group or its members may have two sentences, too.
func (r *reader) isCall(m *Message, raw string) bool {
	what, _, several := strings.Cut(strings.TrimLeft(raw, appMarks), "\n")
	first, twice := what, false
	if i := strings.IndexAny(first, appMarks); i >= 0 {
		first, twice = what[:i], true
	}
	if isOf(missedCalls, strings.TrimRight(first, ", ")) {
		m.Text = strings.TrimRight(plainText(first), " .,。") // without the invitation to call back
		return true
	}
	return twice && !several && endsSentence(first) && !mentions(what, m.Sender) && (!r.isChat(m.Sender) || len(r.f.senders) <= 2)
}

// endsSentence reports whether a text ends in a mark such as a comma, but not in a quotation.
func endsSentence(s string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRightFunc(s, unicode.IsSpace))
	return unicode.In(last, unicode.Po, unicode.Pd) && last != '"' && last != '\''
}

// isPoll reports whether a text by the app is a poll: the app marks each option.
func isPoll(raw string) bool {
	_, below, _ := strings.Cut(raw, "\n")
	return slices.ContainsFunc(strings.Split(below, "\n"), startsWithMark)
}

func startsWithMark(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	return strings.ContainsRune(appMarks, first)
}

// isTrailing reports whether a marked text is a note that the app adds at the end of a message.
func isTrailing(marked string) bool {
	marked = strings.TrimLeft(marked, appMarks)
	if i := strings.IndexAny(marked, appMarks+"<"); i >= 0 {
		marked = marked[:i]
	}
	phrase := plainPhrase(marked)
	for _, marks := range omittedKinds {
		if marks.has(phrase) {
			return true
		}
	}
	return marked == "" || omittedAny.has(phrase) || isLeftOut(phrase)
}

func endsWithMark(s string) bool { return strings.TrimRight(s, appMarks) != s }

// withoutEdited removes the note about an edit from the end of a text.
func (r *reader) withoutEdited(m *Message, raw string) string {
	trimmed := strings.TrimRightFunc(raw, func(c rune) bool { return isMark(c) || c == ' ' || c == '\n' || c == '\u00a0' })
	start := strings.LastIndexByte(trimmed, '<')
	if start < 0 || !strings.HasSuffix(trimmed, ">") || len(trimmed)-start > maxPhrase {
		return raw
	}
	mark, before := trimmed[start:], trimmed[:start]
	known := isOf(edited, mark)
	// In an unknown language, the mark of iPhones shows that this is not a person's text.
	byApp := r.f.form == brackets && endsWithMark(before) && plainText(before) != "" &&
		!strings.ContainsAny(mark, ":：") && !isOf(omittedAny, mark)
	if !known && !byApp {
		return raw
	}
	m.Edited = true
	return strings.TrimRight(strings.TrimRight(strings.TrimRight(before, " \n"), appMarks), " \n\u00a0")
}

// attached matches the note of iPhones about a file in the archive.
var attached = compiled(`<[^<>:：\n]{1,40}[:：]\s?([^<>\n]{1,300})>`)

// compiled returns a function that compiles a regular expression when it is first called. The counts of these take
// milliseconds, which every start of the program would need.
func compiled(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// attachment reads the name of a file that is in the archive or was omitted from it.
func (r *reader) attachment(m *Message, raw string) bool {
	if at := attached().FindAllStringSubmatchIndex(raw, -1); r.f.form != dash && at != nil {
		last := at[len(at)-1]
		name := plainName(raw[last[2]:last[3]])
		before := strings.TrimRight(raw[:last[0]], appMarks+" ")
		if endsWithMark(raw[:last[0]]) || r.has(name) || isMediaName(name) {
			m.caption(before+"\n"+raw[last[1]:], name)
			return true
		}
	}
	first, rest, _ := strings.Cut(raw, "\n")
	note := noted().FindStringSubmatch(plainText(first))
	if note == nil || !r.has(note[1]) && !isMediaName(note[1]) && !isCard(note[1]) {
		return false
	}
	m.caption(rest, note[1])
	return true
}

// noted matches the note of Android and old iPhones about such a file.
var noted = compiled(`^([^\n]{1,300}) (?:\([^()\n]{1,60}\)|<[^<>\n]{1,60}>)$`)

// caption sets a message's file, and its text without the app's words about the file.
func (m *Message) caption(text, file string) {
	m.Kind, m.File, m.Name = Attached, file, file
	m.Type, m.PTT = typeOf(file)
	if numbered.MatchString(file) {
		m.Name = file[9:]
	}
	called, caption, described := description(text)
	called, described = composed(called), described && numbered.MatchString(file) // as iPhones number files
	if described || called == composed(m.Name) || called == composed(strings.TrimSuffix(m.Name, path.Ext(m.Name))) {
		m.Text = caption
		return
	}
	m.Text = plainText(text)
}

// description splits an iPhone's description of a document into title and caption. byApp reports whether the text is certainly
// a description, because the app has marked the number of pages.
func description(text string) (called, caption string, byApp bool) {
	first, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	called, more, _ := strings.Cut(first, " • ")
	length, caption, _ := strings.Cut(more, " • ")
	if byApp = startsWithMark(length); !byApp && !isLength(length) {
		caption = more
	}
	return plainText(called), plainText(caption + "\n" + rest), byApp
}

// isLength reports whether a text may be a number of pages.
func isLength(s string) bool {
	return strings.ContainsFunc(s, unicode.IsDigit) && utf8.RuneCountInString(s) < 20
}

// omission reads the note about a file that the export omits.
func (r *reader) omission(m *Message, raw string, app bool) bool {
	first, rest, _ := strings.Cut(raw, "\n")
	switch phrase := plainPhrase(first); {
	case strings.Contains(first, "<") && omittedAny.has(phrase), app && omittedAny.has(phrase):
		m.Kind, m.Text = Omitted, plainText(rest)
		if isFileName(m.Text) {
			m.Name, m.Type, m.Text = m.Text, bridge.MediaDocument, ""
		}
		return true
	case r.f.form != brackets:
		return false
	}
	// The mark is at the end, after a caption or a document's title.
	start := max(0, strings.LastIndexAny(raw, appMarks))
	before, mark := raw[:start], plainPhrase(raw[start:])
	for kind, marks := range omittedKinds {
		if !marks.has(mark) {
			continue
		}
		m.Kind, m.Type, m.Text = Omitted, kind, plainText(before)
		if kind == bridge.MediaDocument {
			m.leftOut(before)
		}
		return true
	}
	if app && isLeftOut(plainPhrase(first)) {
		m.Kind, m.Text = Omitted, plainText(rest)
		return true
	}
	return false
}

// leftOut sets the title and the caption of an omitted document from its description.
func (m *Message) leftOut(text string) {
	if called, caption, described := description(text); described || isFileName(called) {
		m.Name, m.Text = called, caption
		return
	}
	m.Name, m.Text = plainText(text), ""
}

// place finds the link of a location, address the link of an address.
var (
	place   = compiled(`^(\S[^\n]{0,60})[:：]\s?(https://maps\.google\.com/\?q=(-?[0-9.]+),(-?[0-9.]+))$`)
	address = regexp.MustCompile(`^([^()\n]+) \(([^()\n]+)\)$`)
)

// location reads a location with its text: the name of a place, or a person's words. iPhones mark it.
func (r *reader) location(m *Message, text string, marked bool) bool {
	found := place().FindStringSubmatch(text)
	if found == nil {
		return false
	}
	nameless := isOf(located, found[1])
	if r.f.form == brackets && !marked && !nameless {
		return false
	}
	latitude, err := strconv.ParseFloat(found[3], 64)
	longitude, err2 := strconv.ParseFloat(found[4], 64)
	if err != nil || err2 != nil || latitude < -90 || latitude > 90 || longitude < -180 || longitude > 180 {
		return false
	}
	m.Kind, m.Place = Location, &bridge.Place{Latitude: latitude, Longitude: longitude, URL: found[2]}
	if nameless {
		return true
	}
	m.Text, m.Place.Name = found[1], found[1]
	if named := address.FindStringSubmatch(found[1]); named != nil {
		m.Place.Name, m.Place.Address = named[1], named[2]
		m.Text = named[1] + ", " + named[2]
	}
	return true
}

// isOf reports whether a text is a phrase of the app.
func isOf(set phraseSet, s string) bool { return set.has(plainPhrase(s)) }

// plainText returns a text without the marks that the app sets around words of its own and
// names of people.
func plainText(s string) string {
	if strings.IndexByte(s, '\xe2') >= 0 || strings.IndexByte(s, '\xef') >= 0 { // the first bytes of the marks
		s = strings.Map(func(r rune) rune {
			if r == '\u200e' || r == '\ufeff' || r >= '\u2066' && r <= '\u2069' {
				return -1
			}
			return r
		}, s)
	}
	return strings.TrimSpace(strings.Trim(s, "\u200f\u202a\u202b\u202c"))
}

// numbered matches the names of files on iPhones, mediaName the names that the apps choose.
var (
	numbered  = regexp.MustCompile(`^[0-9]{8}-.`)
	mediaName = compiled(`^(IMG|VID|AUD|PTT|STK|DOC|GIF|PTV)-[0-9]{8}-WA[0-9]{4,}[^/]*\.[A-Za-z0-9]{1,8}$`)
	named     = compiled(`^[^/\\\s][^/\\]{0,250}\.[A-Za-z0-9]{1,8}$`)
)

func isMediaName(name string) bool {
	return mediaName().MatchString(name) || numbered.MatchString(name) && named().MatchString(name)
}

// isCard reports whether a file is a contact, which Android names also where files are left out.
func isCard(name string) bool { return strings.EqualFold(path.Ext(name), ".vcf") }

// isFileName reports whether a line is the name of a file, and not a sentence.
func isFileName(s string) bool {
	return named().MatchString(s) && utf8.RuneCountInString(s) < 200 && len(path.Ext(s)) > 2
}

// endings lists the extensions of files that the apps do not show as documents.
var endings = map[string]bridge.MediaType{
	".jpg": bridge.MediaImage, ".jpeg": bridge.MediaImage, ".png": bridge.MediaImage, ".heic": bridge.MediaImage, ".gif": bridge.MediaImage,
	".mp4": bridge.MediaVideo, ".mov": bridge.MediaVideo, ".3gp": bridge.MediaVideo, ".mkv": bridge.MediaVideo, ".avi": bridge.MediaVideo, ".webm": bridge.MediaVideo,
	".opus": bridge.MediaAudio, ".ogg": bridge.MediaAudio, ".m4a": bridge.MediaAudio, ".mp3": bridge.MediaAudio, ".aac": bridge.MediaAudio, ".amr": bridge.MediaAudio, ".wav": bridge.MediaAudio,
	".webp": bridge.MediaSticker,
}

// typeOf returns a file's type by its name, and whether it is a voice note.
func typeOf(name string) (bridge.MediaType, bool) {
	kind, known := endings[strings.ToLower(path.Ext(name))]
	parts := strings.Split(strings.ToUpper(name), "-")
	switch {
	case !known, slices.Contains(parts[:min(2, len(parts))], "DOC"):
		return bridge.MediaDocument, false
	case !isMediaName(name):
		return bridge.MediaDocument, false // with its own name: the apps rename pictures
	}
	voice := parts[0] == "PTT" || kind == bridge.MediaAudio && strings.EqualFold(path.Ext(name), ".opus")
	return kind, voice
}
