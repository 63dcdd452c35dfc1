// Package convert translates between the network's values and the bridge's: it reads
// protobufs and events of whatsmeow as [bridge.Fact] values, and makes protobufs of
// [bridge.Content]. All of it is pure: no network, no database, no state.
//
// Start with [MessageFacts] for received messages and [Composed] for sent ones. The
// table of all kinds of messages is kinds.go.
//
// A message may be anything that a stranger's phone can send. Unknown content becomes a
// message with its type's name and no content, and no input makes a function loop without
// end; callers catch panics of the protobuf.
package convert
