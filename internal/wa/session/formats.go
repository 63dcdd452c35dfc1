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
	// A frame that does not decrypt is dropped; the network sends its stanza again only
	// on the next connection.
	logFrameLost = "Failed to decrypt frame: %v"
	// The account's status names connections that are lost.
	logConnectionEnded = "Error reading from websocket: %v"
	// Logged before SendMessage returns: some devices were left out.
	logOtherDevices = "Server returned different participant list hash (%s != %s) when sending to %s. Some devices may not have received the message."
	// It names the built-in version; the account's status names the refused one.
	logOutdated = "Client outdated (405) connect failure (client version: %s)"
	// An echo of our own refusals, for each stanza after the first.
	logHandlerFailed = "Handler for %s failed"
)

// Formats with which whatsmeow logs, before it answers anything, that it cannot
// decrypt a message (message.go, decryptMessages). All begin with its id.
const (
	logNotDecrypted     = "Error decrypting message %s from %s: %v"
	logUnavailable      = "Unavailable message %s from %s (type: %q)"
	logDecryptionPanics = "Message decryption for %s panicked: %v\n%s"
)

// decryptionFailure names an undecrypted message that whatsmeow is about to acknowledge.
type decryptionFailure struct {
	id       types.MessageID
	panicked bool // no event follows
}

// failedDecryption returns the undecrypted message that a line of the log is about. One
// that failed for the session database is left with the network.
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

// handledTheEnd reports whether a format ends whatsmeow's handling of a connection's end
// (client.go, onDisconnect).
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

// changedDevices returns the number whose devices have changed by a line of the log.
func changedDevices(format string, args []any) (number types.JID, ok bool) {
	if len(args) == 0 || format != logDevicesUnknown && !strings.HasPrefix(format, logDevicesChanged) {
		return types.JID{}, false
	}
	number, ok = args[0].(types.JID)
	return number, ok && number.Server == types.DefaultUserServer
}

// logsStanzas reports whether the debug output of a logger has whole stanzas, with keys
// and pairing secrets.
func logsStanzas(module string) bool {
	return module == "Recv" || module == "Send" || module == "Socket"
}

// otherDevicesIn returns the network's hash from the arguments of logOtherDevices.
func otherDevicesIn(args []any) string {
	if len(args) < 2 {
		return ""
	}
	hash, _ := args[1].(string)
	return hash
}

// received returns the stanza that whatsmeow logs as received, before it queues it for
// its handler (client.go, handleFrame).
func received(module string, args []any) (node *waBinary.Node, ok bool) {
	if !strings.HasSuffix(module, "/Recv") || len(args) != 1 {
		return nil, false
	}
	node, ok = args[0].(*waBinary.Node)
	return node, ok
}

// written returns the stanza that whatsmeow logs before it writes it to the socket (client.go, sendNodeAndGetData).
func written(module string, args []any) (node *waBinary.Node, ok bool) {
	if !strings.HasSuffix(module, "/Send") || len(args) != 1 {
		return nil, false
	}
	node, ok = args[0].(*waBinary.Node)
	return node, ok
}

// logCodeFailed reports a failed pairing by a code that was entered on the phone
// (pair-code.go).
const logCodeFailed = "Failed to handle code pair notification: %s"

// codeRefused reports whether the network has refused a code entered on the phone.
func codeRefused(format string, args []any) bool {
	if format != logCodeFailed || len(args) != 1 {
		return false
	}
	err, _ := args[0].(error)
	var refusal *whatsmeow.IQError
	return errors.As(err, &refusal)
}

// missesSyncKey reports whether a key of the account's state is missing, of which
// whatsmeow makes no event.
func missesSyncKey(args []any) bool {
	for _, arg := range args {
		if err, is := arg.(error); is && errors.Is(err, appstate.ErrKeyNotFound) {
			return true
		}
	}
	return false
}
