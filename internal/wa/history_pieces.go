package wa

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"

	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"google.golang.org/protobuf/encoding/protowire"
)

const (
	// maxInflated bounds a part of the history when it is decompressed.
	maxInflated = 1 << 30
	// maxRecord bounds one field of a part, such as a chat with its messages.
	maxRecord = 128 << 20
	// pieceSize is about how much of a part is decoded at once.
	pieceSize = 1 << 20
)

// The fields of waHistorySync.HistorySync and of a conversation that pieces are
// made by.
const (
	fieldConversations = 2
	fieldStatuses      = 3
	fieldStickers      = 11
	fieldMembers       = 12 // former ones, of groups
	fieldCalls         = 13

	fieldMessages = 2 // of a conversation
)

// eachPiece decompresses a part of the history and calls f with it in pieces, each
// the protobuf of a part of the same kind, so that memory does not grow with
// the part. The first has what is not of single chats. Messages are left out
// unless they are wanted.
func eachPiece(compressed []byte, kind waHistorySync.HistorySync_HistorySyncType, withMessages bool, f func(piece []byte) error) error {
	p := &pieces{kind: kind, withMessages: withMessages, emit: f}
	if err := p.read(compressed, p.common); err != nil {
		return err
	}
	if err := p.flush(); err != nil {
		return err
	}
	if err := p.read(compressed, p.conversation); err != nil {
		return err
	}
	if p.empty() {
		return nil
	}
	return p.flush()
}

// pieces gathers records of a part until they are worth decoding.
type pieces struct {
	kind         waHistorySync.HistorySync_HistorySyncType
	withMessages bool
	emit         func(piece []byte) error
	piece        []byte
}

func (p *pieces) empty() bool { return len(p.piece) == 0 }

// flush passes the present piece on.
func (p *pieces) flush() error {
	whole := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(p.kind))
	whole = append(whole, p.piece...)
	p.piece = nil
	return p.emit(whole)
}

// read decompresses the part and calls take with each of its fields that is a
// record; others are left out.
func (p *pieces) read(compressed []byte, take func(field protowire.Number, r *bufio.Reader, length int64) error) error {
	inflated, err := zlib.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return fmt.Errorf("decompress: %w", err)
	}
	defer inflated.Close()
	return eachField(bufio.NewReaderSize(&limitedReader{r: inflated, left: maxInflated}, 64<<10), take)
}

// eachField reads a message in protobuf's wire format.
func eachField(r *bufio.Reader, take func(field protowire.Number, r *bufio.Reader, length int64) error) error {
	for {
		tag, err := binary.ReadUvarint(r)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read a field: %w", err)
		}
		field, kind := protowire.DecodeTag(tag)
		length := int64(0)
		switch kind {
		case protowire.VarintType:
			_, err = binary.ReadUvarint(r)
		case protowire.Fixed32Type:
			length, err = 4, skip(r, 4)
		case protowire.Fixed64Type:
			length, err = 8, skip(r, 8)
		case protowire.BytesType:
			var n uint64
			if n, err = binary.ReadUvarint(r); err == nil {
				if n > maxRecord {
					return fmt.Errorf("%w: a record of %d bytes", errTooLarge, n)
				}
				err = take(field, r, int64(n))
			}
		default:
			return fmt.Errorf("read a field: wire type %d", kind)
		}
		if err != nil {
			return fmt.Errorf("read field %d of %d bytes: %w", field, length, err)
		}
	}
}

// common gathers what is not of single chats and is of use.
func (p *pieces) common(field protowire.Number, r *bufio.Reader, length int64) error {
	switch field {
	case fieldConversations, fieldStatuses, fieldStickers, fieldMembers, fieldCalls:
		return skip(r, length)
	}
	record, err := readRecord(r, length)
	if err == nil {
		p.append(field, record)
	}
	return err
}

// conversation gathers chats.
func (p *pieces) conversation(field protowire.Number, r *bufio.Reader, length int64) error {
	if field != fieldConversations {
		return skip(r, length)
	}
	var record []byte
	var err error
	if p.withMessages {
		record, err = readRecord(r, length)
	} else {
		record, err = readWithoutMessages(r, length)
	}
	if err != nil {
		return err
	}
	p.append(fieldConversations, record)
	if len(p.piece) < pieceSize {
		return nil
	}
	return p.flush()
}

func (p *pieces) append(field protowire.Number, record []byte) {
	p.piece = protowire.AppendBytes(protowire.AppendTag(p.piece, field, protowire.BytesType), record)
}

func readRecord(r *bufio.Reader, length int64) ([]byte, error) {
	var record bytes.Buffer // grows with what comes, not with what was announced
	_, err := io.CopyN(&record, r, length)
	return record.Bytes(), err
}

// readWithoutMessages reads a conversation and leaves its messages out.
func readWithoutMessages(r *bufio.Reader, length int64) ([]byte, error) {
	var kept bytes.Buffer
	for length > 0 {
		head, n, err := peekField(r, length)
		if err != nil {
			return nil, err
		}
		if head.field == fieldMessages {
			err = skip(r, n)
		} else {
			_, err = io.CopyN(&kept, r, n)
		}
		if err != nil {
			return nil, err
		}
		length -= n
	}
	return kept.Bytes(), nil
}

type fieldHead struct{ field protowire.Number }

// peekField returns the next field and its whole length, head included, within
// what is left of a record.
func peekField(r *bufio.Reader, left int64) (fieldHead, int64, error) {
	ahead, err := r.Peek(int(min(left, 2*binary.MaxVarintLen64)))
	if err != nil {
		return fieldHead{}, 0, err
	}
	field, kind, n := protowire.ConsumeTag(ahead)
	if n < 0 {
		return fieldHead{}, 0, protowire.ParseError(n)
	}
	length := int64(n)
	switch kind {
	case protowire.BytesType:
		size, m := protowire.ConsumeVarint(ahead[n:])
		if m < 0 || size > maxRecord {
			return fieldHead{}, 0, fmt.Errorf("a record of %d bytes", size)
		}
		length += int64(m) + int64(size)
	default:
		m := protowire.ConsumeFieldValue(field, kind, ahead[n:])
		if m < 0 {
			return fieldHead{}, 0, protowire.ParseError(m)
		}
		length += int64(m)
	}
	if length > left {
		return fieldHead{}, 0, io.ErrUnexpectedEOF
	}
	return fieldHead{field}, length, nil
}

func skip(r *bufio.Reader, n int64) error {
	_, err := io.CopyN(io.Discard, r, n)
	return err
}

// limitedReader ends with errTooLarge, where io.LimitedReader would end as if
// that were all.
type limitedReader struct {
	r    io.Reader
	left int64
}

func (l *limitedReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return n, errTooLarge
	}
	return n, err
}
