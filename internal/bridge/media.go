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
	MimeType    string `bound:"mimeType"`
	Size        int64  `bound:"size"` // bytes
	FileName    string `bound:"fileName"`
	Caption     string `bound:"content"`
	DurationSec int    `bound:"seconds"`
	PTT         bool   // a voice note
	Width       int    `bound:"pixels"`
	Height      int    `bound:"pixels"`
	Pages       int    `bound:"pages"`
	IsAnimated  bool
	DownloadURL string

	// Ref is what downloading works from; it is never shown.
	Ref MediaRef
}

// MediaRef is where the encrypted file lies and how it is opened.
type MediaRef struct {
	DirectPath    string `json:"directPath" bound:"path"`
	MediaKey      []byte `json:"mediaKey" bound:"key"`      // 32 bytes, from which IV, cipher and MAC keys are derived
	FileSHA256    []byte `json:"fileSha256" bound:"key"`    // of the plaintext
	FileEncSHA256 []byte `json:"fileEncSha256" bound:"key"` // of the ciphertext with its MAC
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

// MarshalJSON writes exactly the fields that the document lists for the type.
func (m Media) MarshalJSON() ([]byte, error) { return appendMedia(nil, &m), nil }

func appendMedia(dst []byte, m *Media) []byte {
	dst = append(dst, '{')
	dst = appendStringField(dst, "type", string(m.Type))
	dst = appendStringField(dst, "mimetype", m.MimeType)
	dst = appendIntField(dst, "size", m.Size)
	dst = appendStringField(dst, "downloadUrl", m.DownloadURL)
	switch m.Type {
	case MediaImage:
		dst = appendStringField(dst, "caption", m.Caption)
		dst = appendExtent(dst, m)
	case MediaVideo:
		dst = appendStringField(dst, "caption", m.Caption)
		dst = appendIntField(dst, "durationSec", int64(m.DurationSec))
		dst = appendExtent(dst, m)
	case MediaAudio:
		dst = appendIntField(dst, "durationSec", int64(m.DurationSec))
		dst = appendBoolField(dst, "ptt", m.PTT)
	case MediaDocument:
		dst = appendStringField(dst, "fileName", m.FileName)
		dst = appendStringField(dst, "caption", m.Caption)
		dst = appendIntField(dst, "pages", int64(m.Pages))
	case MediaSticker:
		dst = appendExtent(dst, m)
		dst = appendBoolField(dst, "isAnimated", m.IsAnimated)
	}
	return append(dst, '}')
}

func appendExtent(dst []byte, m *Media) []byte {
	return appendIntField(appendIntField(dst, "width", int64(m.Width)), "height", int64(m.Height))
}

// appendMediaField appends the descriptor of a file, null for none.
func appendMediaField(dst []byte, m *Media) []byte {
	dst = appendName(dst, "media")
	if m == nil {
		return append(dst, "null"...)
	}
	return appendMedia(dst, m)
}
