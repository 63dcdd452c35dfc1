package wa

import (
	"errors"
	"fmt"
	"slices"

	"bridged/internal/bridge"

	"github.com/rs/zerolog"
	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
	waLog "go.mau.fi/whatsmeow/util/log"
)

// waLogger passes whatsmeow's log on. Debug output of the socket is whole
// stanzas, keys and pairing secrets among them: it goes nowhere.
type waLogger struct {
	log    zerolog.Logger
	module string
	silent bool                            // no debug output
	onLog  func(format string, args []any) // told of warnings and debug output; may be nil
	// onStanza is given what the network sends, before it is handled; may be nil.
	onStanza func(node *waBinary.Node)
}

func newWALogger(log zerolog.Logger, onLog func(format string, args []any)) *waLogger {
	return &waLogger{log: log, module: "whatsmeow", onLog: onLog}
}

func (l *waLogger) write(level zerolog.Level, msg string, args []any) {
	if event := l.log.WithLevel(level); event.Enabled() {
		event.Str("module", l.module).Msg(bridge.Redact(fmt.Sprintf(msg, withoutStanzas(args)...)))
	}
}

// withoutStanzas puts the tags of stanzas in their places: the rest of one is keys,
// ciphertexts and who writes to whom.
func withoutStanzas(args []any) []any {
	out := slices.Clone(args)
	for i, arg := range out {
		switch v := arg.(type) {
		case *waBinary.Node:
			out[i] = "<" + v.Tag + ">"
		case waBinary.Node:
			out[i] = "<" + v.Tag + ">"
		case error:
			var refusal *whatsmeow.IQError
			if errors.As(v, &refusal) && refusal.Code == 0 { // its text is the answer
				out[i] = "an answer of another form than is known"
			}
		}
	}
	return out
}

func (l *waLogger) Errorf(msg string, args ...any) {
	level := zerolog.ErrorLevel
	if msg == logConnectionEnded || msg == logOutdated {
		level = zerolog.DebugLevel
	}
	l.write(level, msg, args)
	l.tell(msg, args)
}

func (l *waLogger) Warnf(msg string, args ...any) {
	if msg == logHandlerFailed {
		return
	}
	level := zerolog.WarnLevel
	if msg == logOtherDevices {
		level = zerolog.DebugLevel
	}
	l.write(level, msg, args)
	l.tell(msg, args)
}

func (l *waLogger) tell(format string, args []any) {
	if l.onLog != nil {
		l.onLog(format, args)
	}
}

// Infof logs at debug level: whatsmeow tells every login there.
func (l *waLogger) Infof(msg string, args ...any) { l.write(zerolog.DebugLevel, msg, args) }

func (l *waLogger) Debugf(msg string, args ...any) {
	if node, ok := received(l.module, args); ok && l.onStanza != nil {
		l.onStanza(node)
	}
	if !l.silent {
		l.write(zerolog.TraceLevel, msg, args)
		l.tell(msg, args)
	}
}

func (l *waLogger) Sub(module string) waLog.Logger {
	silent := l.silent || logsStanzas(module)
	return &waLogger{log: l.log, module: l.module + "/" + module, silent: silent, onLog: l.onLog, onStanza: l.onStanza}
}
