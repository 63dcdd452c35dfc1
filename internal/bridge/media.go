package bridge

import "context"

// MediaType is the kind of a file that a message carries.
type MediaType string

// The kinds of media (the document's section 2.6).
const (
	MediaImage    MediaType = "image"
	MediaVideo    MediaType = "video"
	MediaAudio    MediaType = "audio"
	MediaDocument MediaType = "document"
	MediaSticker  MediaType = "sticker"
)

// Media is the descriptor of a message's file (the document's section 2.6).
// Which fields its JSON has depends on Type, as the document lists them.
type Media struct {
	Type        MediaType
	MimeType    string
	Size        int64 // bytes
	FileName    string
	Caption     string
	DurationSec int
	PTT         bool // a voice note
	Width       int
	Height      int
	Pages       int
	IsAnimated  bool
	DownloadURL string

	// Ref is what downloading works from; it is never shown.
	Ref MediaRef
}

// MediaRef is where the encrypted file lies and how it is opened.
type MediaRef struct {
	DirectPath    string `json:"directPath"`
	MediaKey      []byte `json:"mediaKey"`      // 32 bytes, from which IV, cipher and MAC keys are derived
	FileSHA256    []byte `json:"fileSha256"`    // of the plaintext
	FileEncSHA256 []byte `json:"fileEncSha256"` // of the ciphertext with its MAC
}

// EncryptedFile is what a message has to say of a file that was encrypted for the CDN.
type EncryptedFile struct {
	MediaKey      []byte
	FileSHA256    []byte // of the plaintext
	FileEncSHA256 []byte // of the ciphertext with its MAC
	Size          int64  // of the plaintext
	EncryptedSize int64  // of the ciphertext with its MAC
}

// UploadedFile is an encrypted file and where it lies on the CDN.
type UploadedFile struct {
	EncryptedFile
	URL        string
	DirectPath string
}

// MediaConn is what the network names for a while: the hosts of its CDN, and the
// right to upload to them.
type MediaConn struct {
	Hosts []string
	Auth  string
}

// MediaConns returns the present [MediaConn], and a new one where the network is to
// be asked anew. It fails with [CodeNotConnected] without the socket.
type MediaConns func(ctx context.Context, refresh bool) (MediaConn, error)

// mediaCommon are the fields that every descriptor has.
type mediaCommon struct {
	Type        MediaType `json:"type"`
	MimeType    string    `json:"mimetype"`
	Size        int64     `json:"size"`
	DownloadURL string    `json:"downloadUrl"`
}

// MarshalJSON writes exactly the fields that the document lists for the type.
func (m Media) MarshalJSON() ([]byte, error) {
	common := mediaCommon{m.Type, m.MimeType, m.Size, m.DownloadURL}
	switch m.Type {
	case MediaImage:
		return EncodeJSON(struct {
			mediaCommon
			Caption string `json:"caption"`
			Width   int    `json:"width"`
			Height  int    `json:"height"`
		}{common, m.Caption, m.Width, m.Height})
	case MediaVideo:
		return EncodeJSON(struct {
			mediaCommon
			Caption     string `json:"caption"`
			DurationSec int    `json:"durationSec"`
			Width       int    `json:"width"`
			Height      int    `json:"height"`
		}{common, m.Caption, m.DurationSec, m.Width, m.Height})
	case MediaAudio:
		return EncodeJSON(struct {
			mediaCommon
			DurationSec int  `json:"durationSec"`
			PTT         bool `json:"ptt"`
		}{common, m.DurationSec, m.PTT})
	case MediaDocument:
		return EncodeJSON(struct {
			mediaCommon
			FileName string `json:"fileName"`
			Caption  string `json:"caption"`
			Pages    int    `json:"pages"`
		}{common, m.FileName, m.Caption, m.Pages})
	case MediaSticker:
		return EncodeJSON(struct {
			mediaCommon
			Width      int  `json:"width"`
			Height     int  `json:"height"`
			IsAnimated bool `json:"isAnimated"`
		}{common, m.Width, m.Height, m.IsAnimated})
	}
	return EncodeJSON(common)
}
