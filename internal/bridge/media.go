package bridge

import "context"

// MediaType is the kind of a message's file.
type MediaType string

const (
	MediaImage    MediaType = "image"
	MediaVideo    MediaType = "video"
	MediaAudio    MediaType = "audio"
	MediaDocument MediaType = "document"
	MediaSticker  MediaType = "sticker"
)

// MediaTypes lists all kinds of files.
var MediaTypes = []MediaType{MediaImage, MediaVideo, MediaAudio, MediaDocument, MediaSticker}

// Media is a message's file. The API shows only the fields that its type has.
type Media struct {
	Type        MediaType `json:"type"`
	MimeType    string    `json:"mimetype,omitempty" bound:"mimeType"`
	Size        int64     `json:"size,omitempty" bound:"size"` // bytes
	FileName    string    `json:"fileName,omitempty" bound:"fileName"`
	Caption     string    `json:"caption,omitempty" bound:"content"`
	DurationSec int       `json:"durationSec,omitempty" bound:"seconds"`
	PTT         bool      `json:"ptt,omitempty"` // a voice note
	Width       int       `json:"width,omitempty" bound:"pixels"`
	Height      int       `json:"height,omitempty" bound:"pixels"`
	Pages       int       `json:"pages,omitempty" bound:"pages"`
	IsAnimated  bool      `json:"isAnimated,omitempty"`
	GIF         bool      `json:"gif,omitempty"`      // a video that the apps repeat without its sound
	ViewOnce    bool      `json:"viewOnce,omitempty"` // the apps show it once
	DownloadURL string    `json:"downloadUrl,omitempty"`
	Ref         MediaRef  `json:"-"`
}

// MediaRef is the location of an encrypted file on the CDN, with the keys to decrypt it.
type MediaRef struct {
	DirectPath    string `json:"directPath" bound:"path"`
	MediaKey      []byte `json:"mediaKey" bound:"key"`      // 32 bytes, from which IV, cipher and MAC keys are derived
	FileSHA256    []byte `json:"fileSha256" bound:"key"`    // of the plaintext
	FileEncSHA256 []byte `json:"fileEncSha256" bound:"key"` // of the ciphertext with its MAC
	IsImported    bool   `json:"kept,omitempty"`            // on this machine, under FileSHA256
}

// EncryptedFile is a file that was encrypted for the CDN.
type EncryptedFile struct {
	MediaKey      []byte
	FileSHA256    []byte // of the plaintext
	FileEncSHA256 []byte // of the ciphertext with its MAC
	Size          int64  // of the plaintext
	EncryptedSize int64  // of the ciphertext with its MAC
}

// UploadedFile is an encrypted file with its location on the CDN.
type UploadedFile struct {
	EncryptedFile
	URL        string
	DirectPath string
}

// MediaConn has the hosts of the CDN and a temporary permission to upload to them.
type MediaConn struct {
	Hosts []string
	Auth  string
}

// MediaConns returns the current [MediaConn], or a new one if refresh is set. It fails with
// [CodeNotConnected].
type MediaConns func(ctx context.Context, refresh bool) (MediaConn, error)

// MarshalJSON writes exactly the fields that openapi.yaml lists for the type.
func (m Media) MarshalJSON() ([]byte, error) {
	file := struct {
		Type        MediaType `json:"type"`
		MimeType    string    `json:"mimetype"`
		Size        int64     `json:"size"`
		DownloadURL string    `json:"downloadUrl"`
		FileName    *string   `json:"fileName,omitempty"`
		Caption     *string   `json:"caption,omitempty"`
		DurationSec *int      `json:"durationSec,omitempty"`
		PTT         *bool     `json:"ptt,omitempty"`
		Width       *int      `json:"width,omitempty"`
		Height      *int      `json:"height,omitempty"`
		Pages       *int      `json:"pages,omitempty"`
		IsAnimated  *bool     `json:"isAnimated,omitempty"`
		GIF         *bool     `json:"gif,omitempty"`
		ViewOnce    *bool     `json:"viewOnce,omitempty"`
	}{Type: m.Type, MimeType: m.MimeType, Size: m.Size, DownloadURL: m.DownloadURL}
	switch m.Type {
	case MediaImage:
		file.Caption, file.Width, file.Height, file.ViewOnce = &m.Caption, &m.Width, &m.Height, &m.ViewOnce
	case MediaVideo:
		file.Caption, file.DurationSec, file.Width, file.Height = &m.Caption, &m.DurationSec, &m.Width, &m.Height
		file.GIF, file.ViewOnce = &m.GIF, &m.ViewOnce
	case MediaAudio:
		file.DurationSec, file.PTT, file.ViewOnce = &m.DurationSec, &m.PTT, &m.ViewOnce
	case MediaDocument:
		file.FileName, file.Caption, file.Pages = &m.FileName, &m.Caption, &m.Pages
	case MediaSticker:
		file.Width, file.Height, file.IsAnimated = &m.Width, &m.Height, &m.IsAnimated
	}
	return EncodeJSON(file)
}
