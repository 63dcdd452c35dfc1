package bridge

// PictureSize is which of the two files of a picture is meant.
type PictureSize string

// The sizes of pictures.
const (
	PicturePreview PictureSize = "preview"
	PictureFull    PictureSize = "full"
)

// Picture is where the network has the picture of a person or a group.
type Picture struct{ DirectPath string }
