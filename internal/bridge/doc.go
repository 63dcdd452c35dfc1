// Package bridge has the types that all packages share: the nouns of the API with their
// JSON, which are also what is stored. It imports the standard library only and knows
// neither SQL nor HTTP nor protobuf.
//
// A [Fact] goes from the network to the store, an [Outgoing] from the API to the network,
// and an [Error] from where it is understood to the caller.
package bridge
