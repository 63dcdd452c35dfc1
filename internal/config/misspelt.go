package config

import (
	"slices"
	"strings"

	"github.com/caarlos0/env/v11"

	"bridged/internal/spelling"
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
	known, values := Variables(), env.ToMap(environ)
	for _, setting := range environ {
		name, _, _ := strings.Cut(setting, "=")
		if slices.Contains(known, name) {
			continue
		}
		if warning := renameWarning(name, values); warning != "" {
			found = append(found, warning)
		} else if instead := retired[name]; instead != "" {
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
	return spelling.Nearest(plain, known, 2)
}
