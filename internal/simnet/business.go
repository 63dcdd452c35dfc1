package simnet

import (
	"context"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
)

// BusinessMessage is a message as banks, airlines and shops send it, or a customer's answer to one.
type BusinessMessage struct {
	Name    string
	Message *waE2E.Message
}

// BusinessFiles are the files in the headers of these messages. A nil one is a file without keys.
type BusinessFiles struct {
	Image    *waE2E.ImageMessage
	Video    *waE2E.VideoMessage
	Document *waE2E.DocumentMessage
}

// UploadBusinessFiles uploads a picture, a video and a document for [BusinessMessages].
func (p *Phone) UploadBusinessFiles(ctx context.Context) (f BusinessFiles, err error) {
	if f.Image, err = p.UploadImage(ctx, Media{Data: []byte("the bytes of a boarding pass"), Mimetype: "image/png", Width: 640, Height: 480}); err != nil {
		return f, err
	}
	if f.Video, err = p.UploadVideo(ctx, Media{Data: []byte("the bytes of a film about shoes"), Seconds: 7, Width: 320, Height: 240}); err != nil {
		return f, err
	}
	f.Document, err = p.UploadDocument(ctx, Media{Data: []byte("the bytes of a statement"), FileName: "statement.pdf", Pages: 2})
	return f, err
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

// headerOf returns the file in a message of a business, nil if it has none.
func headerOf(msg *waE2E.Message) whatsmeow.DownloadableMessage {
	template := msg.GetTemplateMessage().GetHydratedTemplate()
	if template == nil {
		template = msg.GetTemplateMessage().GetHydratedFourRowTemplate()
	}
	rows, buttons := msg.GetTemplateMessage().GetFourRowTemplate(), msg.GetButtonsMessage()
	interactive := msg.GetInteractiveMessage()
	if interactive == nil {
		interactive = msg.GetTemplateMessage().GetInteractiveMessageTemplate()
	}
	cards := append([]*waE2E.InteractiveMessage{interactive}, interactive.GetCarouselMessage().GetCards()...)
	for _, image := range []*waE2E.ImageMessage{template.GetImageMessage(), rows.GetImageMessage(), buttons.GetImageMessage(),
		msg.GetProductMessage().GetProduct().GetProductImage(), msg.GetProductMessage().GetCatalog().GetCatalogImage()} {
		if image != nil {
			return image
		}
	}
	for _, video := range []*waE2E.VideoMessage{template.GetVideoMessage(), rows.GetVideoMessage(), buttons.GetVideoMessage()} {
		if video != nil {
			return video
		}
	}
	for _, document := range []*waE2E.DocumentMessage{template.GetDocumentMessage(), rows.GetDocumentMessage(), buttons.GetDocumentMessage()} {
		if document != nil {
			return document
		}
	}
	for _, card := range cards {
		if file := interactiveFile(card.GetHeader()); file != nil {
			return file
		}
	}
	return nil
}

func interactiveFile(header *waE2E.InteractiveMessage_Header) whatsmeow.DownloadableMessage {
	switch {
	case header.GetImageMessage() != nil:
		return header.GetImageMessage()
	case header.GetVideoMessage() != nil:
		return header.GetVideoMessage()
	case header.GetDocumentMessage() != nil:
		return header.GetDocumentMessage()
	case header.GetProductMessage().GetProduct().GetProductImage() != nil:
		return header.GetProductMessage().GetProduct().GetProductImage()
	}
	return nil
}
