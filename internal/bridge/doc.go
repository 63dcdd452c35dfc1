// Package bridge has the types that all packages share: the nouns of the API with their JSON,
// which are also stored. It imports only the standard library and knows neither SQL nor HTTP nor
// protobuf.
//
// A [Fact] goes from the network to the store, an [Outgoing] from the API to the network, and an
// [Error] from its origin to the caller.
package bridge
