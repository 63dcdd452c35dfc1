package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"bridged/internal/api/front"
)

const (
	// answersBytes limits the memory of all answers until they are sent.
	answersBytes = 24 << 20
	// readBytes is reserved for a call that reads: for a page of the API or a picture, and for the
	// encoded answer. textBytes is reserved for an answer without a picture.
	readBytes = 3 << 20
	textBytes = 512 << 10
)

// memoryOf returns the memory for the answer to a request.
func memoryOf(extra *sdk.RequestExtra) *front.Memory {
	return extra.TokenInfo.Extra[memoryKey].(*front.Memory)
}

// read reserves memory and makes an answer from the API.
func read(ctx context.Context, extra *sdk.RequestExtra, answer func() (hasPicture bool, err error)) error {
	memory := memoryOf(extra)
	if err := memory.Reserve(ctx, readBytes); err != nil {
		return err
	}
	hasPicture, err := answer()
	if !hasPicture {
		memory.Shrink(textBytes)
	}
	return err
}

// reading returns a handler that reserves memory before it calls handle.
func reading[In any, Out answer](handle handler[In, Out]) handler[In, Out] {
	return func(c call, ctx context.Context, in In) (picture *sdk.ImageContent, shown Out, err error) {
		err = read(ctx, c.req.Extra, func() (bool, error) {
			picture, shown, err = handle(c, ctx, in)
			return picture != nil, err
		})
		return picture, shown, err
	}
}
