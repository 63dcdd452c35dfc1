// Package media handles bytes with a shape: the files that messages carry.
//
// Outgoing: a [Preparer] fetches a URL through the guard into a temporary file,
// finds out what the bytes are, measures them and answers a [bridge.File].
// A measurement that fails never fails the send: the field stays empty.
//
// Incoming: a [Cache] opens the file of a [bridge.Message] as a seekable reader.
// It downloads from the network's CDN, decrypts in one pass over the bytes, and
// shows a file only once it is verified whole. What it holds is served without
// the network.
//
// [Encrypt] encrypts a file for the CDN, also in one pass.
//
// The package knows neither chats nor JSON nor the database, and takes from the
// account only what the account alone knows: see [CDN]. Memory does not grow
// with the size of the files.
package media
