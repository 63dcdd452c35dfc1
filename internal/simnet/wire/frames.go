package wire

import (
	"context"

	"go.mau.fi/whatsmeow/socket"
)

// frameReader splits websocket messages into frames, which may cross their boundaries.
type frameReader struct {
	read func(context.Context) ([]byte, error)
	rest []byte
}

func (f *frameReader) need(ctx context.Context, size int) error {
	for len(f.rest) < size {
		data, err := f.read(ctx)
		if err != nil {
			return err
		}
		if len(f.rest) == 0 {
			f.rest = data
		} else {
			f.rest = append(f.rest, data...)
		}
	}
	return nil
}

func (f *frameReader) take(ctx context.Context, size int) ([]byte, error) {
	if err := f.need(ctx, size); err != nil {
		return nil, err
	}
	out := f.rest[:size:size]
	f.rest = f.rest[size:]
	return out, nil
}

func (f *frameReader) prologue(ctx context.Context) ([]byte, error) {
	return f.take(ctx, len(socket.WAConnHeader))
}

func (f *frameReader) next(ctx context.Context) ([]byte, error) {
	length, err := f.take(ctx, socket.FrameLengthSize)
	if err != nil {
		return nil, err
	}
	return f.take(ctx, int(length[0])<<16|int(length[1])<<8|int(length[2]))
}

func appendFrame(dst, frame []byte) []byte {
	dst = append(dst, 0, 0, 0)
	putFrameLength(dst[len(dst)-3:], len(frame))
	return append(dst, frame...)
}

func putFrameLength(dst []byte, length int) {
	dst[0], dst[1], dst[2] = byte(length>>16), byte(length>>8), byte(length)
}
