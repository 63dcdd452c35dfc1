package content

import (
	"go.mau.fi/whatsmeow/proto/waE2E"
)

// BusinessMessage is a message as banks, airlines and shops send it, or a customer's answer to one.
type BusinessMessage struct {
	Name    string
	Message *waE2E.Message
}

// BusinessMessages returns one message of every kind that businesses send.
func BusinessMessages(f BusinessFiles) []BusinessMessage {
	if f.Image == nil {
		f.Image = &waE2E.ImageMessage{}
	}
	if f.Video == nil {
		f.Video = &waE2E.VideoMessage{}
	}
	if f.Document == nil {
		f.Document = &waE2E.DocumentMessage{}
	}
	var all []BusinessMessage
	for _, sender := range []func(BusinessFiles) []BusinessMessage{bankMessages, paymentMessages, airlineMessages, shopMessages, catalogMessages, otherMessages, customerMessages} {
		all = append(all, sender(f)...)
	}
	return all
}

// BusinessFiles holds the files in the headers of these messages; nil means a file without keys.
type BusinessFiles struct {
	Image    *waE2E.ImageMessage
	Video    *waE2E.VideoMessage
	Document *waE2E.DocumentMessage
}
