package api

import (
	"context"

	"bridged/internal/bridge"
	"bridged/internal/media"
)

// exportedContent returns the content with which an imported message is forwarded: a new text,
// location or file. It is not marked as forwarded, because only messages of the network can be. A
// file is prepared later, after all other checks.
func exportedContent(in *input, source bridge.Message) (content bridge.Content, file func(context.Context) (bridge.Content, func(), error), err error) {
	switch {
	case source.DeletedAt != nil, source.ViewOnce:
		return nil, nil, source.Forwardable()
	case source.Media != nil:
		return nil, func(ctx context.Context) (bridge.Content, func(), error) { return prepareAgain(ctx, in, source) }, nil
	case source.Location != nil:
		return bridge.Location{Latitude: source.Location.Latitude, Longitude: source.Location.Longitude, Name: source.Location.Name, Address: source.Location.Address}, nil, nil
	case source.MessageType != bridge.TypeText:
		return nil, nil, bridge.Invalid("the export had this message without its file, so it cannot be forwarded: import an export with media, and forward it then")
	}
	return bridge.Text{Text: source.Content}, nil, nil
}

// prepareAgain prepares the stored file of a message to be sent as a new file.
func prepareAgain(ctx context.Context, in *input, m bridge.Message) (bridge.File, func(), error) {
	none := func() {}
	stored, err := in.Files.Open(ctx, m)
	if err != nil {
		return bridge.File{}, none, err
	}
	defer stored.Close()
	received, err := in.Preparer.Receive(ctx, media.Incoming{From: stored, Declared: stored.Size, Tree: in.caller().Tree, Cancel: none})
	if err != nil {
		return bridge.File{}, none, err
	}
	req := media.Request{Type: m.Media.Type, PTT: m.Media.PTT, FileName: m.Media.FileName}
	if req.Type != bridge.MediaAudio && req.Type != bridge.MediaSticker {
		req.Caption = m.Content
	}
	file, err := in.Preparer.PrepareReceived(ctx, req, received, m.Media.FileName, "")
	return file, received.Close, err
}

// isImportedContent reports whether the content or the file of a message comes from an export, so
// that the network does not have it.
func isImportedContent(m bridge.Message) bool {
	return m.IsExported() || m.Media != nil && m.Media.Ref.IsImported
}
