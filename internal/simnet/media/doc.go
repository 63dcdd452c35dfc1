// Package media is the network's media server, a [CDN] that stores what clients upload, encrypted, and serves it to whoever knows the path; and the
// messages by which a companion has its phone upload a file again.
//
// The CDN is an http.Handler. What can go wrong with it is a [CDNFault], for requests that match, or [CDN.Expire], for a file.
package media
