package shell

import (
	"context"

	"bridged/internal/client"
)

// Export chooses a chat to export, and how.
type Export struct {
	Chat          string
	Format        client.ExportFormat
	Files         bool // in a zip
	Timezone      string
	Since, Before string
	Saving
}

// Export saves a whole chat and prints the path of the file, or prints the chat itself.
func (s *Shell) Export(ctx context.Context, e Export) error {
	if err := s.check(e.Saving); err != nil {
		return err
	}
	chat, err := s.find(ctx, e.Chat)
	if err != nil {
		return err
	}
	of := client.Export{Chat: chat, Format: e.Format, Files: e.Files, Timezone: e.Timezone}
	if of.Since, of.Until, err = s.between(e.Since, e.Before); err != nil {
		return err
	}
	resp, err := s.API.Export(ctx, of)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return s.store(e.Saving, resp, fileNameIn(resp.Header, "chat"), savedFile{ChatJID: chat})
}
