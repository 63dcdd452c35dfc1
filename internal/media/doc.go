// Package media handles the files that messages carry, in both directions.
//
// Outgoing: a [Preparer] fetches a URL through the guard into a temporary file,
// recognises its format, measures it and returns a [bridge.File]. A measurement
// that fails leaves its field empty and never fails the send. [CDN.Upload]
// encrypts the file and uploads it.
//
// Incoming: a [Cache] opens the file of a [bridge.Message] as a seekable reader.
// It downloads from the network's CDN, decrypts in one pass over the bytes, and
// shows a file only once it is verified whole. What it holds is served without
// the network.
//
// A [CDN] makes every request to the network's media servers and decides where the
// program connects to reach them.
//
// The package knows neither chats nor JSON nor the database. From the account it
// takes only what nobody else knows: see [Account]. Memory does not grow with the
// size of the files.
package media
