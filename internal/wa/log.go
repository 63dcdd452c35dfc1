package wa

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/rs/zerolog"
	"go.mau.fi/whatsmeow/types"
	waLog "go.mau.fi/whatsmeow/util/log"
)

// numberInLog finds whatever may be a phone number in whatsmeow's sentences: a
// user with agent and device, with or without a server, and bare digits.
var numberInLog = regexp.MustCompile(`\+?\b\d{7,}(?:[.:_]\d+)*(?:@[a-z.]+)?`)

// redact keeps the last two digits of phone numbers. Other identities stay:
// LIDs, which stand bare only with their agent (in Signal addresses), and
// groups, but for the founder's number in the old ones.
func redact(s string) string {
	return numberInLog.ReplaceAllStringFunc(s, func(found string) string {
		user, server, isJID := strings.Cut(strings.TrimPrefix(found, "+"), "@")
		number, device := user, ""
		if i := strings.IndexAny(user, ".:_"); i >= 0 {
			number, device = user[:i], user[i:]
		}
		switch {
		case isJID && server != types.DefaultUserServer && server != types.LegacyUserServer,
			!isJID && (len(number) > maxPhoneDigits || strings.HasPrefix(device, "_")):
			return found
		case isJID:
			server = "@" + server
		}
		return "…" + number[len(number)-2:] + device + server
	})
}

// maxPhoneDigits is the length of the longest phone numbers (E.164).
const maxPhoneDigits = 15

// waLogger passes whatsmeow's log on. Debug output of the socket is whole
// stanzas, keys and pairing secrets among them: it goes nowhere.
type waLogger struct {
	log    zerolog.Logger
	module string
	silent bool                // no debug output
	onWarn func(format string) // told of every warning; may be nil
}

func newWALogger(log zerolog.Logger, onWarn func(format string)) waLog.Logger {
	return &waLogger{log: log, module: "whatsmeow", onWarn: onWarn}
}

func (l *waLogger) write(level zerolog.Level, msg string, args []any) {
	if event := l.log.WithLevel(level); event.Enabled() {
		event.Str("module", l.module).Msg(redact(fmt.Sprintf(msg, args...)))
	}
}

func (l *waLogger) Errorf(msg string, args ...any) { l.write(zerolog.ErrorLevel, msg, args) }

func (l *waLogger) Warnf(msg string, args ...any) {
	if msg == logHandlerFailed {
		return
	}
	l.write(zerolog.WarnLevel, msg, args)
	if l.onWarn != nil {
		l.onWarn(msg)
	}
}

// Infof logs at debug level: whatsmeow tells every login there.
func (l *waLogger) Infof(msg string, args ...any) { l.write(zerolog.DebugLevel, msg, args) }

func (l *waLogger) Debugf(msg string, args ...any) {
	if !l.silent {
		l.write(zerolog.TraceLevel, msg, args)
	}
}

func (l *waLogger) Sub(module string) waLog.Logger {
	silent := l.silent || logsStanzas(module)
	return &waLogger{log: l.log, module: l.module + "/" + module, silent: silent, onWarn: l.onWarn}
}
