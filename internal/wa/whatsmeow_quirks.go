package wa

import "fmt"

// opened runs one of whatsmeow's decryptions of what a sender sealed with a
// message's secret. They panic at a nonce of another length and at fields that
// are missing; here that is a failure like any other.
func opened[T any](decrypt func() (T, error)) (content T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("malformed: %v", r)
		}
	}()
	return decrypt()
}
