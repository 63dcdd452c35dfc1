package store

import (
	"strings"

	"bridged/internal/bridge"
)

// mentions returns the people that a message mentions, each once by whatever
// identity, with the word of the text that names them.
func mentions(find finder, mentioned []bridge.JID, text string) []bridge.Mention {
	list := make([]bridge.Mention, 0, len(mentioned))
	index := make(map[bridge.JID]int, len(mentioned))
	for _, jid := range mentioned {
		m := bridge.Mention{JID: jid, LID: find.lid(jid)}
		if p, known := find(jid); known {
			m.JID, m.Name = p.jid(), p.displayName()
		}
		if _, seen := index[m.JID]; !seen {
			index[m.JID] = len(list)
			list = append(list, m)
		}
	}
	if len(list) > 0 {
		findTokens(find, list, index, text)
	}
	return list
}

// maxTokens bounds how many words with an @ are looked at in one text.
const maxTokens = 4096

// findTokens gives each of the people the first word of the text that is one
// of their identities behind an @.
func findTokens(find finder, list []bridge.Mention, index map[bridge.JID]int, text string) {
	for range maxTokens {
		at := strings.IndexByte(text, '@')
		if at < 0 {
			return
		}
		text = text[at:]
		token := text[:1+digitsIn(text[1:])]
		text = text[len(token):]
		if len(token) == 1 {
			continue
		}
		for _, server := range []string{bridge.ServerUser, bridge.ServerLID, bridge.ServerBot, bridge.ServerGroup} {
			jid := find.canonical(bridge.JID(token[1:] + "@" + server))
			if i, found := index[jid]; found && list[i].Token == nil {
				list[i].Token = &token
				break
			}
		}
	}
}

// digitsIn counts the digits that a text begins with.
func digitsIn(text string) int {
	n := 0
	for n < len(text) && '0' <= text[n] && text[n] <= '9' {
		n++
	}
	return n
}

// mentionedJIDs returns the people of mentions.
func mentionedJIDs(mentions []bridge.Mention) []bridge.JID {
	jids := make([]bridge.JID, len(mentions))
	for i, m := range mentions {
		jids[i] = m.JID
	}
	return jids
}
