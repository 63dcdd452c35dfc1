// Package media implements the network's media server, a [CDN] that stores encrypted uploads and serves them to anyone who knows the path.
//
// The CDN is an http.Handler. A [CDNFault] makes matching requests fail, [CDN.Expire] the downloads of one file.
package media
