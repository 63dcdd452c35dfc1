package sqlite

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"zombiezen.com/go/sqlite"

	"bridged/internal/bridge"
)

// Times are milliseconds in the database, the zero time and nil are NULL, and types of our own
// are their underlying types.

func bind(s *sqlite.Stmt, param int, arg any) error {
	switch arg := arg.(type) {
	case nil:
		s.BindNull(param)
	case int64:
		s.BindInt64(param, arg)
	case int:
		s.BindInt64(param, int64(arg))
	case bool:
		s.BindBool(param, arg)
	case string:
		s.BindText(param, arg)
	case bridge.JID:
		s.BindText(param, string(arg))
	case []byte:
		if arg == nil {
			s.BindNull(param)
			return nil
		}
		s.BindBytes(param, arg)
	case bridge.Time:
		if arg.IsZero() {
			s.BindNull(param)
			return nil
		}
		s.BindInt64(param, arg.UnixMilli())
	default:
		return bindKind(s, param, reflect.ValueOf(arg))
	}
	return nil
}

// bindKind binds a pointer, or a type of our own.
func bindKind(s *sqlite.Stmt, param int, v reflect.Value) error {
	switch {
	case v.Kind() == reflect.Pointer && v.IsNil():
		s.BindNull(param)
	case v.Kind() == reflect.Pointer:
		return bind(s, param, v.Elem().Interface())
	case v.Kind() == reflect.String:
		s.BindText(param, v.String())
	case v.CanInt():
		s.BindInt64(param, v.Int())
	case v.CanUint():
		s.BindInt64(param, int64(v.Uint()))
	default:
		return fmt.Errorf("argument %d is a %s, which no column holds", param, v.Type())
	}
	return nil
}

// Row is one row of a query.
type Row struct {
	conn *Conn
	stmt *sqlite.Stmt
}

// Raw holds a column of bytes whose memory is used again for the next row.
type Raw []byte

// Scan reads the columns of the row, and reports whether it could. NULL becomes nil in
// pointers, [Raw] and []byte, and the zero time; it fails in other variables.
func (r *Row) Scan(into ...any) bool {
	if n := r.stmt.ColumnCount(); n != len(into) {
		r.conn.Fail(fmt.Errorf("%d columns are read into %d variables", n, len(into)))
		return false
	}
	for col, dest := range into {
		if err := scanColumn(r.stmt, col, dest); err != nil {
			r.conn.Fail(fmt.Errorf("column %d: %w", col, err))
			return false
		}
	}
	return true
}

func scanColumn(s *sqlite.Stmt, col int, dest any) error {
	kind := s.ColumnType(col)
	if kind == sqlite.TypeNull {
		return scanNull(dest)
	}
	switch dest := dest.(type) {
	case *int64:
		return scanInt(s, col, kind, dest)
	case *int:
		return scanInt(s, col, kind, dest)
	case *bool:
		var n int64
		err := scanInt(s, col, kind, &n)
		*dest = n != 0
		return err
	case *string:
		*dest = s.ColumnText(col)
	case *bridge.JID:
		*dest = bridge.JID(s.ColumnText(col))
	case *Raw:
		*dest = readBytes(s, col, (*dest)[:0])
	case *[]byte:
		*dest = readBytes(s, col, nil)
	case *bridge.Time:
		var ms int64
		err := scanInt(s, col, kind, &ms)
		*dest = bridge.Millis(ms)
		return err
	case **bridge.Time:
		*dest = new(bridge.Time)
		return scanColumn(s, col, *dest)
	default:
		return scanKind(s, col, kind, reflect.ValueOf(dest).Elem())
	}
	return nil
}

// scanInt reads a number, and fails for a text.
func scanInt[T int | int64](s *sqlite.Stmt, col int, kind sqlite.ColumnType, dest *T) error {
	if kind != sqlite.TypeInteger {
		return fmt.Errorf("the store has a %s where a whole number belongs", kind)
	}
	*dest = T(s.ColumnInt64(col))
	return nil
}

// readBytes reads a column into a buffer.
func readBytes(s *sqlite.Stmt, col int, buffer []byte) []byte {
	n := s.ColumnLen(col)
	buffer = slices.Grow(buffer, n)[:n]
	if buffer == nil {
		return []byte{}
	}
	s.ColumnBytes(col, buffer)
	return buffer
}

var errNull = errors.New("NULL is not a value for this column")

func scanNull(dest any) error {
	switch moment := dest.(type) { // the most frequent
	case **bridge.Time:
		*moment = nil
		return nil
	case *bridge.Time:
		*moment = bridge.Time{}
		return nil
	}
	v := reflect.ValueOf(dest).Elem()
	if v.Kind() != reflect.Pointer && !isBytes(v) {
		return errNull
	}
	v.SetZero()
	return nil
}

func isBytes(v reflect.Value) bool {
	return v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8
}

// scanKind reads a column into one of our types, or into a new variable for a pointer.
func scanKind(s *sqlite.Stmt, col int, kind sqlite.ColumnType, v reflect.Value) error {
	var n int64
	if v.CanInt() || v.CanUint() {
		if err := scanInt(s, col, kind, &n); err != nil {
			return err
		}
	}
	switch {
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return scanColumn(s, col, v.Interface())
	case v.Kind() == reflect.String:
		v.SetString(s.ColumnText(col))
	case v.CanInt() && !v.OverflowInt(n):
		v.SetInt(n)
	case v.CanUint() && n >= 0 && !v.OverflowUint(uint64(n)):
		v.SetUint(uint64(n))
	case isBytes(v):
		v.SetBytes(readBytes(s, col, nil))
	default:
		return fmt.Errorf("a column (%s) is read into a %s, for which there is no rule", kind, v.Type())
	}
	return nil
}
