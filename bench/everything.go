package main

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"bridged/internal/bridge"
)

// everything holds all messages, newest first, and answers searches by reading
// them all. It shares no code with the search that it checks.
type everything []plainMessage

type plainMessage struct {
	id      string
	chat    bridge.JID
	isGroup bool
	folded  string
	bare    string // empty where it is folded
}

func foldPlain(s string) string { return norm.NFC.String(cases.Fold().String(norm.NFD.String(s))) }

// barePlain returns a folded text without the marks of letters that are the same without them.
func barePlain(folded string) string {
	var bare []rune
	loses := false
	for _, r := range norm.NFD.String(folded) {
		mark := unicode.Is(unicode.Mn, r)
		if !mark {
			loses = unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Hebrew, unicode.Arabic)
		}
		if !mark || !loses {
			bare = append(bare, r)
		}
	}
	return norm.NFC.String(string(bare))
}

// everything reads all messages that have a text.
func (y *yardstick) everything(ctx context.Context) (all everything, err error) {
	rows, err := y.db.QueryContext(ctx, `
		SELECT m.id, c.jid, c.is_group, m.content FROM messages m JOIN chats c ON c.id = m.chat
		WHERE m.content != '' ORDER BY m.timestamp DESC, m.seq DESC`)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	chats := map[bridge.JID]bridge.JID{} // one copy of each string
	for rows.Next() {
		var m plainMessage
		if err := rows.Scan(&m.id, &m.chat, &m.isGroup, &m.folded); err != nil {
			return nil, err
		}
		if known, ok := chats[m.chat]; ok {
			m.chat = known
		} else {
			chats[m.chat] = m.chat
		}
		m.folded = foldPlain(m.folded)
		if bare := barePlain(m.folded); bare != m.folded {
			m.bare = bare
		}
		all = append(all, m)
	}
	return all, rows.Err()
}

// pageSize is the number of matches on a page.
const pageSize = 100

// find returns the ids of the first page, limited to most.
func (all everything) find(q sample, text string, most int) (ids []string) {
	needle := foldPlain(text)
	if q.fold == bridge.FoldAccents {
		needle = barePlain(needle)
	}
	for _, m := range all {
		if len(ids) == min(most, pageSize) {
			break
		}
		if q.chat != "" && m.chat != q.chat || q.kind == bridge.ChatsGroup && !m.isGroup || q.kind == bridge.ChatsIndividual && m.isGroup {
			continue
		}
		content := m.folded
		if q.fold == bridge.FoldAccents {
			content = cmp.Or(m.bare, m.folded)
		}
		if strings.Contains(content, needle) {
			ids = append(ids, m.id)
		}
	}
	return ids
}
