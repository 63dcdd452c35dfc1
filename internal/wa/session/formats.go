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

// These log formats of whatsmeow carry information.
const (
	// A frame that cannot be decrypted is dropped; the network sends its stanza again only on the
	// next connection.
	logFrameLost = "Failed to decrypt frame: %v"
	// Only noise: the account's status reports lost connections.
	logConnectionEnded = "Error reading from websocket: %v"
	// Logged before SendMessage returns: some devices were left out.
	logOtherDevices = "Server returned different participant list hash (%s != %s) when sending to %s. Some devices may not have received the message."
	// It shows the built-in version; the account's status shows the refused one.
	logOutdated = "Client outdated (405) connect failure (client version: %s)"
	// An echo of our own refusal, for each stanza after the first.
	logHandlerFailed = "Handler for %s failed"
)

// whatsmeow logs these formats before it answers a message that it cannot decrypt (message.go,
// decryptMessages). The first argument of each is the message id.
const (
	logNotDecrypted     = "Error decrypting message %s from %s: %v"
	logUnavailable      = "Unavailable message %s from %s (type: %q)"
	logDecryptionPanics = "Message decryption for %s panicked: %v\n%s"
)

// decryptionFailure is a message that could not be decrypted and that whatsmeow is about to
// acknowledge.
type decryptionFailure struct {
	id       types.MessageID
	panicked bool // no event follows
}

// failedDecryption parses a log line about a message that could not be decrypted. It ignores
// messages that failed because of the session database; the network sends those again.
func failedDecryption(format string, args []any) (failure decryptionFailure, ok bool) {
	switch format {
	case logNotDecrypted:
		if err, isError := args[len(args)-1].(error); isError && errors.Is(err, context.Canceled) {
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

// handledTheEnd reports whether a log format is the last one that whatsmeow logs about the end of
// a connection (client.go, onDisconnect).
func handledTheEnd(format string) bool {
	switch format {
	case "Emitting Disconnected event",
		"OnDisconnect() called, but it was expected, so not emitting event",
		"OnDisconnect() called after manual disconnection":
		return true
	}
	return false
}

// whatsmeow logs these formats when the devices of a number have changed. The first argument of
// each is the number.
const (
	logDevicesUnknown = "No device list cached for %s, ignoring device list notification"
	logDevicesChanged = "%s's device list "
)

// changedDevices returns the number from a log line about changed devices.
func changedDevices(format string, args []any) (number types.JID, ok bool) {
	if len(args) == 0 || format != logDevicesUnknown && !strings.HasPrefix(format, logDevicesChanged) {
		return types.JID{}, false
	}
	number, ok = args[0].(types.JID)
	return number, ok && number.Server == types.DefaultUserServer
}

// logsStanzas reports whether the debug output of a logger contains whole stanzas, including keys
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

// received returns the stanza that whatsmeow logs on receipt, before it queues the stanza for its
// handler (client.go, handleFrame).
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

// logCodeFailed reports that pairing with a code that was entered on the phone failed
// (pair-code.go).
const logCodeFailed = "Failed to handle code pair notification: %s"

// codeRefused reports whether the network has refused a code that was entered on the phone.
func codeRefused(format string, args []any) bool {
	if format != logCodeFailed || len(args) != 1 {
		return false
	}
	err, _ := args[0].(error)
	var refusal *whatsmeow.IQError
	return errors.As(err, &refusal)
}

// missesSyncKey reports whether a key of the account's state is missing. whatsmeow emits no event
// for that.
func missesSyncKey(args []any) bool {
	for _, arg := range args {
		if err, ok := arg.(error); ok && errors.Is(err, appstate.ErrKeyNotFound) {
			return true
		}
	}
	return false
}
