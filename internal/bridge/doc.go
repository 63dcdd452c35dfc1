// Package bridge is the vocabulary of bridged: the nouns of the API document
// and nothing that does anything.
//
// The structs carry the JSON tags of the contract, so that a field is written
// down once: what the store keeps, what the socket manager fills and what the
// HTTP surface shows are the same types. The package imports the standard
// library only and knows neither SQL nor HTTP nor protobuf nor whatsmeow.
//
// Facts ([Fact]) travel from the socket manager to the store, [Outgoing]
// travels from the HTTP surface to the socket manager, and an [Error] travels
// from wherever it is understood to the caller.
package bridge
