package history

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"slices"

	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"google.golang.org/protobuf/encoding/protowire"
)

const (
	maxInflated = 1 << 30   // of a part
	maxRecord   = 128 << 20 // of one field of a part, such as a chat with its messages
	pieceSize   = 1 << 20   // about as much is decoded at once
)

// These are the fields of waHistorySync.HistorySync and of a conversation at which parts are
// split.
const (
	fieldConversations = 2
	fieldStatuses      = 3
	fieldStickers      = 11
	fieldMembers       = 12 // former members of groups
	fieldCalls         = 13

	fieldMessages = 2 // of a conversation
)

// eachPiece decompresses a part of the history and calls emit with small pieces of it, so that
// memory use does not depend on the size of the part. Each piece is the protobuf of a part of the
// same kind. The first piece contains everything except the chats.
func eachPiece(compressed []byte, kind waHistorySync.HistorySync_HistorySyncType, withMessages bool, emit func(piece []byte) error) error {
	empty := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(kind))
	piece := slices.Clone(empty)
	flush := func() error {
		whole := piece
		piece = slices.Clone(empty)
		return emit(whole)
	}
	add := func(number protowire.Number, record []byte) {
		piece = protowire.AppendBytes(protowire.AppendTag(piece, number, protowire.BytesType), record)
	}
	err := eachRecord(compressed, func(f field, r *bufio.Reader) error {
		switch f.number {
		case fieldConversations, fieldStatuses, fieldStickers, fieldMembers, fieldCalls:
			return skip(r, f.length)
		}
		record, err := readRecord(r, f.length)
		add(f.number, record)
		return err
	})
	if err == nil {
		err = flush()
	}
	if err != nil {
		return err
	}
	read := readWithoutMessages
	if withMessages {
		read = readRecord
	}
	err = eachRecord(compressed, func(f field, r *bufio.Reader) error {
		if f.number != fieldConversations {
			return skip(r, f.length)
		}
		record, err := read(r, f.length)
		add(fieldConversations, record)
		if err != nil || len(piece) < pieceSize {
			return err
		}
		return flush()
	})
	if err == nil && len(piece) > len(empty) {
		err = flush()
	}
	return err
}

// eachRecord decompresses a part and calls take with each field that has its own content.
func eachRecord(compressed []byte, take func(f field, r *bufio.Reader) error) error {
	inflated, err := zlib.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return fmt.Errorf("decompress: %w", err)
	}
	defer inflated.Close()
	return eachField(bufio.NewReaderSize(http.MaxBytesReader(nil, inflated, maxInflated), 64<<10), func(f field, r *bufio.Reader) error {
		if !f.isRecord {
			return nil
		}
		return take(f, r)
	})
}

// field is one field of a message in protobuf's wire format.
type field struct {
	number   protowire.Number
	isRecord bool // its content of length bytes follows raw
	length   int64
	raw      []byte
}

// eachField reads a message and calls take with each field. take must read or skip the content of
// a record.
func eachField(r *bufio.Reader, take func(f field, r *bufio.Reader) error) error {
	for {
		tag, err := binary.ReadUvarint(r)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read a field: %w", err)
		}
		number, kind := protowire.DecodeTag(tag)
		f := field{number: number, isRecord: kind == protowire.BytesType}
		switch kind {
		case protowire.VarintType, protowire.BytesType:
			var value uint64
			value, err = binary.ReadUvarint(r)
			f.raw = protowire.AppendVarint(protowire.AppendTag(nil, number, kind), value)
			if f.isRecord && value > maxRecord {
				return fmt.Errorf("%w: a record of %d bytes", errTooLarge, value)
			}
			f.length = int64(value)
		case protowire.Fixed32Type, protowire.Fixed64Type:
			value := make([]byte, 4)
			if kind == protowire.Fixed64Type {
				value = make([]byte, 8)
			}
			_, err = io.ReadFull(r, value)
			f.raw = append(protowire.AppendTag(nil, number, kind), value...)
		default:
			return fmt.Errorf("read a field: wire type %d", kind)
		}
		if err == nil {
			err = take(f, r)
		}
		if err != nil {
			return fmt.Errorf("read field %d: %w", number, err)
		}
	}
}

func readRecord(r *bufio.Reader, length int64) ([]byte, error) {
	var record bytes.Buffer // grows with the content, not to the declared length
	_, err := io.CopyN(&record, r, length)
	return record.Bytes(), err
}

// readWithoutMessages reads a conversation without its messages.
func readWithoutMessages(r *bufio.Reader, length int64) ([]byte, error) {
	var kept bytes.Buffer
	conversation := &io.LimitedReader{R: r, N: length}
	err := eachField(bufio.NewReaderSize(conversation, int(min(length, 4<<10))), func(f field, r *bufio.Reader) error {
		if f.isRecord && f.number == fieldMessages {
			return skip(r, f.length)
		}
		kept.Write(f.raw)
		if !f.isRecord {
			return nil
		}
		_, err := io.CopyN(&kept, r, f.length)
		return err
	})
	if err == nil && conversation.N > 0 {
		err = io.ErrUnexpectedEOF
	}
	return kept.Bytes(), err
}

func skip(r *bufio.Reader, n int64) error {
	_, err := io.CopyN(io.Discard, r, n)
	return err
}
