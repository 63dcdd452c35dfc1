package content

import (
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
)

// headerOf returns the file in a business's message, or nil.
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
	for _, image := range []*waE2E.ImageMessage{
		template.GetImageMessage(), rows.GetImageMessage(), buttons.GetImageMessage(),
		msg.GetProductMessage().GetProduct().GetProductImage(), msg.GetProductMessage().GetCatalog().GetCatalogImage(),
	} {
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

// DirectPath returns the CDN path of the media in a message, or "".
func DirectPath(msg *waE2E.Message) string {
	if media := FileOf(msg); media != nil {
		return media.GetDirectPath()
	}
	return ""
}

// FileOf returns the file in a message, under any wrappers, or nil.
func FileOf(msg *waE2E.Message) whatsmeow.DownloadableMessage {
	for _, wrapper := range []*waE2E.FutureProofMessage{
		msg.GetEphemeralMessage(), msg.GetViewOnceMessage(), msg.GetViewOnceMessageV2(), msg.GetViewOnceMessageV2Extension(),
		msg.GetDocumentWithCaptionMessage(), msg.GetEditedMessage(), msg.GetLottieStickerMessage(),
	} {
		if wrapper != nil {
			return FileOf(wrapper.GetMessage())
		}
	}
	switch {
	case msg.GetDeviceSentMessage() != nil:
		return FileOf(msg.GetDeviceSentMessage().GetMessage())
	case msg.GetImageMessage() != nil:
		return msg.GetImageMessage()
	case msg.GetVideoMessage() != nil:
		return msg.GetVideoMessage()
	case msg.GetAudioMessage() != nil:
		return msg.GetAudioMessage()
	case msg.GetDocumentMessage() != nil:
		return msg.GetDocumentMessage()
	case msg.GetStickerMessage() != nil:
		return msg.GetStickerMessage()
	}
	return headerOf(msg)
}
