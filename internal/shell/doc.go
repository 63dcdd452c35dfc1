// Package shell is the bridge for people at a command line, and for what cron
// runs: lists of chats and messages, searching, sending, and following what
// happens.
//
// It is a client of the API with the caller's token, and knows nothing else.
// What it prints is a table or lines for people, with local times, cut to the
// terminal that they go to; or JSON, one object a line, as the API has them.
//
// Other people choose names and texts. None of them acts on the terminal: what
// would move the cursor, start a line or turn the writing round is printed as an
// escape ([Printable]).
package shell
