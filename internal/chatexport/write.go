package chatexport

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"bridged/internal/bridge"
)

const (
	// TextName is the name of the text in an archive, as iPhones name it.
	TextName = "_chat.txt"

	timestampLayout = "2006-01-02, 15:04:05"
	lrm             = "\u200e" // before the app's own words
	// verbatim precedes a text of a person that would be read as the app's own words, and a line of a
	// text that would be read as the beginning of a message. It is INVISIBLE SEPARATOR, which phones
	// do not show.
	verbatim = "\u2063"
)

// Writer writes the text of a chat as an iPhone that is set to English exports it, with dates like
// 2026-11-21. A [Writer] writes what an [Archive] reads again: persons' texts that look like words of the
// app, or like the beginning of a message, get an invisible mark.
//
// Messages that such a text cannot show are written as notices: reading ignores them. Reactions are
// left out, as the apps do.
type Writer struct {
	to     io.Writer
	zone   *time.Location
	begun  bool
	read   reader // to find texts that need a mark
	buffer strings.Builder
}

// NewWriter returns a Writer whose times are in a zone.
func NewWriter(to io.Writer, zone *time.Location) *Writer {
	w := &Writer{to: to, zone: zone}
	w.read.f.form = brackets
	w.read.has = func(string) bool { return false } // the archive's names are known by their form
	return w
}

// Write writes a message of a sender, with the name of its file in the archive; empty if the file is
// left out.
func (w *Writer) Write(m *bridge.Message, sender, file string) error {
	body, isShown := w.body(m, file)
	if !w.begun {
		w.begun = true
		w.line(m.Timestamp, lrm+"Messages and calls are end-to-end encrypted. Only people in this chat can read, listen to, or share them.")
	}
	switch {
	case m.Album != nil: // its parts follow
	case !isShown:
		w.line(m.Timestamp, lrm+"A message of the type "+plainLine(m.MessageType)+" is not part of this text.")
	default:
		w.line(m.Timestamp, sender+": "+body)
	}
	_, err := io.WriteString(w.to, w.buffer.String())
	w.buffer.Reset()
	return err
}

func (w *Writer) line(at bridge.Time, text string) {
	fmt.Fprintf(&w.buffer, "[%s] ", at.In(w.zone).Format(timestampLayout))
	w.buffer.WriteString(strings.ReplaceAll(text, "\r\n", "\n"))
	w.buffer.WriteString("\n")
}

// body returns what follows the sender of a message, and whether the text can show the message.
func (w *Writer) body(m *bridge.Message, file string) (body string, isShown bool) {
	switch text := textOf(m); {
	case m.DeletedAt != nil && m.FromMe:
		return lrm + "You deleted this message.", true
	case m.DeletedAt != nil:
		return lrm + "This message was deleted.", true
	case m.MessageType == bridge.TypeViewOnce:
		body = "<View once message omitted>"
	case file != "":
		body = captioned(m, "<attached: "+file+">")
	case m.MessageType == bridge.TypeOmitted:
		body = strings.TrimRight(lrm+"<Media omitted>\n"+escapeLines(m.Content), "\n")
	case kindOf(m) != "":
		body = omitted(m)
	case len(m.Contacts) > 0:
		body = lrm + "Contact card omitted"
	case m.Location != nil:
		body = lrm + placeText(m.Location)
	case m.Poll != nil:
		body = pollText(m.Poll)
	case plainText(text) == "":
		return "", false
	default:
		body = w.escape(text)
	}
	if m.EditedAt != nil {
		body += " " + lrm + "<This message was edited>"
	}
	return body, true
}

// escape returns a person's text in the form in which it is read again.
func (w *Writer) escape(text string) string {
	var got Message
	isRead := !startsWithMark(text) && !strings.HasPrefix(text, verbatim) && w.read.body(&got, text)
	text = escapeLines(text)
	if isRead && got.Kind == Text && !got.Edited {
		return text
	}
	return verbatim + text + verbatim
}

