package config

import (
	"slices"
	"strings"
)

// retired holds the variables that bridged no longer reads, with their replacements.
var retired = map[string]string{
	"WEBHOOK_CHATS":         createByAPI,
	"WEBHOOK_EXCLUDE_CHATS": createByAPI,
	"WEBHOOK_CHAT_TYPE":     createByAPI,
	"WEBHOOK_FROM_ME":       createByAPI,
	"NATS_EVENTS_MAX_AGE":   configureStream,
	"NATS_EVENTS_MAX_BYTES": configureStream,
	"NATS_DUPLICATE_WINDOW": configureStream,
	"TRANSCRIBE_LANGUAGES":  oneLanguage,
}

const (
	createByAPI     = "WEBHOOK_URL receives the events of all chats; for fewer, create the webhook with POST /api/webhooks"
	oneLanguage     = "set TRANSCRIBE_LANGUAGE to the spoken language, or leave it out if there are several"
	configureStream = "create the stream of events with your limits before the first start, or change it with nats stream edit"
)

// misspellings returns a sentence, in alphabetical order, for each variable that bridged no longer
// reads or whose name is nearly the name of one that it reads.
func misspellings(environ []string) (found []string) {
	known := Variables()
	for _, setting := range environ {
		name, _, _ := strings.Cut(setting, "=")
		if slices.Contains(known, name) {
			continue
		}
		if instead := retired[name]; instead != "" {
			found = append(found, name+" is set, but bridged no longer reads it: "+instead)
		} else if meant := meantVariable(name, known); meant != "" {
			found = append(found, name+" is set, but not a variable of bridged: did you mean "+meant+"?")
		}
	}
	slices.Sort(found)
	return found
}

// meantVariable returns the known variable that differs from name in its case, in one or two
// letters, or in the end of its last word ("ENABLE_SENDING").
func meantVariable(name string, known []string) string {
	plain := strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
	for _, variable := range known {
		ending, longer := strings.CutPrefix(plain, variable)
		if longer && len(ending) <= len("ING") && !strings.Contains(ending, "_") {
			return variable
		}
	}
	// If a third of a short name differs, it is another word.
	if len(plain) < len("CONSOLE") {
		return ""
	}
	best, fewest := "", 3
	for _, variable := range known {
		if changes := editDistance(plain, variable); changes < fewest {
			best, fewest = variable, changes
		}
	}
	return best
}

// editDistance returns how many letters must be changed, added, removed or swapped to turn a into
// b.
func editDistance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, before
		row[0] = i
		for j := 1; j <= len(b); j++ {
			changed := 1
			if a[i-1] == b[j-1] {
				changed = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+changed)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
