package search

import (
	"slices"

	"bridged/internal/bridge"
	"bridged/internal/sqlite"
)

// Filter selects messages by the columns of their rows, not by their texts.
type Filter struct {
	bridge.MessageFilter
	Sender int64 // 0 for all
	Now    int64 // for Pinned: pins that end before it have ended
}

// where returns the condition on a message m.
func (f Filter) where() (string, []any) {
	var w sqlite.Filter
	switch {
	case f.Type == "":
	case f.Type == bridge.TypeMedia:
		w.Add("m.media IS NOT NULL")
	case f.Type == bridge.TypeLink:
		w.Add("m.has_link = 1")
	case f.isOfOneMedia():
		w.Add("m.media IS ?", f.Type)
	default:
		w.Add("m.type = ?", f.Type)
	}
	if f.HasMedia != nil {
		w.Add("(m.media IS NOT NULL) = ?", *f.HasMedia)
	}
	if f.Pinned != nil {
		w.Add("ifnull(m.pinned > ?, 0) = ?", f.Now, *f.Pinned)
	}
	if f.FromMe != nil {
		w.Add("m.from_me = ?", *f.FromMe)
	}
	if f.Starred != nil {
		w.Add("(m.starred > 0) = ?", *f.Starred)
	}
	if f.Sender != 0 {
		w.Add("m.sender = ?", f.Sender)
	}
	return w.Where(), w.Args
}

func (f Filter) isOfOneMedia() bool {
	return slices.Contains(bridge.MediaTypes, bridge.MediaType(f.Type))
}

// Among returns the messages that pass the filter, in the order of positions.
func (f Filter) Among(c *sqlite.Conn, positions []Position) []Position {
	if len(positions) == 0 {
		return nil
	}
	seqs := make([]int64, len(positions))
	for i, p := range positions {
		seqs[i] = p.Seq
	}
	where, args := f.where()
	return sqlite.Collect(c, scanPosition, `
		SELECT m.seq, m.timestamp FROM json_each(?) wanted CROSS JOIN messages m ON m.seq = wanted.value
		WHERE `+where, append([]any{c.Encode(seqs)}, args...)...)
}

func scanPosition(row *sqlite.Row) (p Position) {
	row.Scan(&p.Seq, &p.Timestamp)
	return p
}

// path is an ordered way through a part of a chat's messages: an index of the table, and the
// condition that selects the part.
type path struct {
	index, where string
	args         []any
	rest         Filter // the conditions that must still be checked for each message
}

// paths returns the paths that together pass every message of the filter. It chooses the most
// selective index that is known without counting.
func (f Filter) paths() []path {
	rest := f
	switch {
	case f.Pinned != nil && *f.Pinned:
		return []path{{"messages_pinned", "m.pinned IS NOT NULL", nil, rest}}
	case f.Starred != nil && *f.Starred:
		rest.Starred = nil
		return []path{{"messages_starred", "m.starred > 0", nil, rest}}
	case f.Type == bridge.TypeLink:
		rest.Type = ""
		return []path{{"messages_with_link", "m.has_link = 1", nil, rest}}
	case f.isOfOneMedia():
		rest.Type = ""
		return []path{{"messages_by_media", "m.media = ?", []any{f.Type}, rest}}
	case f.isOfRareType():
		rest.Type = ""
		return []path{{"messages_by_type", "m.type = ? AND " + isRareType, []any{f.Type}, rest}}
	case f.Sender != 0:
		rest.Sender = 0
		return []path{{"messages_by_sender", "m.sender = ?", []any{f.Sender}, rest}}
	case f.Type == bridge.TypeMedia || f.HasMedia != nil && *f.HasMedia:
		return f.mediaPaths()
	case f.FromMe != nil && *f.FromMe:
		rest.FromMe = nil
		return []path{{"messages_own", "m.from_me = 1", nil, rest}}
	}
	return []path{{"messages_by_time", "1", nil, rest}}
}

// isRareType must equal the condition of the index messages_by_type, word for word.
const isRareType = "m.type NOT IN ('" + bridge.TypeText + "', '" + bridge.TypeExtendedText + "')"

func (f Filter) isOfRareType() bool {
	return !slices.Contains([]string{"", bridge.TypeMedia, bridge.TypeText, bridge.TypeExtendedText}, f.Type)
}

// mediaPaths returns one path for each media type.
func (f Filter) mediaPaths() (paths []path) {
	if f.Type == bridge.TypeMedia {
		f.Type = ""
	}
	if f.HasMedia != nil && *f.HasMedia {
		f.HasMedia = nil
	}
	for _, kind := range bridge.MediaTypes {
		paths = append(paths, path{"messages_by_media", "m.media = ?", []any{string(kind)}, f})
	}
	return paths
}