// escapeLines marks the lines after the first one that would be read as the beginning of a message.
func escapeLines(text string) string {
	if !strings.Contains(text, "\n") {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines[1:] {
		if isEscaped(line) {
			lines[i+1] = verbatim + line
		}
	}
	return strings.Join(lines, "\n")
}

// isEscaped reports whether a line within a person's text needs a mark, or one more.
func isEscaped(line string) bool {
	_, begins := prefixOf(strings.TrimLeft(line, verbatim))
	return begins
}

// unescapedLine removes the mark that [escapeLines] sets.
func unescapedLine(line string) string {
	if rest, marked := strings.CutPrefix(line, verbatim); marked && isEscaped(rest) {
		return rest
	}
	return line
}

// verbatimText reads a text with the marks of [Writer.escape], and reports whether it has them.
func (m *Message) verbatimText(raw string) bool {
	text, marked := strings.CutPrefix(raw, verbatim)
	if !marked {
		return false
	}
	if end := strings.LastIndex(text, verbatim); end >= 0 {
		m.Edited = isOf(edited, text[end+len(verbatim):])
		text = text[:end]
	}
	m.Text = plainText(text)
	return true
}

// textOf returns the text of a message, with the names of the people that it mentions.
func textOf(m *bridge.Message) string {
	if m.ContextInfo == nil {
		return m.Content
	}
	mentions := slices.Clone(m.ContextInfo.Mentions)
	slices.SortFunc(mentions, func(a, b bridge.Mention) int { return cmp.Compare(len(tokenOf(b)), len(tokenOf(a))) })
	var pairs []string
	for _, mention := range mentions {
		if token := tokenOf(mention); token != "" && mention.Name != "" && !strings.ContainsAny(mention.Name, "@\r\n") {
			pairs = append(pairs, token, "@\u2068"+mention.Name+"\u2069")
		}
	}
	return strings.NewReplacer(pairs...).Replace(m.Content)
}

func tokenOf(mention bridge.Mention) string {
	if mention.Token == nil {
		return ""
	}
	return *mention.Token
}

// captioned returns a note about a message's file after its caption.
func captioned(m *bridge.Message, note string) string {
	caption := ""
	if m.Media != nil {
		caption = escapeLines(plainText(textOf(m)))
	}
	return strings.TrimLeft(caption+" "+lrm+note, " ")
}

// kindOf returns the kind of a message's file; empty if the message has none. Imported messages may be of the
// type of a file without having it.
func kindOf(m *bridge.Message) bridge.MediaType {
	if m.Media != nil {
		return m.Media.Type
	}
	kind := bridge.MediaType(strings.TrimSuffix(m.MessageType, "Message"))
	if slices.Contains(bridge.MediaTypes, kind) {
		return kind
	}
	return ""
}

// omitted returns the text of a message whose file is left out.
func omitted(m *bridge.Message) string {
	kind := kindOf(m)
	if kind != bridge.MediaDocument {
		caption := escapeLines(plainText(textOf(m)))
		return strings.TrimLeft(caption+" "+lrm+string(kind)+" omitted", " ")
	}
	name, caption, size := plainLine(m.Content), "", ""
	if m.Media != nil {
		name, caption = plainLine(m.Media.FileName), escapeLines(plainText(textOf(m)))
		size = strconv.FormatInt((m.Media.Size+1023)>>10, 10) + " KB"
		if m.Media.Pages > 0 {
			size = strconv.Itoa(m.Media.Pages) + " pages"
		}
	}
	name = cmp.Or(strings.ReplaceAll(name, " • ", " - "), "document")
	if caption != "" || m.Media != nil && m.Media.Pages > 0 {
		name += " • " + lrm + size
	}
	if caption != "" {
		name += " • " + caption
	}
	return name + " " + lrm + "document omitted"
}

// maxPlace bounds the name of a place with its address, in characters.
const maxPlace = 60

func placeText(p *bridge.Place) string {
	name := plainLine(p.Name)
	if name != "" && p.Address != "" && !strings.ContainsAny(name+p.Address, "()") {
		name += " (" + plainLine(p.Address) + ")"
	}
	if name == "" || utf8.RuneCountInString(name) > maxPlace {
		name = "Location"
	}
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	return name + ": https://maps.google.com/?q=" + number(p.Latitude) + "," + number(p.Longitude)
}

func pollText(p *bridge.PollTally) string {
	var b strings.Builder
	b.WriteString(lrm + "POLL:\n" + escapeLines("\n" + p.Name)[1:])
	for _, option := range p.Options {
		unit := "votes"
		if option.Votes == 1 {
			unit = "vote"
		}
		fmt.Fprintf(&b, "\n%sOPTION: %s (%s%d %s)", lrm, plainLine(option.Name), lrm, option.Votes, unit)
	}
	return b.String()
}

// plainLine returns a text in one line, without characters that cannot be shown.
func plainLine(s string) string {
	return strings.Join(strings.FieldsFunc(plainText(s), func(r rune) bool { return unicode.IsControl(r) || r == ' ' }), " ")
}

// IsSenderName reports whether a name is read again as the sender's, and not as a part of a notice.
func IsSenderName(name string) bool {
	return name != "" && plainName(name) == name && plainLine(name) == name && len(name) <= maxName && !isLong(name) && !isOpenQuote(name) &&
		!strings.ContainsAny(name, quoteMarks) && (strings.Count(name, " ") < 3 || isName(name))
}

// extensions has the extensions of types of files, as the apps choose them.
var extensions = map[string]string{
	"image/jpeg": ".jpg", "image/png": ".png", "image/gif": ".gif", "image/heic": ".heic", "image/webp": ".webp",
	"video/mp4": ".mp4", "video/3gpp": ".3gp", "video/quicktime": ".mov", "video/webm": ".webm",
	"audio/ogg": ".ogg", "audio/mpeg": ".mp3", "audio/mp4": ".m4a", "audio/aac": ".aac", "audio/amr": ".amr", "audio/wav": ".wav",
}

// fileKinds has the word and the usual extension for kinds of files in names.
var fileKinds = map[bridge.MediaType][2]string{
	bridge.MediaImage: {"PHOTO", ".jpg"}, bridge.MediaVideo: {"VIDEO", ".mp4"}, bridge.MediaAudio: {"AUDIO", ".m4a"}, bridge.MediaSticker: {"STICKER", ".webp"},
}

// FileName returns the name in the archive of a message's file, the number-th one. The file of contacts is a vCard.
func FileName(number int, m *bridge.Message, zone *time.Location) string {
	kind, known := fileKinds[kindOf(m)]
	if !known {
		return fmt.Sprintf("%08d-%s", number, documentName(m))
	}
	mimeType, _, _ := strings.Cut(m.Media.MimeType, ";")
	extension := cmp.Or(extensions[strings.TrimSpace(mimeType)], kind[1])
	if m.Media.PTT {
		extension = ".opus"
	}
	return fmt.Sprintf("%08d-%s-%s%s", number, kind[0], m.Timestamp.In(zone).Format("2006-01-02-15-04-05"), extension)
}

const maxFileName = 200 // bytes

// unsafeInName matches what file systems, or the note about a file, do not permit in its name.
var unsafeInName = regexp.MustCompile(`[/\\<>:："|?*\p{C}]+`)

func documentName(m *bridge.Message) string {
	name, extension := "", ".vcf"
	if m.Media != nil {
		name, extension = m.Media.FileName, path.Ext(m.Media.FileName)
		if len(extension) > 12 {
			extension = ""
		}
		name = strings.TrimSuffix(name, extension)
	} else {
		name = m.Content
	}
	clean := func(s string) string { return strings.TrimSpace(unsafeInName.ReplaceAllString(composed(s), "_")) }
	return cmp.Or(bridge.CutBytes(clean(name), maxFileName), "file") + clean(extension)
}
