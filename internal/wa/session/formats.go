package session

import (
	"context"
	"errors"
	"strings"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/appstate"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
)

// Formats of whatsmeow's log that mean something.
const (
	// logFrameLost is how whatsmeow drops a frame that does not decrypt. A
	// stanza is missing then, and the network sends it again only on the next
	// connection.
	logFrameLost = "Failed to decrypt frame: %v"
	// logConnectionEnded is how whatsmeow says that a connection has ended,
	// on either side. The account's status names those that are lost.
	logConnectionEnded = "Error reading from websocket: %v"
	// logOtherDevices is how whatsmeow says, before SendMessage returns and lets
	// another message go, that the network has named other devices for a message
	// than it went to: some were left out.
	logOtherDevices = "Server returned different participant list hash (%s != %s) when sending to %s. Some devices may not have received the message."
	// logOutdated is how whatsmeow says that the network refuses the client's version. It
	// names the one that is built in; the account's status names the one that was refused.
	logOutdated = "Client outdated (405) connect failure (client version: %s)"
	// logHandlerFailed is whatsmeow's echo of our own refusals, one for each
	// stanza behind the first.
	logHandlerFailed = "Handler for %s failed"
)

// Formats with which whatsmeow logs, before it answers anything, that it cannot
// decrypt a message (message.go, decryptMessages). All begin with its id.
const (
	logNotDecrypted     = "Error decrypting message %s from %s: %v"
	logUnavailable      = "Unavailable message %s from %s (type: %q)"
	logDecryptionPanics = "Message decryption for %s panicked: %v\n%s"
)

// decryptionFailure is a message that whatsmeow is about to acknowledge though it
// could not decrypt it.
type decryptionFailure struct {
	id       types.MessageID
	panicked bool // no event follows
}

// failedDecryption returns the message that a line of whatsmeow's log says not to be
// decrypted. One that the session database fails is left with the network.
func failedDecryption(format string, args []any) (failure decryptionFailure, ok bool) {
	switch format {
	case logNotDecrypted:
		if err, is := args[len(args)-1].(error); is && errors.Is(err, context.Canceled) {
			return failure, false
		}
	case logUnavailable:
	case logDecryptionPanics:
		failure.panicked = true
	default:
		return failure, false
	}
	failure.id, ok = args[0].(types.MessageID)
	return failure, ok
}

// handledTheEnd reports whether a format is one of those with which whatsmeow
// closes its handling of a connection's end (client.go, onDisconnect).
func handledTheEnd(format string) bool {
	switch format {
	case "Emitting Disconnected event",
		"OnDisconnect() called, but it was expected, so not emitting event",
		"OnDisconnect() called after manual disconnection":
		return true
	}
	return false
}

// Formats in which whatsmeow logs that the devices of a number have changed. All
// begin with the number.
const (
	logDevicesUnknown = "No device list cached for %s, ignoring device list notification"
	logDevicesChanged = "%s's device list "
)

// changedDevices returns the number whose devices a line of whatsmeow's log says
// to have changed.
func changedDevices(format string, args []any) (number types.JID, ok bool) {
	if len(args) == 0 || format != logDevicesUnknown && !strings.HasPrefix(format, logDevicesChanged) {
		return types.JID{}, false
	}
	number, ok = args[0].(types.JID)
	return number, ok && number.Server == types.DefaultUserServer
}

// logsStanzas reports whether the debug output of one of whatsmeow's loggers
// is whole stanzas, keys and pairing secrets among them.
func logsStanzas(module string) bool {
	return module == "Recv" || module == "Send" || module == "Socket"
}

// otherDevicesIn returns the hash of the devices that the network names, from the
// arguments of logOtherDevices.
func otherDevicesIn(args []any) string {
	if len(args) < 2 {
		return ""
	}
	hash, _ := args[1].(string)
	return hash
}

// received returns the stanza that whatsmeow logs as received, which it does before
// it queues it for its handler (client.go, handleFrame).
func received(module string, args []any) (node *waBinary.Node, ok bool) {
	if !strings.HasSuffix(module, "/Recv") || len(args) != 1 {
		return nil, false
	}
	node, ok = args[0].(*waBinary.Node)
	return node, ok
}

// logCodeFailed is how whatsmeow says that it could not complete what a code that
// was entered on the phone had begun (pair-code.go).
const logCodeFailed = "Failed to handle code pair notification: %s"

// codeRefused reports whether a line of whatsmeow's log says that the network has
// refused a code that was entered on the phone.
func codeRefused(format string, args []any) bool {
	if format != logCodeFailed || len(args) != 1 {
		return false
	}
	err, _ := args[0].(error)
	var refusal *whatsmeow.IQError
	return errors.As(err, &refusal)
}

// missesSyncKey reports whether whatsmeow logs that a key of the account's state
// is missing, and makes no event of.
func missesSyncKey(args []any) bool {
	for _, arg := range args {
		if err, is := arg.(error); is && errors.Is(err, appstate.ErrKeyNotFound) {
			return true
		}
	}
	return false
}
