// Package signal holds a simulated phone's Signal state: whatsmeow's store of keys, sessions, app state and contacts, in maps, and the leases that
// prevent a phone from encrypting and decrypting at the same time.
//
// A [Store] belongs to one device and lives as long as its phone. [Store.Serve] makes a device use it. A send takes its context from
// [leases.ForSend], and code that changes sessions by hand takes [leases.Hold]; everything else is whatsmeow's interface.
//
// whatsmeow's own sqlstore, in a database in memory, would do as well, but made phones a third to a half more expensive, which slows down every
// test and, since phones generate the load, every measurement of a bridge.
package signal
