// Package hooks turns what other services post into texts for a chat: it reads
// payloads, checks signatures, finds out which delivery it is, and renders
// templates.
//
// [Parse] reads a template, one of the names that are shipped or a text/template
// of the caller's, and refuses what could run long. [Template.Render] runs it
// within a second and 64 KiB. What a payload says is shown as text: only the
// template's own words mark up.
//
// The package knows neither the store nor the account, and sends nothing: the
// API's route of hooks does, as the hook that was called.
package hooks
