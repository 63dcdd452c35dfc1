// Package signal is what a simulated phone keeps for Signal: whatsmeow's store of keys, sessions, app state and contacts, in maps, and the leases
// that keep a phone from encrypting and decrypting at the same time.
//
// A [Store] belongs to one device and lives as long as its phone. [Store.Serve] makes a device use it. Who sends asks [leases.ForSend] for a
// context, and who changes sessions by hand takes [leases.Hold]; everything else is whatsmeow's interface.
//
// whatsmeow's own sqlstore would do, in a database in memory. It was measured: phones then cost a third to a half more, which is felt in every test
// and, since phones make the load, in every measurement of a bridge.
package signal
