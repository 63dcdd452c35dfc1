package store

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"zombiezen.com/go/sqlite"

	"bridged/internal/bridge"
)

// bind gives a statement one argument. Kinds that are not named here are what
// database/sql makes of them.
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
	case float64:
		s.BindFloat(param, arg)
	case []byte:
		if arg == nil {
			s.BindNull(param)
			return nil
		}
		s.BindBytes(param, arg)
	default:
		value, err := driver.DefaultParameterConverter.ConvertValue(arg)
		if err != nil {
			return fmt.Errorf("argument %d: %w", param, err)
		}
		if reflect.TypeOf(value) == reflect.TypeOf(arg) {
			return fmt.Errorf("argument %d is a %T, which no column holds", param, arg)
		}
		return bind(s, param, value)
	}
	return nil
}

// resultSet are the rows of a query, each of which is valid until the next one.
type resultSet struct {
	conn *conn
	stmt *stmt
	err  error
}

// Next steps to the next row, and reports whether there is one.
func (r *resultSet) Next() bool {
	if r.stmt == nil || r.err != nil {
		return false
	}
	more, err := r.stmt.Step()
	r.err = failure(err)
	return more && err == nil
}

// Err returns why the rows ended early, nil where they did not.
func (r *resultSet) Err() error { return r.err }

// Close ends the query. A second time it does nothing.
func (r *resultSet) Close() {
	if r.stmt != nil {
		r.conn.end(r.stmt)
		r.stmt = nil
	}
}

// Scan reads the columns of the row. A NULL goes only into what can be nil or
// not valid; [sql.RawBytes] are filled in place, and valid until the next time.
func (r *resultSet) Scan(into ...any) error {
	if n := r.stmt.ColumnCount(); n != len(into) {
		return fmt.Errorf("%d columns are read into %d variables", n, len(into))
	}
	for col, dest := range into {
		if err := scanColumn(r.stmt.Stmt, col, dest); err != nil {
			return fmt.Errorf("column %d: %w", col, err)
		}
	}
	return nil
}

// errNull is the error of a NULL where a value is wanted.
var errNull = errors.New("NULL is not a value for this column")

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
	case *sql.NullInt64:
		dest.Valid = true
		return scanInt(s, col, kind, &dest.Int64)
	case *sql.NullString:
		dest.Valid, dest.String = true, s.ColumnText(col)
	case *sql.RawBytes:
		*dest = readBytes(s, col, (*dest)[:0])
	case *[]byte:
		*dest = readBytes(s, col, nil)
	case *float64:
		*dest = s.ColumnFloat(col)
	case *any:
		*dest = columnValue(s, col, kind)
	case sql.Scanner:
		return dest.Scan(columnValue(s, col, kind))
	default:
		return scanKind(s, col, kind, reflect.ValueOf(dest).Elem())
	}
	return nil
}

// scanInt reads a number. A text is none, whatever it says: columns are typed.
func scanInt[T int | int64](s *sqlite.Stmt, col int, kind sqlite.ColumnType, dest *T) error {
	if kind != sqlite.TypeInteger {
		return fmt.Errorf("the store has a %s where a whole number belongs", kind)
	}
	*dest = T(s.ColumnInt64(col))
	return nil
}

// readBytes reads a column behind what is in the buffer.
func readBytes(s *sqlite.Stmt, col int, buffer []byte) []byte {
	n := s.ColumnLen(col)
	buffer = slices.Grow(buffer, n)[:n]
	if buffer == nil {
		return []byte{}
	}
	s.ColumnBytes(col, buffer)
	return buffer
}

// scanNull makes dest what stands for NULL.
func scanNull(dest any) error {
	switch dest := dest.(type) {
	case *sql.NullInt64:
		*dest = sql.NullInt64{}
	case *sql.NullString:
		*dest = sql.NullString{}
	case *sql.RawBytes:
		*dest = nil
	case *[]byte:
		*dest = nil
	case *any:
		*dest = nil
	case sql.Scanner:
		return dest.Scan(nil)
	default:
		v := reflect.ValueOf(dest).Elem()
		if v.Kind() != reflect.Pointer {
			return errNull
		}
		v.SetZero()
	}
	return nil
}

// scanKind reads a column into a type of ours that is a number or a text, or
// into a new variable behind a pointer.
func scanKind(s *sqlite.Stmt, col int, kind sqlite.ColumnType, v reflect.Value) error {
	switch {
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return scanColumn(s, col, v.Interface())
	case v.Kind() == reflect.String:
		v.SetString(s.ColumnText(col))
	case v.CanInt():
		var n int64
		if err := scanInt(s, col, kind, &n); err != nil {
			return err
		}
		if v.OverflowInt(n) {
			return fmt.Errorf("%d is too large for %s", n, v.Type())
		}
		v.SetInt(n)
	case v.CanUint():
		var n int64
		if err := scanInt(s, col, kind, &n); err != nil {
			return err
		}
		if n < 0 || v.OverflowUint(uint64(n)) {
			return fmt.Errorf("%d is no value of %s", n, v.Type())
		}
		v.SetUint(uint64(n))
	case v.Kind() == reflect.Bool:
		v.SetBool(s.ColumnInt64(col) != 0)
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		v.SetBytes(readBytes(s, col, nil))
	default:
		return fmt.Errorf("a column is read into a %s, for which there is no rule", v.Type())
	}
	return nil
}

// columnValue returns a column as the kinds that [driver.Value] knows.
func columnValue(s *sqlite.Stmt, col int, kind sqlite.ColumnType) any {
	switch kind {
	case sqlite.TypeInteger:
		return s.ColumnInt64(col)
	case sqlite.TypeFloat:
		return s.ColumnFloat(col)
	case sqlite.TypeText:
		return s.ColumnText(col)
	case sqlite.TypeBlob:
		return readBytes(s, col, nil)
	}
	return nil
}
