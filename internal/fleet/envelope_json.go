package fleet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"bridged/internal/bridge"
)

// text reads a string of at most so many bytes.
func text(value json.RawMessage, name string, most int) (string, error) {
	var s string
	if value[0] != '"' || json.Unmarshal(value, &s) != nil {
		return "", invalidEnvelope("%s must be a string", name)
	}
	if len(s) > most {
		return "", invalidEnvelope("%s must not be longer than %d bytes", name, most)
	}
	return s, nil
}

// eachPair reads an object of at most so many strings.
func eachPair(value json.RawMessage, name string, most, longest int, read func(name, value string) error) error {
	n := 0
	return members(value, name, func(key string, value json.RawMessage) error {
		if n++; n > most {
			return invalidEnvelope("%s must have at most %d members", name, most)
		}
		s, err := text(value, name+"."+shown(key), longest)
		if err != nil {
			return err
		}
		return read(key, s)
	})
}

// eachMember reads an object whose members are known. None may be given twice.
func eachMember(value []byte, name string, known map[string]func(json.RawMessage) error) error {
	seen := make(map[string]bool)
	return members(value, name, func(key string, value json.RawMessage) error {
		read := known[key]
		switch {
		case read == nil:
			return invalidEnvelope("%s has no field %s", name, shown(key))
		case seen[key]:
			return invalidEnvelope("%s is given twice", key)
		}
		seen[key] = true
		return read(value)
	})
}

// members calls read with each member of a JSON object, as it is written.
func members(value []byte, name string, read func(key string, value json.RawMessage) error) error {
	decoder := json.NewDecoder(bytes.NewReader(value))
	begin, err := decoder.Token()
	if err != nil || begin != json.Delim('{') {
		return invalidEnvelope("%s must be a JSON object", name)
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return notJSON(name, err)
		}
		var member json.RawMessage
		if err := decoder.Decode(&member); err != nil {
			return notJSON(name, err)
		}
		if err := read(key.(string), member); err != nil {
			return err
		}
	}
	if _, err := decoder.Token(); err != nil {
		return notJSON(name, err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return invalidEnvelope("%s is followed by something else", name)
	}
	return nil
}

func notJSON(name string, err error) error {
	return invalidEnvelope("%s is not valid JSON", name).Because(err)
}

// shown returns what a caller chose for a sentence: in part, and quoted.
func shown(name string) string {
	const most = 64
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "") + "…"
	}
	return fmt.Sprintf("%q", name)
}

func invalidEnvelope(format string, args ...any) *bridge.Error {
	return bridge.Fail(CodeInvalidEnvelope, format, args...)
}
