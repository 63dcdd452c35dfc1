// Package content builds and reads the protobuf of messages, without any state: one message of every kind that businesses send, the file and the
// text in a message, the options of a send, and messages as phones store them for their history.
//
// To add a kind of message that a business sends, add it to one of the tables in business_*.go; its file is then found by [FileOf].
package content
