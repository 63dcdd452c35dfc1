package session

import (
	"errors"
	"fmt"
	"slices"

	"github.com/rs/zerolog"
	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
	waLog "go.mau.fi/whatsmeow/util/log"

	"bridged/internal/bridge"
)

// logger passes whatsmeow's log on, without stanzas.
type logger struct {
	log    zerolog.Logger
	module string
	silent bool                            // no debug output
	onLog  func(format string, args []any) // called with warnings and debug output; may be nil
	// onStanza receives stanzas from the network before they are handled; may be nil.
	onStanza func(node *waBinary.Node)
	// onWritten receives stanzas before they are sent; may be nil.
	onWritten func(node *waBinary.Node)
}

func newLogger(log zerolog.Logger, onLog func(format string, args []any)) *logger {
	return &logger{log: log, module: "whatsmeow", onLog: onLog}
}

func (l *logger) write(level zerolog.Level, msg string, args []any) {
	if event := l.log.WithLevel(level); event.Enabled() {
		event.Str("module", l.module).Msg(bridge.Redact(fmt.Sprintf(msg, withoutStanzas(args)...)))
	}
}

// withoutStanzas replaces stanzas by their tags, because they contain keys, ciphertexts, and who
// writes to whom.
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

func (l *logger) Errorf(msg string, args ...any) { l.report(zerolog.ErrorLevel, msg, args) }

func (l *logger) Warnf(msg string, args ...any) { l.report(zerolog.WarnLevel, msg, args) }

func (l *logger) report(level zerolog.Level, msg string, args []any) {
	switch msg {
	case logHandlerFailed:
		return
	case logConnectionEnded, logOutdated, logOtherDevices:
		level = zerolog.DebugLevel
	}
	l.write(level, msg, args)
	l.forward(msg, args)
}

func (l *logger) forward(format string, args []any) {
	if l.onLog != nil {
		l.onLog(format, args)
	}
}

// Infof logs at debug level, because whatsmeow logs every login with it.
func (l *logger) Infof(msg string, args ...any) { l.write(zerolog.DebugLevel, msg, args) }

func (l *logger) Debugf(msg string, args ...any) {
	if node, ok := received(l.module, args); ok && l.onStanza != nil {
		l.onStanza(node)
	}
	if node, ok := written(l.module, args); ok && l.onWritten != nil {
		l.onWritten(node)
	}
	if !l.silent {
		l.write(zerolog.TraceLevel, msg, args)
		l.forward(msg, args)
	}
}

func (l *logger) Sub(module string) waLog.Logger {
	silent := l.silent || logsStanzas(module)
	return &logger{log: l.log, module: l.module + "/" + module, silent: silent, onLog: l.onLog, onStanza: l.onStanza, onWritten: l.onWritten}
}
