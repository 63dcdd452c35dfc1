package api_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"bridged/internal/api"
)

// barrier is read as nothing, once as many others are as are waited for.
type barrier struct {
	*sync.WaitGroup
	once sync.Once
}

func (b *barrier) Read([]byte) (int, error) {
	b.once.Do(func() {
		b.Done()
		b.Wait()
	})
	return 0, io.EOF
}

// TestForms_DoNotWaitForEachOther: forms kept the room of one field while they waited
// for that of the next, so that as many as filled the quota waited for ever.
func TestForms_DoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		handler := api.New(api.Options{Account: newAccount(nil), Token: token, EnableSend: true, Preparer: newPreparer(t, t.TempDir()), Log: zerolog.Nop()})
		const forms = 32 // of 256 KiB are all that bodies of this size have together
		var captions sync.WaitGroup
		captions.Add(forms)
		field := func(name string) string {
			return "--b\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + strings.Repeat("x", 150<<10) + "\r\n"
		}
		answers := make(chan int, forms)
		for range forms {
			go func() {
				body := io.MultiReader(strings.NewReader(field("caption")+"--b\r\n"), &barrier{WaitGroup: &captions}, strings.NewReader(field("fileName")[5:]+"--b--\r\n"))
				req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/messages/send-file", body)
				req.ContentLength = -1
				req.Header.Set("Authorization", "Bearer "+token)
				req.Header.Set("Content-Type", "multipart/form-data; boundary=b")
				got := httptest.NewRecorder()
				handler.ServeHTTP(got, req)
				answers <- got.Code
			}()
		}
		for range forms {
			select {
			case code := <-answers:
				if code != http.StatusBadRequest && code != http.StatusRequestEntityTooLarge {
					t.Errorf("a form without a file is answered %d", code)
				}
			case <-time.After(time.Hour):
				t.Fatal("forms wait for each other")
			}
		}
	})
}
