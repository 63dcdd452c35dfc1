package demo

import (
	"fmt"
	"io"
	"net/url"

	"bridged/internal/bridge"
)

// print writes instructions with commands that work as they are.
func (d *demo) print(w io.Writer) {
	get := func(path string) string {
		return fmt.Sprintf("curl -s -H 'Authorization: Bearer %s' '%s%s'", d.api.Token(), d.api.BaseURL(), path)
	}
	friend, hike := bridge.PhoneJID(d.people["sofia"].Number()), bridge.JID(d.hike.String())
	fmt.Fprintf(w, `
bridged runs on a simulated WhatsApp network: a paired account, people who write
and answer, groups, pictures, voice notes, documents. Somebody writes every half
minute, and now and then a "ping" for bots to answer. Nothing leaves this machine.

  address  %s
  token    %s
%s
The account's status and chats:
  %s
  %s

A conversation, a group with its members, and a search in any script:
  %s
  %s
  %s
  %s

Wait for the next message that somebody writes:
  %s

Write to Sofia, and read her answer a moment later:
  curl -s -X POST -H 'Authorization: Bearer %s' -H 'Content-Type: application/json' \
    -d '{"jid": "%s", "text": "Hola Sofía!"}' '%s/api/messages/send'
  %s
`,
		d.api.BaseURL(), d.api.Token(), d.consoleLine(),
		get("/api/auth/status"), get("/api/chats"),
		get("/api/messages/individual/"+friend.Escaped()+"?limit=20"),
		get("/api/groups/"+hike.Escaped()),
		get("/api/groups/"+hike.Escaped()+"/messages?limit=20&order=asc"),
		get("/api/messages/search?q="+url.QueryEscape("straße")),
		get("/api/events?after=now&types=message.created&wait=60s"),
		d.api.Token(), friend, d.api.BaseURL(),
		get("/api/messages/individual/"+friend.Escaped()+"?limit=2"))
	if d.picture != "" {
		fmt.Fprintf(w, "\nDownload a picture:\n  %s -o picture.png\n", get(d.picture))
	}
	fmt.Fprint(w, "\nCtrl-C ends the demo and leaves nothing behind.\n")
}

// consoleLine returns the line about logging in to the console.
func (d *demo) consoleLine() string {
	link := d.loginLink()
	if link == "" {
		return ""
	}
	return fmt.Sprintf("\nThe console, in a browser (this link logs in once, the token always):\n  %s\n", link)
}
